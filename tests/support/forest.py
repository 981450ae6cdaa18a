"""Random trees of threads over a store, and beside them a plain model: for each thread one list of all it can see.

Every list of steps is a life: what a thread's state does not allow does nothing.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from core.changes import EntriesHidden
from core.chunks import CallChunk, Chunk, TextChunk
from core.commit import Commit
from core.entries import Entry, Reasoning, ToolCall, ToolResult
from core.errors import MisuseError
from core.fork import fork
from core.history import HistoryManager, Summary
from core.history.cuts import is_safe_cut
from core.ids import root_of
from core.outbox import SendSpawn
from core.ports import ThreadStore
from core.spawning import child_of, lineage_here, open_child
from core.thread import Ancestor, Hidden, Origin
from infra.memory import MemoryClock
from tests.support.played import signed
from tests.support.threads import answer, text
from tests.support.world import START

ROOT = "root"
DEEPEST = 3
ACTIONS = ("text", "turn", "thought", "calls", "result", "hide", "checkpoint", "compact")
OFTEN = ("turn", "result", "checkpoint")
Step = tuple[str, int, list[tuple[str, int]]]
"""What, a number to choose by, and what a visited thread does before that."""
_actions = st.lists(st.tuples(st.sampled_from((*ACTIONS, *OFTEN)), st.integers(0, 9)), max_size=4)
steps = st.lists(
    st.tuples(st.sampled_from(("visit", "visit", "spawn", "fork")), st.integers(0, 99), _actions),
    min_size=4,
    max_size=16,
)


@dataclass(frozen=True)
class Known:
    """One entry as the model keeps it."""

    thread_id: str
    commit: int
    entry: Entry


@dataclass
class Forest:
    """Threads that grow, spawn and are forked. `views` is the plain model; nothing in it is ever summed up."""

    store: ThreadStore
    clock: MemoryClock = field(default_factory=lambda: MemoryClock(START))
    views: dict[str, list[Known]] = field(default_factory=lambda: {ROOT: []})
    summaries: list[tuple[str, Summary]] = field(default_factory=list)
    hides: list[tuple[str, int, Hidden]] = field(default_factory=list)
    """Thread, commit, what."""
    readers: set[tuple[str, str]] = field(default_factory=set)
    """(a log, who reads it)"""
    words: int = 0

    async def live(self, script: list[Step]) -> None:
        """Take the steps, each with a thread chosen by its number."""
        await self.visit(ROOT, [("text", 0)])
        for what, number, actions in script:
            thread_id = list(self.views)[number % len(self.views)]
            if what == "fork":
                await self.fork(thread_id, 1 + number % max(1, len(self.own(thread_id))))
            else:
                await self.visit(thread_id, actions, spawning=what == "spawn")

    def own(self, thread_id: str) -> list[Known]:
        return [known for known in self.views[thread_id] if known.thread_id == thread_id]

    async def manager(self, thread_id: str) -> HistoryManager:
        return await HistoryManager.new_with_history(self.store, thread_id, clock=self.clock)

    async def visit(self, thread_id: str, actions: list[tuple[str, int]], *, spawning: bool = False) -> None:
        """One commit of what the actions make, if anything; perhaps with a child, which begins at once."""
        manager = await self.manager(thread_id)
        for name, number in actions:
            self._act(manager, name, number)
        if not spawning or len(manager.thread_stack) >= DEEPEST:
            await self._commit(manager)
            return
        child = f"{root_of(thread_id)}~{len(self.views)}"
        cut, lineage = manager.safe_spawn_point(), lineage_here(manager.draft)
        assert cut == _safe_point([*(known.entry for known in self.own(thread_id)), *manager.pending_items])
        message = SendSpawn(thread_id=child, call_id="c", child_kind="spawned", credit=0, lineage=lineage)
        open_child(manager.draft, message, child_of(message))
        await self._commit(manager)
        self._inherit(thread_id, cut, child, lineage)
        await self._begin(child, Origin(ancestors=manager.thread_stack, kind="spawned", lineage=lineage))

    async def _commit(self, manager: HistoryManager) -> None:
        commit = await manager.sync()
        if commit is None:
            return
        if commit.outbox:
            await self.store.mark(commit)
            await self.store.settled(commit, waiting=True)
        self._note(commit)

    def _note(self, commit: Commit) -> None:
        view = self.views[commit.thread_id]
        view += [Known(commit.thread_id, commit.number, entry) for entry in commit.entries]
        if commit.base is not None:
            self.summaries.append((commit.thread_id, commit.base.summary))
        for change in commit.changes:
            if isinstance(change, EntriesHidden):
                self.hides += [(commit.thread_id, commit.number, hidden) for hidden in change.entries]

    async def _begin(self, child: str, origin: Origin) -> None:
        manager = await self.manager(child)
        manager.draft.set_state(origin=origin)
        self._act(manager, "text", 0)
        await self._commit(manager)

    def _inherit(self, source: str, cut: int, heir: str, lineage: tuple[Ancestor, ...]) -> None:
        above = [known for known in self.views[source] if known.thread_id != source]
        self.views[heir] = above + [known for known in self.own(source) if known.entry.seq <= cut]
        self.readers |= {(ancestor.thread_id, heir) for ancestor in lineage}

    async def fork(self, source: str, at_seq: int) -> None:
        """A new root with what `source` shares of its own history up to there."""
        new = f"fork-{len(self.views)}"
        cut = _safe_point([known.entry for known in self.own(source) if known.entry.seq <= at_seq])
        try:
            point = await fork(self.store, source, at_seq, new, clock=self.clock)
        except MisuseError:
            assert cut == 0
            return
        assert (point.thread_id, point.seq) == (source, cut)
        lineage = (await self.manager(new)).state.origin.lineage
        self._inherit(source, cut, new, lineage)

    def _act(self, manager: HistoryManager, name: str, number: int) -> None:
        self.words += 1
        words = f"words {self.words}"
        live = manager.live_calls
        match name:
            case "text":
                manager.handle_content(text(words), words)
            case "turn" if not live:
                self._turn(manager, TextChunk(words))
            case "thought" if not live:
                self._turn(manager, TextChunk(words), signed("hm"))
            case "calls" if not live:
                looking = [CallChunk("look", {"at": n}) for n in range(1 + number % 3)]
                self._turn(manager, signed("hm"), TextChunk(words), *looking)
            case "result" if live:
                manager.handle_content(answer(live[number % len(live)], words), words)
            case "hide" if manager.draft.history:
                chosen = manager.draft.history[number % len(manager.draft.history)]
                hidden = Hidden(seq=chosen.seq, what="all")
                manager.draft.record(EntriesHidden(entries=(hidden,)))
            case "checkpoint":
                manager.draft.checkpoint()
            case "compact" if manager.state.summary == manager.draft.committed.state.summary:
                self._compact(manager, words, number)
            case _:
                pass

    @staticmethod
    def _turn(manager: HistoryManager, *chunks: Chunk) -> None:
        for chunk in chunks:
            manager.handle_completion(chunk)
        manager.flush_turn()

    @staticmethod
    def _compact(manager: HistoryManager, words: str, number: int) -> None:
        history = manager.draft.history
        cuts = [entry.seq for entry in history if is_safe_cut(history, entry.seq)]
        if cuts:
            manager.apply_compaction(Summary(words, cuts[number % len(cuts)]))


def _safe_point(entries: list[Entry]) -> int:
    """The highest seq up to which every call is answered and reasoning is followed by something; 0 if there is none."""
    for end in range(len(entries), 0, -1):
        inherited = entries[:end]
        calls = {entry.call_id for entry in inherited if isinstance(entry, ToolCall)}
        answered = {entry.call_id for entry in inherited if isinstance(entry, ToolResult)}
        if calls == answered and not isinstance(inherited[-1], Reasoning):
            return inherited[-1].seq
    return 0
