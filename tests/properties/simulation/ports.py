"""The ports of one invocation: the in-memory ones behind points, watched by the checker.

Each call is told to the watcher in the moment of its effect, so that what is checked is what is durable, not what the
product believes.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from core.chunks import Chunk, Completed
from core.clock import Clock
from core.commit import Commit
from core.entries import Entry
from core.errors import ModelRefused, ModelUnavailable, StoreUnavailable
from core.keeping import Cleared
from core.messages import InputKey
from core.ports import LoadedThread, Model, Outgoing, ParkedBody, Unsent
from core.request import ModelRequest
from core.thread import Ancestor, Inherited, ThreadState
from infra.log_reader import LogPage
from infra.memory import MemoryStore
from infra.memory.dispatcher import MemorySender
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.send_order import Confirmed, Never, NotNow, SendOutcome, send_in_order

from .points import VISIT, Invocation, PortFaults
from .watcher import Watcher

READ = PortFaults(before={"fail": lambda: StoreUnavailable("throttled")})
WRITE = PortFaults(
    before={"fail": lambda: StoreUnavailable("throttled")},
    after={"fail": lambda: StoreUnavailable("timed out, but it was done")},
)
SEND = PortFaults(
    before={"fail": lambda: QueueUnavailable("throttled"), "refuse": lambda: Unsendable("no such queue")},
    after={"fail": lambda: QueueUnavailable("timed out, but it arrived")},
)
COMPLETION = PortFaults(
    before={
        "fail": lambda: ModelUnavailable("throttled"),
        "refuse": lambda: ModelRefused("refused for good"),
    }
)
CHUNK = {"fail": lambda: ModelUnavailable("disconnected in mid-stream")}
SEND_SECONDS = 1.0
"""How long a dispatcher tries."""


@dataclass(frozen=True, slots=True)
class HeldClock:
    """The clock, and a point around every sleep."""

    who: Invocation
    clock: Clock
    by_slice: bool = True
    """Whether it is the slice that looks at it, or a port."""

    def now(self) -> datetime:
        now = self.clock.now()
        if self.by_slice and (visit := VISIT.get()) is not None:
            visit.accepted_at = visit.accepted_at or now
        return now

    async def sleep(self, seconds: float) -> None:
        await self.who.call("clock.sleep", lambda: self.clock.sleep(seconds))


@dataclass(frozen=True, slots=True)
class HeldStore:
    """The thread store. A load reads twice, as the real one does: the commits, then what else there is."""

    who: Invocation
    store: MemoryStore
    watcher: Watcher

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        commits = await self.who.call("store.load", lambda: self.store.load(thread_id), READ)
        facts = await self.who.call("store.load facts", lambda: self.store.load(thread_id, keys), READ)
        loaded = replace(facts, folded=commits.folded, inherited=commits.inherited, last=commits.last)
        if self._came_between(loaded, facts):
            loaded = await self.who.call("store.load again", lambda: self.store.load(thread_id, keys), READ)
        self.watcher.loaded(self.who, thread_id, loaded.folded.state.number)
        return loaded

    def _came_between(self, loaded: LoadedThread, facts: LoadedThread) -> bool:
        """Whether the tip or a marker is of a commit newer than those read."""
        number = loaded.folded.state.number
        if facts.folded.state.number == number:
            return False
        newer = self.store.commits(facts.last.thread_id)[number:] if facts.last else ()
        marked = any(commit.consumes(key) for key in facts.markers for commit in newer)
        return marked or facts.tip > number

    async def commit(self, commit: Commit) -> None:
        async def effect() -> None:
            await self.store.commit(commit)
            self.watcher.committed(self.who, commit)

        await self.who.call("store.commit", effect, WRITE)

    async def mark(self, commit: Commit) -> None:
        async def effect() -> None:
            await self.store.mark(commit)
            self.watcher.marked(self.who, commit)

        await self.who.call("store.mark", effect, WRITE)

    async def settled(self, commit: Commit, *, waiting: bool) -> None:
        async def effect() -> None:
            await self.store.settled(commit, waiting=waiting)
            self.watcher.settled(self.who, commit)

        await self.who.call("store.settled", effect, WRITE)

    async def newest(self, thread_id: str) -> Commit | None:
        return await self.who.call("store.newest", lambda: self.store.newest(thread_id), READ)

    async def page(self, thread_id: str, number: int, limit: int) -> LogPage:
        return await self.who.call("store.page", lambda: self.store.page(thread_id, number, limit), READ)

    async def readers(self, thread_id: str) -> tuple[str, ...]:
        return await self.who.call("store.readers", lambda: self.store.readers(thread_id), READ)

    async def drop_readers(self, pairs: Sequence[tuple[str, str]]) -> None:
        await self.who.call("store.drop_readers", lambda: self.store.drop_readers(pairs), WRITE)

    async def look_again(self, thread_id: str, at: datetime) -> None:
        await self.who.call("store.look_again", lambda: self.store.look_again(thread_id, at), WRITE)

    async def clear(self, erasing: Commit) -> Cleared:
        return await self.who.call("store.clear", lambda: self.store.clear(erasing), WRITE)

    async def bury(self, erasing: Commit) -> bool:
        return await self.who.call("store.bury", lambda: self.store.bury(erasing), WRITE)

    async def locate(self, thread_id: str, seq: int) -> Ancestor | None:
        return await self.who.call("store.locate", lambda: self.store.locate(thread_id, seq), READ)

    async def inherit(self, lineage: Sequence[Ancestor]) -> Inherited:
        return await self.who.call("store.inherit", lambda: self.store.inherit(lineage), READ)

    async def state_at(self, thread_id: str, number: int) -> ThreadState:
        return await self.who.call("store.state_at", lambda: self.store.state_at(thread_id, number), READ)

    async def park(self, parked: ParkedBody) -> None:
        async def effect() -> None:
            await self.store.park(parked)
            self.watcher.parked(self.who, parked)

        await self.who.call("store.park", effect, WRITE)

    async def entries(self, thread_id: str, after_seq: int = 0, limit: int = 1000) -> tuple[Entry, ...]:
        return await self.store.entries(thread_id, after_seq, limit)


@dataclass(frozen=True, slots=True)
class HeldDispatcher:
    """The dispatcher, by the product's own order of sending; a batch can break off between any two messages."""

    who: Invocation
    sender: MemorySender
    clock: HeldClock
    watcher: Watcher

    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        give_up_at = self.clock.now() + timedelta(seconds=SEND_SECONDS)
        return await send_in_order(messages, self._send_batch, self.clock, give_up_at)

    async def _send_batch(self, batch: Sequence[Outgoing]) -> list[SendOutcome]:
        return [await self._send(message) for message in batch]

    async def _send(self, message: Outgoing) -> SendOutcome:
        async def effect() -> None:
            self.sender.send(message)
            self.watcher.sent(self.who, message)

        try:
            await self.who.call(f"send {message.queue}", effect, SEND)
        except QueueUnavailable as error:
            return NotNow(str(error))
        except Unsendable as error:
            self.watcher.refused(self.who, message)
            return Never(str(error))
        return Confirmed()


