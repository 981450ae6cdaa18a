"""`PermanentHistory`: one test for every sentence that is promised of it."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from core.blocks import ImageBlock, JsonBlock, TextBlock
from core.entries import AppEntry, Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, TurnEnd, User
from core.history import PermanentHistory
from core.history.permanent import PAGE_ENTRIES
from infra.memory import MemoryClock
from tests.contract.commits import THREAD, made
from tests.contract.stores import START, MemoryStores

T0 = START.timestamp()


@pytest.fixture
def clock() -> MemoryClock:
    return MemoryClock(START)


@pytest.fixture
def history(clock: MemoryClock) -> PermanentHistory:
    return PermanentHistory(clock)


def said(history: PermanentHistory) -> list[tuple[str, Any]]:
    return [(turn["role"], turn["content"]) for turn in history.get_all_turns()]


def test_a_turn_has_role_content_timestamp_and_metadata(history: PermanentHistory) -> None:
    history.add_turn_user("hi", {"channel": "web"})
    history.add_turn_assistant("hello")
    assert history.get_all_turns() == [
        {"role": "user", "content": "hi", "timestamp": T0, "metadata": {"channel": "web"}},
        {"role": "assistant", "content": "hello", "timestamp": T0, "metadata": {}},
    ]


@pytest.mark.parametrize("first", [None, {}, {"a": 1}])
def test_a_user_turn_without_metadata_joins_the_users_turn_before(
    history: PermanentHistory, first: dict[str, Any] | None
) -> None:
    history.add_turn_user("one", first)
    history.add_turn_user("two")
    history.add_turn_user("three", None)
    assert said(history) == [("user", "one\ntwo\nthree")]
    assert history.get_all_turns()[0]["metadata"] == (first or {})


@pytest.mark.parametrize("metadata", [{}, {"a": 1}])
def test_a_user_turn_with_any_metadata_is_a_new_one(
    history: PermanentHistory, metadata: dict[str, Any]
) -> None:
    history.add_turn_user("one")
    history.add_turn_user("two", metadata)
    assert said(history) == [("user", "one"), ("user", "two")]


def test_a_user_turn_after_the_assistants_is_a_new_one(history: PermanentHistory) -> None:
    history.add_turn_user("one")
    history.add_turn_assistant("two")
    history.add_turn_user("three")
    assert said(history) == [("user", "one"), ("assistant", "two"), ("user", "three")]


def test_an_assistant_turn_is_always_a_new_one(history: PermanentHistory) -> None:
    history.add_turn_assistant("one")
    history.add_turn_assistant("two", {"model": "m"})
    history.add_turn_assistant("three", None)
    turns = history.get_all_turns()
    assert [turn["content"] for turn in turns] == ["one", "two", "three"]
    assert [turn["metadata"] for turn in turns] == [{}, {"model": "m"}, {}]


def test_texts_and_blocks_join_as_blocks(history: PermanentHistory) -> None:
    history.add_turn_user("look")
    history.add_turn_user([{"type": "json", "data": [1]}])
    history.add_turn_user("there")
    text = [
        {"type": "text", "text": "look"},
        {"type": "json", "data": [1]},
        {"type": "text", "text": "there"},
    ]
    assert said(history) == [("user", text)]


def test_what_is_handed_out_and_in_is_a_deep_copy(history: PermanentHistory) -> None:
    metadata: dict[str, Any] = {"tags": ["a"]}
    blocks: list[dict[str, Any]] = [{"type": "json", "data": [1]}]
    history.add_turn_user(blocks, metadata)
    history.add_turn_user(blocks)
    before = json.dumps(history.get_all_turns())
    metadata["tags"].append("b")
    blocks[0]["data"].append(2)
    for turns in (history.get_all_turns(), history.get_turns_since(0)):
        turns[0]["metadata"]["tags"].append("c")
        turns[0]["content"] = "gone"
        turns.clear()
    assert json.dumps(history.get_all_turns()) == before


def test_turns_since_an_instant_are_those_after_it(history: PermanentHistory, clock: MemoryClock) -> None:
    for number in range(3):
        history.add_turn_assistant(str(number))
        clock.advance(1.5)
    assert [turn["content"] for turn in history.get_turns_since(T0)] == ["1", "2"]
    assert [turn["content"] for turn in history.get_turns_since(T0 + 1.5)] == ["2"]
    assert len(history.get_turns_since(T0 - 0.001)) == 3
    assert history.get_turns_since(T0 + 3) == []


def test_what_joins_a_turn_is_not_missed_by_who_has_seen_its_beginning(
    history: PermanentHistory, clock: MemoryClock
) -> None:
    history.add_turn_user("one")
    clock.advance(1)
    history.add_turn_user("two")
    assert [turn["content"] for turn in history.get_turns_since(T0)] == ["one\ntwo"]


def test_turns_stay_in_the_order_of_time_when_a_clock_is_set_back() -> None:
    clock = MemoryClock(START)
    history = PermanentHistory(clock)
    history.add_turn_user("one")
    clock.advance(60)
    history.add_turn_assistant("two")
    clock._now = START
    history.add_turn_user("three")
    history.add_turn_user("four")
    assert [turn["timestamp"] for turn in history.get_all_turns()] == [T0, T0 + 60, T0 + 60]


CALL = ToolCall(call_id="c", name="t")
LOG: Sequence[Entry] = (
    User(content=(TextBlock(text="one"), TextBlock(text="more"))),
    User(content=(TextBlock(text="two"),)),
    TurnEnd(reason="failed"),
    User(content=(TextBlock(text="three"),), metadata={}),
    Reasoning(text="hm", signature="s"),
    Assistant(text="let me see"),
    CALL,
    ToolResult(call_id="c", content=(TextBlock(text="out"),)),
    Event(call_id="c", name="t", content=(TextBlock(text="ping"),)),
    AppEntry(role="note", content=(TextBlock(text="ours"),)),
    Assistant(text="there"),
    User(
        content=(TextBlock(text="see"), JsonBlock(data=[1]), ImageBlock(media_type="image/png", data="aGk="))
    ),
)


async def test_a_log_becomes_turns() -> None:
    async with MemoryStores().open() as opened:
        await opened.store.commit(made(1, LOG[:6]))
        await opened.store.commit(made(2, LOG[6:], first_seq=7))
        history = await PermanentHistory.from_thread(opened.store, THREAD)
        nothing = await PermanentHistory.from_thread(opened.store, "unknown")
    assert said(history) == [
        ("user", "one\nmore\ntwo"),
        ("user", "three"),
        ("assistant", "let me see"),
        ("assistant", "there"),
        (
            "user",
            [
                {"type": "text", "text": "see"},
                {"type": "json", "data": [1]},
                {"type": "image", "media_type": "image/png", "data": "aGk="},
            ],
        ),
    ]
    assert nothing.get_all_turns() == []


async def test_a_long_log_is_read_page_by_page() -> None:
    asked: list[tuple[int, int]] = []
    async with MemoryStores().open() as opened:
        count = 2 * PAGE_ENTRIES + 1
        await opened.store.commit(made(1, [Assistant(text=str(number)) for number in range(count)]))
        entries = opened.store.entries

        async def watched(thread_id: str, after_seq: int = 0, limit: int = 1000) -> tuple[Entry, ...]:
            asked.append((after_seq, limit))
            return await entries(thread_id, after_seq, limit)

        opened.store.entries = watched  # type: ignore[method-assign]
        history = await PermanentHistory.from_thread(opened.store, THREAD)
    assert [turn["content"] for turn in history.get_all_turns()] == [str(number) for number in range(count)]
    starts = [0, PAGE_ENTRIES, 2 * PAGE_ENTRIES, count]
    assert asked == [(start, PAGE_ENTRIES) for start in starts]


async def test_a_history_from_a_log_goes_on_by_itself() -> None:
    async with MemoryStores().open() as opened:
        await opened.store.commit(made(1, LOG[:1]))
        clock = MemoryClock(START)
        clock.advance(5)
        history = await PermanentHistory.from_thread(opened.store, THREAD, clock=clock)
        history.add_turn_assistant("hello")
        assert len(await opened.store.entries(THREAD)) == 1
    assert [turn["timestamp"] - T0 for turn in history.get_all_turns()] == [0, 5]
