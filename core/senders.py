"""Who may say what: whether the principal that put a message on the input queue may send one of its type.

SQS stamps every message with its sender's principal (`SenderId`); docs/security.md tells its forms. Apart from
`core.accept` because it asks who speaks, never what is said; the handlers give the policy, a slice applies it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, assert_never

from core.agent import Agent
from core.errors import Refused
from core.ids import is_child
from core.messages import Input
from core.thread import ThreadState

MessageType = Literal[
    "user_message",
    "answer",
    "cancel",
    "close",
    "compact",
    "tool_result",
    "subscription_event",
    "question",
    "wake",
    "timer",
    "spawn",
    "thread_report",
    "parent_message",
    "compaction_done",
]
"""Every type of contract.md."""

Speaker = Literal["user", "tool", "torpor"]

SPEAKERS: Mapping[MessageType, Speaker] = {
    "user_message": "user",
    "answer": "user",
    "cancel": "user",
    "close": "user",
    "compact": "user",
    "tool_result": "tool",
    "subscription_event": "tool",
    "question": "tool",
    "wake": "torpor",
    "timer": "torpor",
    "spawn": "torpor",
    "thread_report": "torpor",
    "parent_message": "torpor",
    "compaction_done": "torpor",
}
"""Whose word a message of each type is. One without a rule does not pass the type checker."""

REFUSALS: Mapping[Speaker, str] = {
    "user": "comes only from the principals of UserSenders, and never from a tool's unless it is one of them",
    "tool": "comes only from the role of its call's worker or a principal of ToolSenders",
    "torpor": "is internal: it comes only from Torpor's own roles",
}


FIRST_SENDER = "torpor.first_sender"
"""Message attribute of what an operator sends again: the `SenderId` it first had. From others it means nothing."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Anybody may say anything: whoever the queue's own policy lets in. For emulators, which have no principals."""


UNCHECKED = Unchecked()


@dataclass(frozen=True, slots=True)
class Enforced:
    """Who is who, as unique ids: of a role without its session (any session of it is meant), of a user, or a whole
    `SenderId` for exactly that one.
    """

    agent: str
    relay: str
    dead_letters: str
    """It answers dead calls, and sends on what a dead input's slice leaves."""
    operator: str | None = None
    """Of the command line: it sends again what was parked, so it may send everything. None: nobody may."""
    workers: Mapping[str, str] = field(default_factory=dict)
    """Role by worker name."""
    user_senders: tuple[str, ...] = ()
    """Empty: every principal that is no tool's."""
    tool_senders: tuple[str, ...] = ()
    """Tools from elsewhere (other accounts' workers, webhooks): they may answer any call."""


SenderPolicy = Unchecked | Enforced


@dataclass(frozen=True, slots=True)
class CallOf:
    """A call that is waited for, or whose subscription is open, and the worker it went to (None: to none)."""

    worker: str | None


def whose_word(policy: SenderPolicy, sender: str | None, first_sender: str | None) -> str | None:
    """Whose word a message is: its sender's. What the operator sends again is its first sender's, whom the operator
    names (FIRST_SENDER), so that a forged message is none the better for it; what names nobody is the operator's own.
    """
    match policy:
        case Unchecked():
            return sender
        case Enforced(operator=operator):
            again = bool(sender and first_sender) and is_one_of(sender or "", (operator,))
            return first_sender if again else sender
        case _:
            assert_never(policy)


def speaks_for_torpor(policy: SenderPolicy, sender: str | None) -> bool:
    """Whether what travels beside its messages is to be believed. A type that users may send as well (`close`) does not
    tell.
    """
    match policy:
        case Unchecked():
            return True
        case Enforced(agent=agent, relay=relay, dead_letters=dead_letters, operator=operator):
            return sender is not None and is_one_of(sender, (agent, relay, dead_letters, operator))
        case _:
            assert_never(policy)


def require_sender(policy: SenderPolicy, taken: Input, state: ThreadState, agent: Agent) -> None:
    """Raises Refused (`forbidden`) unless the sender of `taken` may send such a message to this thread.

    `agent` is the thread's: of a subscription only the tool's name is kept, and the agent knows its worker.
    """
    message = taken.message
    call = call_of(getattr(message, "call_id", None), state, agent)
    if not may_send(policy, taken.sender, message.type, message.thread_id, call):
        raise Refused("forbidden", f"type: {message.type} {REFUSALS[SPEAKERS[message.type]]}")


def may_send(
    policy: SenderPolicy, sender: str | None, kind: MessageType, thread_id: str, call: CallOf | None
) -> bool:
    """Whether `sender` (None: the transport names nobody) may send a `kind` to this thread.

    `call` is what a tool's message is about; None if nobody waits for it. Then any worker may: it changes nothing, and
    a late result is no offence.
    """
    match policy:
        case Unchecked():
            return True
        case Enforced():
            if not sender:
                return False
            return is_one_of(sender, (policy.operator,)) or _may_say(policy, sender, kind, thread_id, call)
        case _:
            assert_never(policy)


def may_set_metadata(policy: SenderPolicy, taken: Input) -> bool:
    """Whether its metadata is the thread's from now on: it says whose the thread is, which is a user's word."""
    return may_send(policy, taken.sender, "user_message", taken.message.thread_id, None)


def call_of(call_id: str | None, state: ThreadState, agent: Agent) -> CallOf | None:
    """The live call or open subscription of this id, if there is one."""
    for live in state.live:
        if live.call_id == call_id:
            return CallOf(live.worker)
    for subscription in state.subscriptions:
        if subscription.call_id == call_id:
            tool = agent.toolbox.get(subscription.name)
            return CallOf(subscription.worker or (tool.worker if tool else None))
    return None


def is_one_of(sender: str, principals: tuple[str | None, ...]) -> bool:
    """Whether one of `principals` means this sender: it exactly, or the role whose session it is."""
    head, colon, _ = sender.partition(":")
    # An account id in front is a federated user's: no session of the account.
    names = {sender} if not colon or head.isdigit() else {sender, head}
    return any(known in names for known in principals)


def _may_say(policy: Enforced, sender: str, kind: MessageType, thread_id: str, call: CallOf | None) -> bool:
    settlers = (policy.agent, policy.dead_letters)
    speaker = SPEAKERS[kind]
    match speaker:
        case "user":
            closes_child = kind == "close" and is_child(thread_id) and is_one_of(sender, settlers)
            return closes_child or _speaks_for_users(policy, sender)
        case "tool":
            if is_one_of(sender, (policy.dead_letters, *policy.tool_senders)):
                return True
            if call is None:
                return is_one_of(sender, tuple(policy.workers.values()))
            return call.worker is not None and is_one_of(sender, (policy.workers.get(call.worker),))
        case "torpor":
            return is_one_of(sender, (*settlers, policy.relay))
        case _:
            assert_never(speaker)


def _speaks_for_users(policy: Enforced, sender: str) -> bool:
    if policy.user_senders:
        return is_one_of(sender, policy.user_senders)
    return not is_one_of(sender, (*policy.workers.values(), *policy.tool_senders))
