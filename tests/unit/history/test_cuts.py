"""Where a log can be cut, against the words of invariant *safe spawn*."""

from hypothesis import given
from hypothesis import strategies as st

from core.blocks import text_content
from core.entries import Assistant, Entry, Reasoning, ToolCall, ToolResult, TurnEnd, User
from core.history.cuts import is_safe_cut, safe_cut


def _entry(kind: str, call: str) -> Entry:
    match kind:
        case "user":
            return User(content=text_content("hi"))
        case "assistant":
            return Assistant(text="hi")
        case "reasoning":
            return Reasoning(text="hm", signature="s")
        case "call":
            return ToolCall(call_id=call, name="look")
        case "result":
            return ToolResult(call_id=call, content=text_content("out"))
        case _:
            return TurnEnd(reason="empty")


def _log(kinds: list[tuple[str, int]], first_seq: int = 1) -> list[Entry]:
    """A log in which every call is made once and answered at most once, afterwards."""
    entries: list[Entry] = []
    waiting: list[str] = []
    for index, (kind, number) in enumerate(kinds):
        call = f"c{index}"
        if kind == "result":
            if not waiting:
                continue
            call = waiting.pop(number % len(waiting))
        if kind == "call":
            waiting.append(call)
        entries.append(_entry(kind, call).model_copy(update={"seq": first_seq + len(entries)}))
    return entries


_kinds = st.sampled_from(["user", "assistant", "reasoning", "call", "call", "result", "result", "end"])
logs = st.builds(_log, st.lists(st.tuples(_kinds, st.integers(0, 3)), max_size=12), st.sampled_from([1, 8]))


def _keeps_safe_spawn(entries: list[Entry], seq: int) -> bool:
    """No live call, no part of a call group, no reasoning cut from what follows it."""
    inherited = [entry for entry in entries if entry.seq <= seq]
    calls = {entry.call_id for entry in inherited if isinstance(entry, ToolCall)}
    answered = {entry.call_id for entry in inherited if isinstance(entry, ToolResult)}
    return calls == answered and not isinstance(inherited[-1], Reasoning)


@given(logs)
def test_the_highest_cut_that_keeps_safe_spawn(entries: list[Entry]) -> None:
    safe = [entry.seq for entry in entries if _keeps_safe_spawn(entries, entry.seq)]
    assert safe_cut(entries) == max(safe, default=0)


@given(logs)
def test_each_safe_cut_is_known_as_one_and_nothing_else_is(entries: list[Entry]) -> None:
    first = entries[0].seq if entries else 1
    for seq in range(first - 1, first + len(entries) + 2):
        there = any(entry.seq == seq for entry in entries)
        assert is_safe_cut(entries, seq) == (there and _keeps_safe_spawn(entries, seq))


def test_nothing_can_be_cut_off_an_empty_log() -> None:
    assert safe_cut([]) == 0
    assert not is_safe_cut([], 0)
