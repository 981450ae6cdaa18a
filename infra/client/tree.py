"""The tree of threads below one: its children, open and closed, and theirs, found by reading logs.

What a thread has spawned stands in the outboxes of its log and nowhere else: the whole log is read, a page at a time.
"""

from dataclasses import dataclass, field

from core.blocks import Value
from core.child_messages import SPAWN_TOOL
from core.commit import Commit
from core.entries import ToolCall
from core.fold import fold_commit
from core.outbox import SendSpawn
from core.thread import ChildKind, ThreadState
from infra.client.awaited import Status, awaited, status_of
from infra.client.following import commits_from
from infra.client.outcomes import Awaited
from infra.log_reader import LogReader


class ThreadNode(Value):
    """A thread and its children, in the order they were spawned."""

    thread_id: str
    agent: str | None = None
    """Name of the agent that plays it; None: its parent's, of a root the app's default."""
    spawned: ChildKind | None = None
    """None: a root."""
    call_id: str | None = None
    """The parent's call that it belongs to."""
    task: str | None = None
    """What it was told to do, if a call spawned it."""
    status: Status
    awaits: tuple[Awaited, ...] = ()
    last_seq: int = 0
    children: tuple["ThreadNode", ...] = ()


@dataclass(slots=True)
class _LogRead:
    """What one reading of a log keeps of it: no entries but those of live calls."""

    state: ThreadState = ThreadState()
    spawned: list[ThreadNode] = field(default_factory=list)
    """As the parent knows them."""
    live: tuple[ToolCall, ...] = ()

    def take(self, commit: Commit) -> None:
        if commit.erased is not None:
            self.spawned.clear()
        calls = {entry.call_id: entry for entry in commit.entries if isinstance(entry, ToolCall)}
        self.state = fold_commit(self.state, commit)
        known = calls | {call.call_id: call for call in self.live}
        self.live = tuple(known[call.call_id] for call in self.state.live if call.call_id in known)
        self.spawned += [
            ThreadNode(
                thread_id=sent.thread_id,
                agent=sent.agent,
                spawned=sent.child_kind,
                call_id=sent.call_id,
                task=_task(calls.get(sent.call_id)),
                status="absent",
            )
            for sent in commit.outbox
            if isinstance(sent, SendSpawn)
        ]


async def tree(reader: LogReader, thread_id: str) -> ThreadNode:
    """The thread as it stands, with everything below it. Requests: the pages of each log."""
    return await _grown(reader, ThreadNode(thread_id=thread_id, status="absent"))


async def _grown(reader: LogReader, node: ThreadNode) -> ThreadNode:
    read = _LogRead()
    async for commit in commits_from(reader, node.thread_id, 1):
        read.take(commit)
    state = read.state
    if not state.exists:
        return node
    open_ids = {child.thread_id for child in state.children}
    children = [await _grown(reader, child) for child in read.spawned]
    return node.model_copy(
        update={
            "agent": node.agent or state.origin.agent,
            "spawned": state.origin.kind,
            "call_id": state.origin.spawning_call,
            "status": status_of(state),
            "awaits": awaited(state, read.live),
            "last_seq": state.last_seq,
            "children": tuple(c if c.thread_id in open_ids else _closed(c) for c in children),
        }
    )


def _closed(child: ThreadNode) -> ThreadNode:
    """A child whose parent has heard, or said, that it ended."""
    return child.model_copy(update={"status": "closed", "awaits": ()})


def _task(call: ToolCall | None) -> str | None:
    """Of a child for an event there is none: its call is the subscription's."""
    if call is None or call.name != SPAWN_TOOL:
        return None
    told = call.args.get("instructions")
    return told if isinstance(told, str) else None
