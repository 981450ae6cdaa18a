"""From a commit's outbox to messages ready to send: a pure function, so that whoever settles sends the same things."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from core.child_messages import close_body, parent_message_body, report_body, spawn_body
from core.clock import iso
from core.commit import Commit, metadata_set
from core.entries import Assistant, ToolCall
from core.ids import outbox_id, root_of
from core.outbox import (
    Carried,
    OutboxMessage,
    SendAnswer,
    SendCall,
    SendCancel,
    SendClose,
    SendError,
    SendParentMessage,
    SendReport,
    SendSpawn,
    SendSpawned,
    SendStarted,
    SendThreadClosed,
    SendTimer,
    SendWake,
)
from core.ports import Outgoing
from core.text import wire_json

Output = SendAnswer | SendStarted | SendError | SendSpawned | SendThreadClosed

INPUT, OUTPUT, DELAY = "input", "output", "delay"


def user_id_of(metadata: Mapping[str, Any]) -> str | None:
    """Who a thread belongs to, as its tools are told. Metadata is anybody's: what is no text names nobody."""
    user_id = metadata.get("user_id")
    return user_id if isinstance(user_id, str) else None


def worker_queue(worker: str) -> str:
    """The queue name of a worker."""
    return f"worker:{worker}"


def outgoing(
    commit: Commit, thread_stack: tuple[str, ...], metadata: Mapping[str, Any]
) -> tuple[Outgoing, ...]:
    """Every message the commit promised, carried ones first. The same commit always gives the same ids.

    `thread_stack`: ids from the root to this thread. `metadata`: the root's, before this commit or after.
    """
    build = _Builder(commit, thread_stack, {**metadata, **metadata_set(commit)})
    return tuple(build.message(position, message) for position, message in enumerate(commit.outbox))


@dataclass(frozen=True, slots=True)
class _Builder:
    commit: Commit
    thread_stack: tuple[str, ...]
    metadata: dict[str, Any]

    def message(self, position: int, message: OutboxMessage) -> Outgoing:
        commit = self.commit
        sent_as = outbox_id(commit.thread_id, commit.digest, position)
        match message:
            case Carried(id=old, queue=queue, group=group, body=body, due_at=due_at, call_id=call_id):
                return Outgoing(old, queue, body, group, due_at, call_id)
            case SendCall(worker=worker, call_id=call_id):
                body = wire_json(self._tool_call(message))
                return Outgoing(sent_as, worker_queue(worker), body, call_id=call_id)
            case SendCancel(worker=worker, call_id=call_id):
                cancel = {"type": "tool_cancel", "thread_id": commit.thread_id, "call_id": call_id}
                return Outgoing(sent_as, worker_queue(worker), wire_json(cancel))
            case SendWake(due_at=due_at):
                due = {"due_at": iso(due_at)} if due_at else {}
                queue = DELAY if due_at else INPUT
                return Outgoing(
                    sent_as, queue, self._internal("wake", sent_as, due), commit.thread_id, due_at
                )
            case SendTimer(due_at=due_at):
                body = self._internal("timer", sent_as, {"due_at": iso(due_at)})
                return Outgoing(sent_as, DELAY, body, commit.thread_id, due_at)
            case SendSpawn(thread_id=to) | SendParentMessage(thread_id=to) | SendClose(thread_id=to):
                return Outgoing(sent_as, INPUT, self._to_child(message, sent_as), to)
            case SendReport(parent=parent):
                return Outgoing(sent_as, INPUT, wire_json(report_body(message, commit, sent_as)), parent)
            case SendAnswer() | SendStarted() | SendError() | SendSpawned() | SendThreadClosed():
                seq, fields = self._output(message)
                body = output_body(
                    message.kind, sent_as, self.thread_stack, seq, self.metadata, commit, fields
                )
                return Outgoing(sent_as, OUTPUT, body, root_of(commit.thread_id))
            case _:
                assert_never(message)

    def _internal(self, kind: str, message_id: str, fields: dict[str, Any]) -> str:
        head = {"v": 1, "type": kind, "thread_id": self.commit.thread_id, "message_id": message_id}
        return wire_json({**head, **fields})

    def _to_child(self, message: SendSpawn | SendParentMessage | SendClose, sent_as: str) -> str:
        match message:
            case SendSpawn():
                body = spawn_body(message, self.commit, self.thread_stack, sent_as)
            case SendParentMessage():
                body = parent_message_body(message, self.commit, sent_as)
            case SendClose():
                body = close_body(message, self.commit, sent_as)
            case _:
                assert_never(message)
        return wire_json(body)

    def _tool_call(self, message: SendCall) -> dict[str, Any]:
        call = next(
            e for e in self.commit.entries if isinstance(e, ToolCall) and e.call_id == message.call_id
        )
        return {
            "v": 1,
            "type": "tool_call",
            "thread_id": self.commit.thread_id,
            "root_thread_id": root_of(self.commit.thread_id),
            "thread_ancestors": list(self.thread_stack[:-1]),
            "call_id": call.call_id,
            "name": call.name,
            "args": call.args,
            "user_id": user_id_of(self.metadata),
            "metadata": self.metadata,
            "deadline": iso(message.deadline_at),
        }

    def _output(self, message: Output) -> tuple[int, dict[str, Any]]:
        match message:
            case SendAnswer(first_seq=first, last_seq=last):
                return last, self._answer(message, first, last)
            case SendStarted(call_id=call_id):
                call = next(
                    e for e in self.commit.entries if isinstance(e, ToolCall) and e.call_id == call_id
                )
                return call.seq, {"call_id": call_id, "name": call.name, "args": call.args}
            case SendError() | SendSpawned() | SendThreadClosed():
                return self.commit.last_seq, message.model_dump(mode="json", exclude={"kind"})
            case _:
                assert_never(message)

    def _answer(self, message: SendAnswer, first: int, last: int) -> dict[str, Any]:
        spoken = [e for e in self.commit.entries if isinstance(e, Assistant) and first <= e.seq <= last]
        fields: dict[str, Any] = {
            "text": "\n".join(entry.text for entry in spoken),
            "final": message.final,
            "usage": message.usage.model_dump(),
            "stop_reason": message.stop_reason,
        }
        if message.citations:
            fields["citations"] = [source.model_dump() for source in message.citations]
        return fields


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
