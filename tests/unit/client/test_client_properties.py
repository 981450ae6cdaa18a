"""Random conversations: every message has the end that its thread's outputs tell, and following never tears."""

from contextlib import aclosing

from hypothesis import given, settings
from hypothesis import strategies as st

from core.entries import Entry, ToolCall, TurnEnd, User
from core.messages import Input, UserMessage
from infra.client import Answered, Ended, Outcome
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, cancel, result, user
from tests.support.played import Turn, calls, says

FETCH = ("fetch", {"url": "a"})
TURNS = st.lists(st.sampled_from(["says", "calls", "says nothing"]), min_size=25, max_size=25)
STEPS = st.lists(
    st.lists(st.sampled_from(["text", "queued text", "result", "cancel"]), min_size=1, max_size=3),
    min_size=1,
    max_size=8,
)


def _turn(kind: str, number: int) -> Turn:
    if kind == "calls":
        return calls(FETCH, FETCH, text=f"I look {number}.")
    return says(f"answer {number}" if kind == "says" else "")


async def _inputs(one: Talk, kinds: list[str], step: int) -> list[Input]:
    live = await one.world.live()
    made: list[Input] = []
    for position, kind in enumerate(kinds):
        message_id = f"m{step}-{position}"
        match kind:
            case "text":
                made.append(user(message_id, message_id))
            case "queued text":
                made.append(user(message_id, message_id, on_busy="queue"))
            case "result" if live:
                made.append(result(live.pop(0), message_id=message_id))
            case "cancel":
                made.append(cancel(message_id))
            case _:
                pass
    return made


async def _lived(turns: list[str], steps: list[list[str]]) -> tuple[Talk, list[str]]:
    """A thread after these slices, and the ids of the user messages that it took in."""
    one = talk(*(_turn(kind, number) for number, kind in enumerate(turns)))
    said: list[str] = []
    for step, kinds in enumerate([["text"], *steps]):
        if inputs := await _inputs(one, kinds, step):
            await one.world.run(*inputs)
        said += [taken.message_id for taken in inputs if isinstance(taken.message, UserMessage)]
    return one, said


async def _ends(one: Talk) -> dict[int, str]:
    """What ended turns, by seq: the texts of final outputs, and reasons."""
    finals = {output["seq"]: output["text"] for output in one.world.dispatcher.outputs if output.get("final")}
    entries = await one.world.store.entries(THREAD)
    return finals | {entry.seq: f"({entry.reason})" for entry in entries if isinstance(entry, TurnEnd)}


def _end(outcome: Outcome) -> str | None:
    match outcome:
        case Answered(text=text):
            return text
        case Ended(reason=reason):
            return f"({reason})"
        case _:
            return None


@settings(max_examples=50)
@given(turns=TURNS, steps=STEPS)
async def test_every_message_has_the_first_end_behind_it(turns: list[str], steps: list[list[str]]) -> None:
    one, said = await _lived(turns, steps)
    ends = await _ends(one)
    entries = await one.world.store.entries(THREAD)
    joined = {entry.message_id: entry.seq for entry in entries if isinstance(entry, User)}
    for message_id in said:
        outcome = await one.another().wait(THREAD, message_id, 0)
        behind = [seq for seq in sorted(ends) if seq > joined.get(message_id, 10**6)]
        assert _end(outcome) == (ends[behind[0]] if behind else None)
        assert outcome.kind in ("answered", "ended") or (await one.world.state()).owes


@settings(max_examples=25)
@given(turns=TURNS, steps=STEPS, cuts=st.lists(st.integers(1, 4), min_size=1, max_size=6))
async def test_whoever_reconnects_anywhere_sees_the_history_as_it_is(
    turns: list[str], steps: list[list[str]], cuts: list[int]
) -> None:
    one, _ = await _lived(turns, steps)
    history = await one.world.store.entries(THREAD)
    seen: list[Entry] = []
    while len(seen) < len(history):
        async with aclosing(one.another().follow(THREAD, seen[-1].seq if seen else 0)) as entries:
            for _ in range(min(cuts[len(seen) % len(cuts)], len(history) - len(seen))):
                seen.append(await anext(entries))
    assert tuple(seen) == history


@settings(max_examples=25)
@given(turns=TURNS, steps=STEPS)
async def test_turns_hold_every_text_and_call_once(turns: list[str], steps: list[list[str]]) -> None:
    one, said = await _lived(turns, steps)
    found = [turn async for turn in one.client.turns(THREAD)]
    entries = await one.world.store.entries(THREAD)
    joined = [entry.message_id for entry in entries if isinstance(entry, User)]
    calls = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
    assert [part.message_id for turn in found for part in turn.said] == joined
    assert [call.call_id for turn in found for call in turn.calls] == calls
    assert all(not turn.open for turn in found[:-1])
    assert [turn.first_seq for turn in found[1:]] == [turn.last_seq + 1 for turn in found[:-1]]
    assert set(said) >= set(joined)
