"""The ports: everything the core asks of the world. Each docstring is the contract that the contract tests hold.

`Clock`, the fourth, stands in `core/clock.py`.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from core.chunks import Chunk
from core.commit import Commit
from core.entries import Entry
from core.messages import InputKey
from core.request import ModelRequest
from core.thread import Ancestor, FoldedThread, Inherited, ThreadState


@dataclass(frozen=True, slots=True)
class LoadedThread:
    """One consistent look at a thread. All empty for a thread that does not exist."""

    folded: FoldedThread = field(default_factory=FoldedThread)
    inherited: Inherited = field(default_factory=Inherited)
    """Of the lineage; empty where an own summary covers it."""
    last: Commit | None = None
    """The newest commit: known whole, since whoever finds it unsettled sends its outbox."""
    tip: int = 0
    """Number of the last settled commit."""
    markers: Mapping[InputKey, str] = field(default_factory=dict)
    """Body digest by key, of those asked for that exist."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The root thread's metadata, as settled."""


@dataclass(frozen=True, slots=True)
class ParkedBody:
    """A body that no thread can take, kept for people. The same body parks once, however often it comes."""

    source: str
    """Where it was read: `input`, `worker:<name>`, `delay`."""
    reason: str
    first_seen: datetime
    message_id: str
    body: str
    sender: str | None = None
    """SQS `SenderId` of whoever sent it first, if that is known: sent again, it is that one's word."""


class ThreadStore(Protocol):
    """The log of commits (storage.md). Every method raises StoreUnavailable when the store does not answer in time,
    and a read that fails is never taken as empty.
    """

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        """The thread as it stands, strongly consistent; tip, markers and metadata are read after the newest commit.

        Raises UnreadableRecord for a record of a newer version or a damaged one.
        """
        ...

    async def commit(self, commit: Commit) -> None:
        """Write the commit if its number is free. Returns when it is durable; writing the same commit again succeeds.

        Raises LostRace if another commit has the number, StoreUnavailable if the outcome is unknown.
        """
        ...

    async def mark(self, commit: Commit) -> None:
        """Write the markers, metadata and readers of a commit. Idempotent; an older one overwrites nothing newer.

        Readers: `READER#<child>` in the log of each ancestor that a `spawn` of its outbox inherits from; of a fork's
        first commit, `READER#<fork>` in each log of its lineage.
        """
        ...

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        """Move the tip to this commit; behind or equal is success. Only after `mark` and the outbox are confirmed.

        `waiting` keeps the thread from expiring: it has a live call, subscription, timer or open child.
        """
        ...

    async def locate(self, thread_id: str, seq: int) -> Ancestor | None:
        """What a reader of the thread up to and with its entry `seq` must load; None if it has no such entry."""
        ...

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        """What these ranges of logs hold, as one history (`core/lineage.py`). Raises UnreadableRecord at a gap."""
        ...

    async def state_at(self, thread_id: str, number: int) -> ThreadState:
        """What the thread was after its commit `number`, whatever came since. Raises UnreadableRecord without it."""
        ...

    async def park(self, parked: ParkedBody) -> None:
        """Keep a body for people. Idempotent by source, message id and body."""
        ...

    async def entries(self, thread_id: str, after_seq: int = 0, limit: int = 1000) -> tuple[Entry, ...]:
        """The thread's own committed entries with `seq` > after_seq, in order, at most `limit`; S3 values filled in."""
        ...


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message ready to send. Sending it again sends the same id, body, group and due instant."""

    id: str
    queue: str
    """`input`, `output`, `delay`, or `worker:<name>`. `unschedule`: no queue."""
    body: str
    """ASCII-escaped JSON. For `unschedule`: the id of a message whose schedule is deleted, if there is one."""
    group: str | None = None
    """MessageGroupId, for the FIFO queues `input` and `output`."""
    due_at: datetime | None = None
    """For `delay`: when the relay passes it on to the input queue. Until then it waits in the queue or, if that cannot
    delay it for so long, as a schedule under its id.
    """
    call_id: str | None = None
    """The call that this message dispatches, if it does."""
    correlation_id: str | None = None
    """Travels beside the body, for logs (`core/correlation.py`). Not part of the message: it may be missing."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """A message that was not confirmed. `permanent`: it can never be sent, whoever tries."""

    message: Outgoing
    reason: str
    permanent: bool


class Dispatcher(Protocol):
    """Sends outboxes."""

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        """Send all, retrying in the time there is; return what is not confirmed, in order. Never raises for a queue.

        Queues are independent of each other, except that outputs go after everything else is confirmed or given up.
        Inside one queue and group order is kept: after a message that was not confirmed for now, later ones of its
        queue and group are not tried. Only failed messages are sent again.
        """
        ...


class Model(Protocol):
    """Streams completions."""

    @property
    def context_window(self) -> int | None:
        """Tokens it can read, its answer included; None if that is not known."""
        ...

    @property
    def signs_reasoning(self) -> bool:
        """Whether reasoning without a signature would be refused when sent back."""
        ...

    def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        """Stream one completion, ending in `Completed`.

        Raises ModelUnavailable (throttled, cut off, too slow: try again), ModelOverflow or ModelRefused (never again).
        A stream that ends without `Completed` is taken as cut off. Nothing is retried inside.
        """
        ...


class Observer(Protocol):
    """Watches a slice in its own process: tokens as they come, calls, results. May not fail and decides nothing."""

    def notice(self, event: object) -> None:
        """`event`: a chunk, or one of `core.slice.notices`."""
        ...
