"""`run_chat`: one question to a thread and its answer, for programs that want nothing else."""

from collections.abc import Coroutine
from typing import Any, TypedDict, assert_never, overload

from core.clock import iso
from core.errors import TorporError
from infra.client.client import AgentClient
from infra.client.outcomes import (
    Answered,
    Awaited,
    AwaitedAnswer,
    AwaitedCall,
    AwaitedChild,
    AwaitedEvent,
    AwaitedModel,
    AwaitedTime,
    Ended,
    NotAccepted,
    Outcome,
    Queued,
    Waiting,
)
from infra.client.sync import SyncAgentClient


class Chat(TypedDict):
    """What `run_chat` returns: JSON."""

    thread_id: str
    route: str | None
    """Of a supervised thread: who answered."""
    answer: str
    citations: list[dict[str, Any]]
    """As in `assistant_message` outputs: `url`, `title`, `snippet`."""


class NotAnswered(TorporError):
    """There is no answer: it is still to come, or never will. `outcome` tells which, and what the thread waits for."""

    def __init__(self, outcome: Ended | NotAccepted | Waiting | Queued) -> None:
        super().__init__(described(outcome))
        self.outcome = outcome


@overload
def run_chat(
    client: AgentClient, thread_id: str, text: str, timeout_seconds: float
) -> Coroutine[Any, Any, Chat]: ...


@overload
def run_chat(client: SyncAgentClient, thread_id: str, text: str, timeout_seconds: float) -> Chat: ...


def run_chat(
    client: AgentClient | SyncAgentClient, thread_id: str, text: str, timeout_seconds: float
) -> Chat | Coroutine[Any, Any, Chat]:
    """Say `text` to the thread, and return its answer: `{thread_id, route, answer, citations}`.

    Of an `AgentClient` it is awaited, of a `SyncAgentClient` it is there at once. Raises NotAnswered, Refused, and what
    `AgentClient.send` and `wait` raise.
    """
    if isinstance(client, SyncAgentClient):
        return client.run(_chat(client.client, thread_id, text, timeout_seconds))
    return _chat(client, thread_id, text, timeout_seconds)


async def _chat(client: AgentClient, thread_id: str, text: str, timeout_seconds: float) -> Chat:
    message_id = await client.send(thread_id, text)
    return chat_of(await client.wait(thread_id, message_id, timeout_seconds))


def chat_of(outcome: Outcome) -> Chat:
    """The answer that the outcome is. Raises NotAnswered if it is another."""
    if not isinstance(outcome, Answered):
        raise NotAnswered(outcome)
    citations = [source.to_json() for source in outcome.citations]
    return {
        "thread_id": outcome.thread_id,
        "route": outcome.route,
        "answer": outcome.text,
        "citations": citations,
    }


def described(outcome: Ended | NotAccepted | Waiting | Queued) -> str:
    """Why there is no answer, in one line for people."""
    match outcome:
        case Ended(reason=reason, code=code, message=message):
            return f"the turn ended without an answer ({reason})" + (f": {code}: {message}" if code else "")
        case NotAccepted(code=code, reason=reason):
            return f"the message was refused ({code}): {reason}"
        case Waiting(awaits=()):
            return "no answer yet: the thread is at work"
        case Waiting(awaits=awaits):
            return "no answer yet: the thread waits for " + "; ".join(map(_awaited, awaits))
        case Queued():
            return "no answer yet: the message has not been taken in"
        case _:
            assert_never(outcome)


def _awaited(one: Awaited) -> str:
    match one:
        case AwaitedAnswer(question=kind, name=name, call_id=call_id, prompt=prompt, expires_at=expires_at):
            asked = f" ({prompt})" if prompt else ""
            return f"a person's {kind} for {name}{asked}, call {call_id}, until {iso(expires_at)}"
        case AwaitedCall(name=name, worker=worker):
            return f"the call {name}" + (f" of worker {worker}" if worker else "")
        case AwaitedTime(name=name, until=until):
            return f"the end of {name}" + (f" at {iso(until)}" if until else "")
        case AwaitedChild(thread_id=thread_id):
            return f"child {thread_id}"
        case AwaitedEvent(name=name):
            return f"an event of {name}"
        case AwaitedModel(due_at=due_at):
            return "the model" + (f", asked again at {iso(due_at)}" if due_at else "")
        case _:
            assert_never(one)
