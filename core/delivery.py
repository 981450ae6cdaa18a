"""From a commit's outbox to messages ready to send: a pure function, so that whoever settles sends the same things."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, assert_never

from core.child_messages import (
    above,
    call_in,
    close_body,
    compaction_done_body,
    parent_message_body,
    report_body,
    spawn_body,
)
from core.clock import iso
from core.commit import Commit, metadata_set
from core.ids import outbox_id, root_of
from core.outbox import (
    Carried,
    OutboxMessage,
    SendCall,
    SendCancel,
    SendClose,
    SendCompactionDone,
    SendParentMessage,
    SendReport,
    SendSpawn,
    SendTimer,
    SendToolAnswer,
    SendUnschedule,
    SendWake,
)
from core.output_bodies import Output, output_fields
from core.ports import Outgoing
from core.text import wire_json

INPUT, OUTPUT, DELAY = "input", "output", "delay"
UNSCHEDULE = "unschedule"
"""No queue: the body names a timer to take back."""


def user_id_of(metadata: Mapping[str, Any]) -> str | None:
    """Who a thread belongs to, as its tools are told. Metadata is anybody's: what is no text names nobody."""
    user_id = metadata.get("user_id")
    return user_id if isinstance(user_id, str) else None


def worker_queue(worker: str) -> str:
    """The queue name of a worker."""
    return f"worker:{worker}"


def outgoing(
    commit: Commit,
    thread_stack: tuple[str, ...],
    metadata: Mapping[str, Any],
    correlation_id: str | None = None,
) -> tuple[Outgoing, ...]:
    """Every message the commit promised, carried ones first. The same commit always gives the same ids.

    `thread_stack`: ids from the root to this thread. `metadata`: the root's, before this commit or after.
    `correlation_id`: beside them, on each.
    """
    build = _Builder(commit, thread_stack, {**metadata, **metadata_set(commit)})
    messages = (build.message(position, message) for position, message in enumerate(commit.outbox))
    return tuple(_going_back(message, correlation_id) for message in messages)


def _going_back(message: Outgoing, correlation_id: str | None) -> Outgoing:
    return replace(message, correlation_id=message.correlation_id or correlation_id)


def _as_it_was(message: Carried) -> Outgoing:
    """A carried message, with what it went back to."""
    return Outgoing(
        message.id,
        message.queue,
        message.body,
        message.group,
        message.due_at,
        message.call_id,
        message.correlation_id,
    )


@dataclass(frozen=True, slots=True)
class _Builder:
    commit: Commit
    thread_stack: tuple[str, ...]
    metadata: dict[str, Any]

    def message(self, position: int, message: OutboxMessage) -> Outgoing:
        sent_as = outbox_id(self.commit.thread_id, self.commit.digest, position)
        match message:
            case Carried():
                return _as_it_was(message)
            case SendCall() | SendCancel() | SendToolAnswer():
                answered = None if isinstance(message, SendCancel) else message.call_id
                work = wire_json(self._work(message))
                return Outgoing(sent_as, worker_queue(message.worker), work, call_id=answered)
            case SendWake() | SendTimer():
                return self._timed(message, sent_as)
            case SendUnschedule(timer_id=timer_id):
                return Outgoing(sent_as, UNSCHEDULE, timer_id)
            case SendSpawn(thread_id=to) | SendParentMessage(thread_id=to) | SendClose(thread_id=to):
                return Outgoing(sent_as, INPUT, wire_json(self._to_child(message, sent_as)), to)
            case SendReport(parent=to):
                body = report_body(message, self.commit, self.thread_stack, sent_as)
                return Outgoing(sent_as, INPUT, wire_json(body), to)
            case SendCompactionDone(parent=to):
                body = compaction_done_body(message, self.commit, sent_as)
                return Outgoing(sent_as, INPUT, wire_json(body), to)
            case _:
                return self._output(message, sent_as)

    def _output(self, message: Output, sent_as: str) -> Outgoing:
        seq, fields = output_fields(message, self.commit)
        body = output_body(message.kind, sent_as, self.thread_stack, seq, self.metadata, self.commit, fields)
        return Outgoing(sent_as, OUTPUT, body, root_of(self.commit.thread_id))

    def _timed(self, message: SendWake | SendTimer, sent_as: str) -> Outgoing:
        due_at = message.due_at
        head = {"v": 1, "type": message.kind, "thread_id": self.commit.thread_id, "message_id": sent_as}
        body = wire_json({**head, **above(self.thread_stack), **({"due_at": iso(due_at)} if due_at else {})})
        return Outgoing(sent_as, DELAY if due_at else INPUT, body, self.commit.thread_id, due_at)

    def _to_child(self, message: SendSpawn | SendParentMessage | SendClose, sent_as: str) -> dict[str, Any]:
        match message:
            case SendSpawn():
                return spawn_body(message, self.commit, self.thread_stack, sent_as)
            case SendParentMessage():
                return parent_message_body(message, self.commit, sent_as)
            case SendClose():
                return close_body(message, self.commit, sent_as)
            case _:
                assert_never(message)

    def _work(self, message: SendCall | SendCancel | SendToolAnswer) -> dict[str, Any]:
        head = {"thread_id": self.commit.thread_id, "call_id": message.call_id}
        match message:
            case SendCall():
                return self._tool_call(message)
            case SendCancel():
                return {"type": message.kind, **head}
            case SendToolAnswer(question=question, choice=choice, comment=comment):
                answered = {"question": question, "choice": choice, "comment": comment}
                return {"type": message.kind, **head, **answered}
            case _:
                assert_never(message)

    def _tool_call(self, message: SendCall) -> dict[str, Any]:
        name, args = message.name, message.args
        if name is None or args is None:
            call = call_in(self.commit, message.call_id)
            name, args = call.name, call.args
        return {
            "v": 1,
            "type": "tool_call",
            "thread_id": self.commit.thread_id,
            "root_thread_id": root_of(self.commit.thread_id),
            "thread_ancestors": list(self.thread_stack[:-1]),
            "call_id": message.call_id,
            "name": name,
            "args": args,
            "user_id": user_id_of(self.metadata),
            "metadata": self.metadata,
            "deadline": iso(message.deadline_at),
        }


def output_body(
    kind: str,
    output_id: str,
    thread_stack: tuple[str, ...],
    seq: int,
    metadata: Mapping[str, Any],
    commit: Commit,
    fields: dict[str, Any],
) -> str:
    """The body of one output message. `seq`: the last entry it reflects."""
    head = {
        "v": 1,
        "type": kind,
        "output_id": output_id,
        "thread_id": thread_stack[-1],
        "root_thread_id": thread_stack[0],
        "seq": seq,
        "metadata": dict(metadata),
        "created_at": iso(commit.at),
    }
    return wire_json({**head, **fields})
