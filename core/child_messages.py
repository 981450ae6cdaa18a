"""What threads of one tree send each other, as bodies for the input queue: spawns, parent messages, closes, reports.

Pure functions of a commit, like the rest of `core/delivery.py`, so that whoever settles sends the same.
"""

from typing import Any

from core.blocks import Content, text_content
from core.clock import iso
from core.commit import Commit
from core.entries import Entry, ToolCall, ToolResult, User
from core.ids import digest
from core.outbox import SendClose, SendCompactionDone, SendParentMessage, SendReport, SendSpawn

SPAWN_TOOL = "spawn_thread"
COMPACTION_CALL = "compaction"
"""Stands where a child's spawning call does, for a child that no call spawned."""
SUMMARISE = (
    "Summarise this conversation, so that it can go on from your summary alone: what was asked, what was found and "
    "decided, names, numbers and ids that may be needed again, what is still open. Answer with the summary only."
)

WHO_AND_WHERE = (
    "You are now the child thread {child}. Your parent is {parent}, your thread stack is {stack}. What came before "
    "belongs to your parent: its plans are not yours. Your task, and nothing else: {task}\n{ending}"
)
ENDING = (
    "When it is done, answer, or call close_thread on yourself with a report: your last text goes to your parent. "
    "report_to_parent tells it something before that."
)
EVENT_TASK = (
    "Deal with the event that follows. Your parent is not woken by your answer; report what it must know."
)
EVENT_ENDING = (
    "When it is done, answer: that ends you, and goes to nobody. report_to_parent, or close_thread on yourself with a "
    "report, tells your parent what it must know."
)


def spawn_body(
    spawn: SendSpawn, commit: Commit, parent_stack: tuple[str, ...], message_id: str
) -> dict[str, Any]:
    """A `spawn`: everything that the child's first commit needs. `parent_stack`: ids from the root to the parent."""
    opening = opening_entries(spawn, commit, parent_stack)
    return {
        **_head("spawn", spawn.thread_id, message_id),
        "call_id": spawn.call_id,
        "child_kind": spawn.child_kind,
        "agent": spawn.agent,
        "ancestors": list(parent_stack),
        "lineage": [ancestor.to_json() for ancestor in spawn.lineage],
        "opening": [
            entry.model_dump(mode="json", exclude={"seq", "at"}, exclude_none=True) for entry in opening
        ],
        "credit": spawn.credit,
        "spawned_at": iso(commit.at),
    }


def opening_entries(spawn: SendSpawn, commit: Commit, parent_stack: tuple[str, ...]) -> tuple[Entry, ...]:
    """How a child's own history begins: with a call and a result that tell it who and where it is, then the event.

    Without inherited history its task comes first, as user text: no conversation begins with a call.
    """
    if spawn.child_kind == "compaction":
        return (User(content=text_content(SUMMARISE)),)
    if spawn.event is None:
        call = call_in(commit, spawn.call_id)
        task, ending = str(call.args.get("instructions", "")), ENDING
        call_id, args = call.call_id, call.args
    else:
        task, ending, call_id = EVENT_TASK, EVENT_ENDING, "call_" + digest("opening", spawn.thread_id)
        args = {"instructions": task, "child_of": list(parent_stack)}
    told: Content = text_content(
        WHO_AND_WHERE.format(
            child=spawn.thread_id,
            parent=parent_stack[-1],
            stack=[*parent_stack, spawn.thread_id],
            task=task,
            ending=ending,
        )
    )
    first: tuple[Entry, ...] = () if spawn.lineage else (User(content=text_content(task)),)
    placed = (
        ToolCall(call_id=call_id, name=SPAWN_TOOL, args=args),
        ToolResult(call_id=call_id, content=told),
    )
    return (*first, *placed, *((spawn.event,) if spawn.event else ()))


def parent_message_body(message: SendParentMessage, commit: Commit, message_id: str) -> dict[str, Any]:
    """A `parent_message`."""
    call = call_in(commit, message.call_id)
    head = _head("parent_message", message.thread_id, message_id)
    text = str(call.args.get("message", ""))
    return {**head, "parent": commit.thread_id, "call_id": message.call_id, "text": text}


def close_body(message: SendClose, commit: Commit, message_id: str) -> dict[str, Any]:
    """A parent's `close`, which need not be told to it."""
    return {**_head("close", message.thread_id, message_id), "closed_by": commit.thread_id}


def above(thread_stack: tuple[str, ...]) -> dict[str, Any]:
    """The parent of the last of these, for a message to that: nobody but its own log says it otherwise."""
    return {"parent": thread_stack[-2]} if len(thread_stack) > 1 else {}


def report_body(
    report: SendReport, commit: Commit, thread_stack: tuple[str, ...], message_id: str
) -> dict[str, Any]:
    """A `thread_report`. `thread_stack`: ids from the root to the one that reports."""
    return {
        **_head("thread_report", report.parent, message_id),
        **above(thread_stack[:-1]),
        "child_thread_id": commit.thread_id,
        "call_id": report.call_id,
        "text": report.text,
        "closing": report.closing,
        "credit": report.credit,
    }


def compaction_done_body(done: SendCompactionDone, commit: Commit, message_id: str) -> dict[str, Any]:
    """A `compaction_done`."""
    head = _head("compaction_done", done.parent, message_id)
    return {**head, "child_thread_id": commit.thread_id, "text": done.text}


def call_in(commit: Commit, call_id: str) -> ToolCall:
    """The call of that id among the commit's entries: an outbox refers to no other."""
    return next(e for e in commit.entries if isinstance(e, ToolCall) and e.call_id == call_id)


def _head(kind: str, thread_id: str, message_id: str) -> dict[str, Any]:
    return {"v": 1, "type": kind, "thread_id": thread_id, "message_id": message_id}
