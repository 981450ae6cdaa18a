"""For any inputs and any turns of a model: requests are well-formed, what is written stands, and nothing is stuck."""

from dataclasses import dataclass, field
from itertools import cycle

from hypothesis import given, settings
from hypothesis import strategies as st

from core.chunks import CallChunk, Chunk, Completed, ReasoningBlock, TextChunk
from core.entries import Entry, ToolCall, ToolResult
from core.errors import ModelOverflow, ModelRefused, ModelUnavailable
from core.messages import Input
from core.strict import check_request
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, cancel, delivered, result, user
from tests.support.played import Turn, signed
from tests.support.world import WEB, World, world

PIECES: dict[str, Chunk | Exception] = {
    "text": TextChunk("words"),
    "blank": TextChunk(" \n"),
    "signed": signed("hm"),
    "foreign": signed("hm", model="other:model"),
    "unsigned": ReasoningBlock("hm"),
    "echo": CallChunk("echo", {"text": "hi"}),
    "fetch": CallChunk("fetch", {"url": "u"}),
    "dig": CallChunk("dig", {"depth": 1}),
    "nope": CallChunk("nope?", {}),
    "bad": CallChunk("fetch", "not json"),
    "down": ModelUnavailable("down"),
    "refused": ModelRefused("no"),
    "overflow": ModelOverflow("long"),
}
KINDS = ("text", "queued", "result", "late", "cancel", "internal", "again", "wait", "break")
OFTEN = ("text", "result", "internal")
Step = tuple[str, int, bool]

pieces = st.lists(st.sampled_from(list(PIECES)), max_size=4)
endings = st.sampled_from(["end_turn", "end_turn", "max_tokens"])
scripts = st.lists(st.tuples(pieces, endings), min_size=3, max_size=6)
_step = st.tuples(st.sampled_from((*KINDS, *OFTEN)), st.integers(0, 5), st.booleans())
steps = st.lists(_step, min_size=4, max_size=12)


def _turn(names: list[str], stop_reason: str) -> Turn:
    return [*(PIECES[name] for name in names), Completed(stop_reason)]


@dataclass
class Run:
    """A thread that is given one step after another, and checked after each."""

    one: World
    seen: list[Input] = field(default_factory=list)
    entries: tuple[Entry, ...] = ()

    async def step(self, kind: str, number: int, dead: bool) -> None:
        one = self.one
        match kind:
            case "wait":
                one.clock.advance(40 * number)
                return
            case "break":
                one.dispatcher.slow = {WEB, "output"} if number == 0 else set()
                return
        taken = await self._input(kind, number)
        self.seen.append(taken)
        await one.run(taken, completing=not (dead and number == 0))
        await self.check()

    async def _input(self, kind: str, number: int) -> Input:
        fresh, live, internal = f"m{len(self.seen)}", await self.one.live(), self.one.dispatcher.internal
        if kind == "result" and live:
            return result(live[number % len(live)])
        if kind == "internal" and internal:
            return delivered(internal[-1 - number % len(internal)])
        if kind == "again" and self.seen:
            return self.seen[number % len(self.seen)]
        if kind == "cancel":
            return cancel(fresh)
        if kind == "late":
            return result("call_late")
        return user(fresh, fresh, on_busy="queue" if kind == "queued" else "interrupt")

    async def check(self) -> None:
        for request in self.one.model.requests:
            check_request(request)
        entries = await self.one.store.entries(THREAD)
        assert entries[: len(self.entries)] == self.entries
        self.entries = entries
        called = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
        answered = [entry.call_id for entry in entries if isinstance(entry, ToolResult)]
        state = await self.one.state()
        assert len(called) == len(set(called))
        assert sorted([*answered, *(call.call_id for call in state.live)]) == sorted(called)
        assert state.wake is not None or not state.runnable
        assert state.timer is not None or not state.live
        assert all(call.deadline_at is not None and state.owes for call in state.live)
        assert not state.deferred or state.live
        await self._settled_or_carried()

    async def _settled_or_carried(self) -> None:
        loaded, state = await self.one.store.load(THREAD), await self.one.state()
        if loaded.last is not None and loaded.tip < loaded.last.number:
            assert self.one.dispatcher.slow
            assert state.wake is not None
            sent = {message.id for message in self.one.dispatcher.sent}
            assert state.wake.id in sent


@settings(max_examples=80)
@given(scripts, steps)
async def test_requests_are_well_formed_entries_stand_and_nothing_is_stuck(
    script: list[tuple[list[str], str]], given_steps: list[Step]
) -> None:
    turns = cycle(_turn(names, stop_reason) for names, stop_reason in script)
    run = Run(world())
    run.one.limit(rounds_per_slice=3, turns_per_user_input=4, model_tries=4)

    async def next_turn() -> None:
        run.one.model.play(next(turns))

    run.one.model.on_request = next_turn
    for kind, number, dead in [("text", 1, False), *given_steps]:
        await run.step(kind, number, dead)
    assert isinstance(run.one.store, MemoryStore)
    ids = [message.id for message in run.one.dispatcher.sent]
    bodies = {(message.id, message.body) for message in run.one.dispatcher.sent}
    assert len(bodies) == len(set(ids))
