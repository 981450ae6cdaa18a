"""Correlation ids: one for everything that goes back to the same message from outside, over all threads of a tree.

Derived like every id (invariant *derived ids*), and a digest, so that nothing of a sender's gets into logs, traces or
message attributes by it. A thread knows it from its fold; between threads it travels beside the messages
(`Outgoing.correlation_id`), and is believed only for what Torpor alone sends.
"""

from core.ids import DIGEST, digest, root_of
from core.messages import (
    Close,
    CompactionDone,
    Input,
    ParentMessage,
    Spawn,
    SubscriptionEvent,
    ThreadReport,
    UserMessage,
)
from core.thread import ThreadState

ATTRIBUTE = "torpor.correlation_id"
"""The message attribute that it travels as."""


def is_correlation_id(text: object) -> bool:
    """Whether it can be one: anybody may set an attribute."""
    return isinstance(text, str) and bool(DIGEST.fullmatch(text))


def correlation_of(thread_id: str, message_id: str) -> str:
    """Of everything that the message sets going."""
    return digest("correlation", root_of(thread_id), message_id)


def correlation_owed(thread_id: str, state: ThreadState) -> str | None:
    """Of what the thread is working on; None while it owes nothing."""
    if state.owes_to is None:
        return None
    return state.cause or correlation_of(thread_id, state.owes_to)


def correlation_sent(taken: Input) -> str | None:
    """What another thread of the tree says that its message goes back to."""
    match taken.message:
        case Spawn() | ThreadReport() | ParentMessage() | CompactionDone() | Close():
            return taken.correlation_id
        case _:
            return None


def correlation_taken(taken: Input, owed_before: str | None) -> str:
    """Of a slice that takes this input. What only goes on with something, a result or a wake, is part of that."""
    own = correlation_of(taken.message.thread_id, taken.message_id)
    match taken.message:
        case UserMessage() | SubscriptionEvent():
            return own
        case _:
            return correlation_sent(taken) or owed_before or own
