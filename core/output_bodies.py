"""The fields of each output message, beside those that all have. Pure functions of the commit that promised them."""

from typing import Any, assert_never

from core.clock import iso
from core.commit import Commit
from core.entries import Assistant, ToolCall
from core.outbox import (
    SendAnswer,
    SendCompacted,
    SendError,
    SendQuestion,
    SendQuestionClosed,
    SendSpawned,
    SendStarted,
    SendThreadClosed,
)
from core.thread import Question

Output = (
    SendAnswer
    | SendStarted
    | SendError
    | SendSpawned
    | SendThreadClosed
    | SendQuestion
    | SendQuestionClosed
    | SendCompacted
)


def output_fields(message: Output, commit: Commit) -> tuple[int, dict[str, Any]]:
    """The last seq that the output reflects, and its own fields."""
    match message:
        case SendAnswer():
            return message.last_seq, _answer(message, commit)
        case SendStarted():
            return _started(message, commit)
        case SendQuestion(call_id=call_id, name=name, args=args, question=question):
            return commit.last_seq, {"call_id": call_id, "name": name, "args": args, **_asked(question)}
        case SendQuestionClosed(call_id=call_id, question_kind=kind, outcome=outcome):
            return commit.last_seq, {"call_id": call_id, "kind": kind, "outcome": outcome}
        case SendError() | SendSpawned() | SendThreadClosed() | SendCompacted():
            return commit.last_seq, message.model_dump(mode="json", exclude={"kind"})
        case _:
            assert_never(message)


def _started(message: SendStarted, commit: Commit) -> tuple[int, dict[str, Any]]:
    head = {"call_id": message.call_id}
    if message.name is not None:
        return commit.last_seq, {**head, "name": message.name, "args": message.args}
    call = next(e for e in commit.entries if isinstance(e, ToolCall) and e.call_id == message.call_id)
    return call.seq, {**head, "name": call.name, "args": call.args}


def _asked(question: Question) -> dict[str, Any]:
    head = {"kind": question.kind, "expires_at": iso(question.expires_at)}
    match question.kind:
        case "approval":
            return head
        case "choice":
            chosen = {"prompt": question.prompt, "choices": list(question.choices)}
            return {**head, **chosen, "default": question.default}
        case "auth":
            return {**head, "url": question.prompt}
        case _:
            assert_never(question.kind)


def _answer(message: SendAnswer, commit: Commit) -> dict[str, Any]:
    first, last = message.first_seq, message.last_seq
    spoken = [e for e in commit.entries if isinstance(e, Assistant) and first <= e.seq <= last]
    fields: dict[str, Any] = {
        "text": "\n".join(entry.text for entry in spoken),
        "final": message.final,
        "usage": message.usage.model_dump(),
        "stop_reason": message.stop_reason,
    }
    if message.citations:
        fields["citations"] = [source.model_dump() for source in message.citations]
    return fields
