"""The fields of each output message, beside those that all have. Pure functions of the commit that promised them."""

from typing import Any, assert_never

from core.child_messages import call_in
from core.clock import iso
from core.commit import Commit
from core.entries import Assistant
from core.outbox import (
    SendAnswer,
    SendCall,
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
        case SendStarted(call_id=call_id):
            return _started(call_id, commit)
        case SendQuestion(call_id=call_id, name=name, question=question):
            return commit.last_seq, {"call_id": call_id, "name": name, **_asked(question, call_id, commit)}
        case SendQuestionClosed(call_id=call_id, question_kind=kind, outcome=outcome):
            return commit.last_seq, {"call_id": call_id, "kind": kind, "outcome": outcome}
        case SendError() | SendSpawned() | SendThreadClosed() | SendCompacted():
            return commit.last_seq, message.model_dump(mode="json", exclude={"kind"})
        case _:
            assert_never(message)


def _started(call_id: str, commit: Commit) -> tuple[int, dict[str, Any]]:
    """A call that was approved is sent by a later commit than its entry's."""
    sent = next((m for m in commit.outbox if isinstance(m, SendCall) and m.call_id == call_id), None)
    if sent is not None and sent.name is not None:
        return commit.last_seq, {"call_id": call_id, "name": sent.name, "args": sent.args}
    call = call_in(commit, call_id)
    return call.seq, {"call_id": call_id, "name": call.name, "args": call.args}


def _asked(question: Question, call_id: str, commit: Commit) -> dict[str, Any]:
    head = {"kind": question.kind, "expires_at": iso(question.expires_at)}
    match question.kind:
        case "approval":
            return {**head, "args": call_in(commit, call_id).args}
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
    usage = message.usage if message.routing is None else message.usage.plus(message.routing)
    fields: dict[str, Any] = {
        "text": "\n".join(entry.text for entry in spoken),
        "final": message.final,
        "usage": usage.model_dump(),
        "stop_reason": message.stop_reason,
    }
    if message.route is not None:
        fields["route"] = message.route
    if message.citations:
        fields["citations"] = [source.model_dump() for source in message.citations]
    return fields
