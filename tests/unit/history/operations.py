"""Random lives of a thread, without a slice: operations on a manager, in any order that its rules allow.

An operation that the state does not allow does nothing, so every list of them is a life.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import strategies as st

from core.changes import CallOpened, StateEdited, StateSetAside, UsageSeen
from core.chunks import CallChunk, Chunk, TextChunk, Usage
from core.commit import Commit
from core.entries import TurnEnd
from core.fold import fold_commits
from core.history import HistoryManager, Summary
from core.history.cuts import is_safe_cut
from core.outbox import SendAnswer, SendCall
from core.slice.debts import owe_nothing, stop
from core.slice.metadata import set_metadata
from core.slice.sources import add_sources
from core.sources import Source
from core.state import AppMessage
from core.state.edits import edits_between
from core.thread import FoldedThread, PendingWake, ThreadState
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD
from tests.support.played import signed
from tests.support.threads import answer, text

START = datetime.fromisoformat("2025-01-01T00:00:00Z")
CHUNKS: dict[str, Chunk] = {
    "text": TextChunk("words"),
    "blank": TextChunk(" \n"),
    "reasoning": signed("hm"),
    "call": CallChunk("look", {"deep": [None, 0.5, {"x": 2**63}]}),
    "raw call": CallChunk("look", "not json"),
}
NAMES = (
    "text",
    "queued",
    "turn",
    "result",
    "stop",
    "expire",
    "wake",
    "forget",
    "subscribe",
    "end",
    "facts",
    "state",
    "compact",
    "checkpoint",
)
OFTEN = (
    "turn",
    "turn",
    "turn",
    "queued",
    "result",
    "compact",
    "checkpoint",
    "checkpoint",
    "sync",
    "sync",
    "sync",
)

Operation = tuple[str, int, list[str]]
"""What, a number to choose by, and the chunks of a turn."""

_chunks = st.lists(st.sampled_from((*CHUNKS, "call", "call")), max_size=4)
_operation = st.tuples(st.sampled_from((*NAMES, *OFTEN)), st.integers(0, 9), _chunks)
operations = st.lists(_operation, min_size=10, max_size=30)


@dataclass
class Life:
    """A thread, its store, and every commit so far."""

    clock: MemoryClock = field(default_factory=lambda: MemoryClock(START))
    commits: list[Commit] = field(default_factory=list)
    promised: list[ThreadState] = field(default_factory=list)
    """The draft's working state that each commit was built from."""
    count: int = 0

    async def live(self, script: list[Operation]) -> HistoryManager:
        self.store = MemoryStore(self.clock)
        self.manager = await HistoryManager.new_with_history(self.store, THREAD, clock=self.clock)
        for name, number, chunks in [("text", 0, []), *script, ("sync", 0, [])]:
            self.count += 1
            self.clock.advance(0.0015)
            if name == "sync":
                await self._sync()
            elif self.manager.state.exists:
                getattr(self, f"_{name}")(number, chunks)
            else:
                self._text(number, chunks)
        return self.manager

    async def _sync(self) -> None:
        state = self.manager.draft.with_timer()
        commit = await self.manager.sync()
        if commit is not None:
            self.commits.append(commit)
            self.promised.append(state)
            await self.store.mark(commit)
            await self.store.settled(commit, waiting=False)
            self.manager.note_settled(commit)

    def _text(self, number: int, chunks: list[str]) -> None:
        self.manager.handle_content(text(f"text {self.count}"), f"m{number}")

    def _queued(self, number: int, chunks: list[str]) -> None:
        if self.manager.state.working:
            self.manager.defer_content(text(f"queued {self.count}"), f"q{self.count}")

    def _turn(self, number: int, chunks: list[str]) -> None:
        manager = self.manager
        if manager.state.live:
            return
        if not manager.state.owes:
            self._text(100 + self.count, chunks)
        for name in chunks:
            manager.handle_completion(CHUNKS[name])
        manager.flush_turn_trimming_reasoning()
        manager.draft.set_state(turns=manager.state.turns + 1, credit=1000 - self.count)
        if "text" in chunks:
            usage, last_seq = Usage(output_tokens=self.count), manager.state.last_seq
            answer_sent = SendAnswer(
                first_seq=last_seq, last_seq=last_seq, final=True, usage=usage, stop_reason="end_turn"
            )
            manager.draft.send(answer_sent)
        else:
            manager.draft.record(UsageSeen(usage=Usage(input_tokens=self.count)))
        called = manager.state.live
        for index, call in enumerate(called):
            if index < number % 4:
                deadline = self.clock.now() + timedelta(seconds=number)
                opened = CallOpened(
                    call_id=call.call_id, worker="web", deadline_at=deadline, passive=number == 7
                )
                manager.draft.record(opened)
                manager.draft.send(SendCall(call_id=call.call_id, worker="web", deadline_at=deadline))
            else:
                manager.answer_call(call.call_id, answer("").content)
        if not manager.state.live and (not called or number == 9):
            owe_nothing(manager)

    def _result(self, number: int, chunks: list[str]) -> None:
        live = self.manager.live_calls
        call_id = live[number % len(live)] if live and number else "call_unknown"
        self.manager.handle_content(answer(call_id), f"r{self.count}")

    def _stop(self, number: int, chunks: list[str]) -> None:
        stop(self.manager)

    def _expire(self, number: int, chunks: list[str]) -> None:
        self.manager.time_out(self.manager.live_calls[:number], "too late")

    def _wake(self, number: int, chunks: list[str]) -> None:
        self.manager.draft.arm_wake(PendingWake(id="", reason="model", due_at=self.clock.now(), tries=number))

    def _forget(self, number: int, chunks: list[str]) -> None:
        self.manager.draft.set_state(wake=None)

    def _subscribe(self, number: int, chunks: list[str]) -> None:
        for entry in self.manager.history:
            if entry.kind == "tool_call":
                self.manager.track_subscription(entry.call_id)
        for call_id in self.manager.active_subscriptions[number:]:
            self.manager.remove_subscription(call_id)

    def _end(self, number: int, chunks: list[str]) -> None:
        if not self.manager.state.live:
            self.manager.draft.append(TurnEnd(reason="failed"))
            owe_nothing(self.manager)

    def _facts(self, number: int, chunks: list[str]) -> None:
        set_metadata(self.manager, {f"k{number % 2}": [number, None]})
        add_sources(self.manager, (Source(url=f"https://example.com/{number}", title="t"),))

    def _state(self, number: int, chunks: list[str]) -> None:
        """What an author keeps: fields, and a message of the application."""
        draft, stored = self.manager.draft, self.manager.state.stored_state or {}
        if number == 9:
            draft.record(StateSetAside())
        elif edits := edits_between(stored, {**stored, "n": number, "all": [*stored.get("all", []), number]}):
            draft.record(StateEdited(edits=edits))
        if not self.manager.state.live:
            draft.append(AppMessage.of(f"r{number % 3}", {"n": self.count}).entry())

    def _compact(self, number: int, chunks: list[str]) -> None:
        history = self.manager.history
        safe = [entry.seq for entry in history if is_safe_cut(history, entry.seq)]
        if safe:
            self.manager.apply_compaction(Summary(text="so far", up_to_seq=safe[number % len(safe)]))

    def _checkpoint(self, number: int, chunks: list[str]) -> None:
        self.manager.draft.checkpoint()


def folded(commits: list[Commit]) -> FoldedThread:
    """One commit at a time, as a warm container folds."""
    thread = FoldedThread()
    for commit in commits:
        thread = fold_commits(thread, [commit])
    return thread