@dataclass(frozen=True, slots=True)
class HeldModel:
    """A model. It can fail before the first chunk and between any two; some requests kill whoever makes them."""

    who: Invocation
    model: Model
    watcher: Watcher
    deadly: str | None
    """In the text that a request ends with: then whoever makes it dies."""

    @property
    def context_window(self) -> int | None:
        return self.model.context_window

    @property
    def signs_reasoning(self) -> bool:
        return self.model.signs_reasoning

    async def stream(self, request: ModelRequest, *, timeout_seconds: float) -> AsyncGenerator[Chunk, None]:
        self.watcher.requested(self.who, request)
        await self.who.hold("model.stream", "before", faults=COMPLETION.before)
        if self.deadly is not None and self.deadly in repr(request.messages[-1].parts[-1]):
            await self.who.die()
        async with aclosing(self.model.stream(request, timeout_seconds=timeout_seconds)) as chunks:
            async for chunk in chunks:
                await self.who.hold("model.chunk", "before", faults=CHUNK)
                if isinstance(chunk, Completed):
                    self.watcher.completed(self.who, request, chunk.usage.total)
                yield chunk


@dataclass(frozen=True, slots=True)
class HeldVisibility:
    """What the agent's handler asks of SQS to get failed records back soon."""

    who: Invocation
    change: Any
    """Called with a receipt handle and seconds."""

    async def change_message_visibility_batch(self, *, QueueUrl: str, Entries: Sequence[Any]) -> None:
        async def effect() -> None:
            for entry in Entries:
                self.change(QueueUrl, entry["ReceiptHandle"], entry["VisibilityTimeout"])

        faults = PortFaults(before={"fail": lambda: TimeoutError("no answer")})
        await self.who.call("visibility", effect, faults)
