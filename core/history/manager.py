"""`HistoryManager`: the only state of a slice. Loads a thread, takes in content and completions, writes commits.

Loading, `sync` and settling an empty outbox are its only awaits; everything else is bookkeeping on a `ThreadDraft`.
It never sends: whoever calls `sync` with a non-empty outbox settles the commit (`core/slice/settle.py`).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from core.blocks import Content
from core.chunks import Chunk
from core.clock import SYSTEM_CLOCK, Clock
from core.commit import Commit, metadata_set
from core.entries import Entry, Event, Outcome, ToolResult, User
from core.errors import MisuseError, NotSettled
from core.fold import fold_commits
from core.history import answers, app_log, checkpoints, subscriptions
from core.history.buffer import BufferItem, TurnBuffer
from core.history.cuts import is_safe_cut, safe_cut
from core.history.draft import ThreadDraft
from core.history.inputs import consumption, lookup_keys, seen_digest
from core.messages import InputKey
from core.ports import LoadedThread, ThreadStore
from core.thread import Deferred, Inherited, Summary, ThreadState


class HistoryManager:
    """One thread, as one slice sees and extends it. Not shared between slices."""

    def __init__(self, store: ThreadStore, thread_id: str, loaded: LoadedThread, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._loaded = loaded
        self._last = loaded.last
        self._tip = loaded.tip
        self._excused = 0
        self._metadata = {**loaded.metadata, **(metadata_set(loaded.last) if loaded.last else {})}
        self._buffer = TurnBuffer()
        self._interrupted: list[str] = []
        self.thread_id = thread_id
        self.draft = ThreadDraft(thread_id, loaded.folded)

    @classmethod
    async def new_with_history(
        cls,
        store: ThreadStore,
        thread_id: str,
        message_ids: Iterable[str | InputKey] = (),
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> "HistoryManager":
        """Load the thread and the markers of the inputs about to be handled.

        A bare message id is looked up under every type that leaves a marker. Raises StoreUnavailable, UnreadableRecord.
        """
        keys = [key for named in message_ids for key in lookup_keys(named)]
        return cls(store, thread_id, await store.load(thread_id, keys), clock)

    # ---- what there is

    @property
    def state(self) -> ThreadState:
        """The thread as it will be after the next commit."""
        return self.draft.state

    @property
    def history(self) -> tuple[Entry, ...]:
        """Inherited, committed and pending entries that no summary covers, oldest first."""
        return (*self.inherited.entries, *self.draft.history)

    @property
    def inherited(self) -> Inherited:
        """What is read before the thread's own log: nothing, where a summary of its own covers it."""
        return Inherited() if self.state.summary else self._loaded.inherited

    @property
    def summary(self) -> Summary | None:
        """What stands before `history`: the thread's own summary, or an ancestor's."""
        return self.state.summary or self.inherited.summary

    @property
    def pending_items(self) -> tuple[Entry, ...]:
        """Accepted entries that the next `sync` will commit, each with the id of the message that caused it."""
        return tuple(self.draft.entries)

    @property
    def turn_buffer(self) -> tuple[BufferItem, ...]:
        return self._buffer.items

    @property
    def live_calls(self) -> tuple[str, ...]:
        """Ids of the calls without a result, in call order."""
        return tuple(call.call_id for call in self.state.live)

    @property
    def active_subscriptions(self) -> tuple[str, ...]:
        """Ids of the calls whose subscriptions are open."""
        return tuple(subscription.call_id for subscription in self.state.subscriptions)

    @property
    def thread_ancestors(self) -> tuple[str, ...]:
        """Ids from the root to this thread's parent; empty for a root."""
        return self.state.origin.ancestors

    @property
    def thread_stack(self) -> tuple[str, ...]:
        """Ids from the root to this thread."""
        return (*self.thread_ancestors, self.thread_id)

    @property
    def metadata(self) -> dict[str, Any]:
        """The root's metadata, with what the next commit will set."""
        return {**self._metadata, **self.draft.metadata}

    def current_turn_view(self) -> tuple[Entry, ...]:
        """History plus the buffered turn: a copy for a client that attaches in mid-stream."""
        buffered = self._buffer.as_entries(self.thread_id, self.draft.birth, self.state.last_seq + 1)
        return (*self.history, *buffered)

    def safe_spawn_point(self) -> int:
        """The highest seq, pending entries included, at which a cut keeps *safe spawn*; 0 if there is none."""
        summary = self.state.summary
        return max(safe_cut(self.draft.history), summary.up_to_seq if summary else 0)

    def seen(self, key: InputKey) -> str | None:
        """The body digest under which this input was taken in already; None if it is new, or the fold tells."""
        return seen_digest(key, self.draft.consumed, self._last, self._loaded)

    async def inherit(self) -> None:
        """Load what a child that begins in this slice inherits: loading the thread could not know of it."""
        if self.draft.committed.state.number == 0 and (lineage := self.state.origin.lineage):
            self._loaded = replace(self._loaded, inherited=await self._store.inherit(lineage))

    # ---- input

    def handle_content(
        self, entry: Entry, message_id: str, body_digest: str | None = None, key: InputKey | None = None
    ) -> bool:
        """Take in a user text, a result or an event; False if it changes nothing (duplicate, not live, closed).

        User text answers live calls as interrupted; both it and an event interrupt what is passive. `key` is what the
        input is known by, if the kind of entry does not say it. Raises MisuseError with a non-empty turn buffer, or
        for another kind of entry.
        """
        self._require_empty_buffer("handle_content")
        consumed = consumption(entry, message_id, body_digest, key)
        if self.state.closed or self.seen(consumed.key) is not None:
            return False
        match named := entry.model_copy(update={"message_id": message_id}):
            case ToolResult(call_id=call_id):
                if self.state.live_call(call_id) is None:
                    return False
                self.draft.consume(consumed)
                self.draft.append(named)
                self._interrupted += answers.rouse(self.draft)
            case Event() if self.state.working:
                raise MisuseError("an event does not interrupt work: defer it")
            case User() | Event():
                self.draft.consume(consumed)
                self.interrupt()
                self.draft.append(named)
                self.owe(message_id)
            case _:
                raise MisuseError(f"a {named.kind} entry is no input")
        return True

    def defer_content(
        self,
        entry: User | Event,
        message_id: str,
        body_digest: str | None = None,
        key: InputKey | None = None,
    ) -> bool:
        """Take in an input that waits for the last non-passive live call. False for a duplicate or a closed thread."""
        self._require_empty_buffer("defer_content")
        consumed = consumption(entry, message_id, body_digest, key)
        if self.state.closed or self.seen(consumed.key) is not None:
            return False
        self.draft.consume(consumed)
        self.draft.defer(Deferred(entry=entry, message_id=message_id))
        self.owe(message_id)
        return True

    def owe(self, message_id: str) -> None:
        """An answer is owed, to this input as the newest."""
        self.draft.set_state(owes=True, owes_to=message_id, cause=None)

    def answer_call(self, call_id: str, content: Content, outcome: Outcome = "ok") -> None:
        """Answer a live call from inside: an inline result, a refusal, a limit, a deadline."""
        result = ToolResult(call_id=call_id, content=content, outcome=outcome)
        self._interrupted += answers.answer(self.draft, result)

    def interrupt(self) -> None:
        """Answer every live call as interrupted, tell its worker, and let deferred inputs join."""
        self._interrupted += answers.interrupt(self.draft)

    def time_out(self, call_ids: Iterable[str], note: str) -> None:
        """Answer these live calls as timed out, and tell their workers."""
        self._interrupted += answers.time_out(self.draft, call_ids, note)

    def take_interrupted_tool_calls(self) -> list[str]:
        """Ids of the calls interrupted since the last time this was asked, each told once."""
        taken, self._interrupted = self._interrupted, []
        return taken

    def track_subscription(self, call_id: str, worker: str | None = None) -> None:
        """Open a subscription for a call of this thread, with its name and arguments. Open already: no change.

        `worker` is told when the subscription is ended from here.
        """
        subscriptions.open_for(self.draft, call_id, worker)

    def remove_subscription(self, call_id: str, *, tell_worker: bool = False) -> None:
        """End a subscription. None open: no change."""
        subscriptions.end(self.draft, call_id, tell_worker)

    # ---- completions

    def handle_completion(self, chunk: Chunk) -> None:
        """Take one streamed chunk into the turn buffer. Raises MisuseError while calls are live (*well-formed*)."""
        if self.state.live:
            raise MisuseError("no model is called while calls are live")
        self._buffer.add(chunk)

    def flush_turn(self) -> None:
        """Move the turn buffer into history as pending entries, calls under ids of ours."""
        entries = self._buffer.as_entries(self.thread_id, self.draft.birth, self.state.last_seq + 1)
        self._buffer.discard()
        for entry in entries:
            self.draft.append(entry)

    def flush_turn_trimming_reasoning(self) -> None:
        """`flush_turn`, first dropping trailing reasoning and blank text: no turn may end in them."""
        self._buffer.trim()
        self.flush_turn()

    def discard_turn(self) -> None:
        """Forget a failed attempt, so that the next starts from clean history."""
        self._buffer.discard()

    def apply_compaction(self, summary: Summary) -> None:
        """Let `summary` stand for everything up to its seq, from the next commit on, which becomes a base.

        Raises MisuseError if the cut is not safe, or behind the summary there is.
        """
        self._require_empty_buffer("apply_compaction")
        inherited = summary.up_to_seq == 0 and bool(self._loaded.inherited.entries)
        if not inherited and not is_safe_cut(self.draft.history, summary.up_to_seq):
            raise MisuseError(f"seq {summary.up_to_seq} is no safe cut of this history")
        self.draft.compact(summary, app_log.kept_under(summary, self.draft, self.inherited))

    # ---- commit and settle

    @property
    def unsettled(self) -> Commit | None:
        """The last commit, if its outbox or markers may not be out. One that erases has neither."""
        return self._last if self._last and not self._last.erased and self._last.number > self._tip else None

    async def sync(self) -> Commit | None:
        """Commit what is pending in one write; None if nothing is. Settles by itself where nothing has to be sent.

        Raises MisuseError with a non-empty turn buffer, NotSettled if the last commit still has messages to send,
        LostRace (this manager is stale then: load again), StoreUnavailable (the commit may or may not stand).
        """
        self._require_empty_buffer("sync")
        if self.draft.is_empty:
            return None
        if self.unsettled is not None and self._excused != self.unsettled.number:
            await self._settle_unsent(self.unsettled)
        checkpoints.keep_short(self.draft)
        commit = self.draft.build(self._clock.now())
        await self._store.commit(commit)
        self._metadata.update(self.draft.metadata)
        folded = fold_commits(self.draft.committed, [commit])
        self._last, self.draft = commit, ThreadDraft(self.thread_id, folded)
        if not commit.outbox:
            await self._settle_unsent(commit)
        return commit

    def excuse_unsent(self, commit: Commit) -> None:
        """All of `commit` is confirmed but what the draft carries or answers: the next may be written."""
        self._excused = commit.number

    def note_settled(self, commit: Commit) -> None:
        """The tip is at `commit`."""
        self._tip = max(self._tip, commit.number)

    async def _settle_unsent(self, commit: Commit) -> None:
        if commit.outbox:
            raise NotSettled(
                f"commit {commit.number} of {self.thread_id!r} has messages to send: settle it first"
            )
        await self._store.mark(commit)
        await self._store.settled(commit, waiting=self.draft.committed.state.waiting)
        self.note_settled(commit)

    def _require_empty_buffer(self, what: str) -> None:
        if self._buffer.items:
            raise MisuseError(f"{what} with a turn in the buffer: flush or discard it first")
