"""`HistoryManager` beyond the conformance behaviours: deferral, events, subscriptions, committing, settling."""

import pytest

from core.blocks import text_content
from core.changes import CallOpened
from core.chunks import CallChunk, TextChunk
from core.entries import Assistant, Event
from core.errors import LostRace, MisuseError, NotSettled
from core.history import HistoryManager
from core.messages import InputKey
from core.outbox import SendCancel, SendError
from core.thread import Subscription
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD
from tests.support.lines import lines
from tests.support.threads import answer, calling, empty, reload, take_turn, text
from tests.support.world import START


class Case:
    """A store and its clock."""

    def __init__(self) -> None:
        self.clock = MemoryClock(START)
        self.store = MemoryStore(self.clock)

    async def empty(self) -> HistoryManager:
        return await empty(self.store, self.clock)

    async def calling(self, *tools: str) -> HistoryManager:
        return await calling(self.store, self.clock, *tools)


def _event(words: str, call_id: str = "c0") -> Event:
    return Event(call_id=call_id, name="watch", content=text_content(words))


async def test_events_wait_for_work_and_interrupt_what_is_passive() -> None:
    manager = await Case().calling("work", "sleep")
    work, sleep = manager.live_calls
    manager.draft.record(CallOpened(call_id=sleep, passive=True))
    with pytest.raises(MisuseError):
        manager.handle_content(_event("too early"), "e1")
    assert manager.defer_content(_event("waits"), "e1") is True
    assert manager.defer_content(_event("waits"), "e1") is False
    manager.handle_content(answer(work), "r1")
    assert lines(manager.history)[-3:] == [
        "Result(work, out)",
        "Result(sleep, interrupted)",
        "Event(c0, waits)",
    ]
    assert manager.take_interrupted_tool_calls() == [sleep]
    assert manager.state.owes_to == "e1"


async def test_an_event_wakes_a_thread_that_only_sleeps() -> None:
    manager = await Case().calling("sleep")
    (sleep,) = manager.live_calls
    manager.draft.record(CallOpened(call_id=sleep, passive=True))
    assert manager.handle_content(_event("now"), "e1") is True
    assert lines(manager.history)[-2:] == ["Result(sleep, interrupted)", "Event(c0, now)"]


async def test_interrupting_tells_the_workers_and_nobody_else() -> None:
    manager = await Case().calling("work", "sleep")
    work, sleep = manager.live_calls
    manager.draft.record(CallOpened(call_id=work, worker="web"))
    manager.draft.record(CallOpened(call_id=sleep, passive=True))
    manager.handle_content(text("stop"), "m2")
    commit = await manager.sync()
    assert commit is not None
    assert commit.outbox == (SendCancel(call_id=work, worker="web"),)


async def test_a_closed_thread_takes_nothing() -> None:
    manager = await Case().empty()
    manager.draft.set_state(closed=True)
    assert manager.handle_content(text("hi"), "m1") is False
    assert manager.handle_content(_event("hi"), "e1") is False
    assert manager.defer_content(text("hi"), "m2") is False
    assert (manager.history, manager.draft.consumed) == ((), [])


async def test_what_is_no_input_is_a_bug() -> None:
    manager = await Case().empty()
    with pytest.raises(MisuseError):
        manager.handle_content(Assistant(text="hi"), "m1")
    assert manager.history == ()


async def test_no_completion_while_calls_are_live() -> None:
    manager = await Case().calling("work")
    with pytest.raises(MisuseError):
        manager.handle_completion(TextChunk("hi"))


async def test_a_bare_message_id_is_looked_up_under_every_marked_type() -> None:
    case = Case()
    manager = await case.empty()
    manager.handle_content(text("one"), "m1")
    await manager.sync()
    manager.handle_content(text("two"), "m2")
    await manager.sync()
    again = await HistoryManager.new_with_history(case.store, THREAD, ["m1"], clock=case.clock)
    assert again.seen(InputKey("user_message", "m1")) is not None
    assert again.seen(InputKey("cancel", "m1")) is None
    blind = await HistoryManager.new_with_history(case.store, THREAD, clock=case.clock)
    assert blind.seen(InputKey("user_message", "m1")) is None
    assert blind.seen(InputKey("user_message", "m2")) is not None


async def test_subscriptions_are_tracked_once_kept_and_removed() -> None:
    case = Case()
    manager = await case.empty()
    manager.handle_content(text("go"), "m1")
    (call_id,) = take_turn(manager, CallChunk("watch", {"topic": "t"}))
    manager.track_subscription(call_id)
    manager.track_subscription(call_id)
    await manager.sync()
    again = await reload(manager, case.store, case.clock)
    assert list(again.active_subscriptions) == [call_id]
    assert again.state.subscriptions == (Subscription(call_id=call_id, name="watch", args={"topic": "t"}),)
    again.remove_subscription("call_other")
    assert again.draft.is_empty
    again.remove_subscription(call_id)
    again.remove_subscription(call_id)
    assert list(again.active_subscriptions) == []
    with pytest.raises(MisuseError):
        again.track_subscription("call_other")


async def test_nothing_pending_writes_nothing() -> None:
    case = Case()
    manager = await case.empty()
    assert await manager.sync() is None
    manager.handle_content(text("hi"), "m1")
    assert await manager.sync() is not None
    assert await manager.sync() is None
    assert len(case.store.commits(THREAD)) == 1


async def test_what_sends_nothing_settles_itself() -> None:
    case = Case()
    manager = await case.empty()
    manager.handle_content(text("hi"), "m1")
    await manager.sync()
    loaded = await case.store.load(THREAD, [InputKey("user_message", "m1")])
    assert (loaded.tip, len(loaded.markers)) == (1, 1)
    assert manager.unsettled is None


async def test_the_next_commit_waits_until_messages_are_out() -> None:
    case = Case()
    manager = await case.empty()
    manager.handle_content(text("hi"), "m1")
    manager.draft.send(SendError(code="model", message="sorry"))
    commit = await manager.sync()
    assert commit is not None
    assert manager.unsettled == commit
    for stale in (manager, await reload(manager, case.store, case.clock)):
        stale.handle_content(text("more"), "m2")
        with pytest.raises(NotSettled):
            await stale.sync()
    assert len(case.store.commits(THREAD)) == 1
    manager.note_settled(commit)
    await manager.sync()
    assert len(case.store.commits(THREAD)) == 2


async def test_of_two_managers_the_second_loses_and_a_new_one_wins() -> None:
    case = Case()
    one, two = await case.empty(), await case.empty()
    one.handle_content(text("one"), "m1")
    await one.sync()
    two.handle_content(text("two"), "m2")
    with pytest.raises(LostRace):
        await two.sync()
    again = await reload(two, case.store, case.clock)
    again.handle_content(text("two"), "m2")
    await again.sync()
    assert lines(await case.store.entries(THREAD)) == ["User(one)", "User(two)"]


async def test_a_root_stands_alone_in_its_stack() -> None:
    manager = await Case().empty()
    assert (manager.thread_ancestors, manager.thread_stack) == ((), (THREAD,))


async def test_two_logs_under_one_id_have_different_births_and_calls() -> None:
    calls: list[str] = []
    for message_id in ("m1", "m2"):
        manager = await Case().empty()
        manager.handle_content(text("go"), message_id)
        calls += take_turn(manager, CallChunk("look", {}))
    assert len(set(calls)) == 2
