"""Following a thread: every entry once and in order, from any seq on, whatever comes meanwhile."""

from contextlib import aclosing

from core.changes import Closed
from core.entries import Entry, User
from core.render import plain_text
from tests.contract.commits import made
from tests.contract.commits import user as said
from tests.support.client import Talk, talk
from tests.support.inputs import THREAD, close, result, user
from tests.support.played import calls, says

FETCH = ("fetch", {"url": "a"})


async def _history() -> Talk:
    """A thread of eight entries in five commits; several in one, one alone, none at all."""
    one = talk(calls(FETCH, FETCH, text="I look."), says("done"), says("hi"))
    await one.world.run(user("go", "m1"))
    for call_id in await one.world.live():
        await one.world.run(result(call_id))
    await one.world.run(user("hello", "m2"))
    return one


async def _first(one: Talk, after_seq: int, number: int) -> list[int]:
    """The seqs of so many entries, by another client."""
    seqs: list[int] = []
    async with aclosing(one.another().follow(THREAD, after_seq)) as entries:
        while len(seqs) < number:
            seqs.append((await anext(entries)).seq)
    return seqs


async def test_from_any_seq_on_none_is_missed_and_none_repeated() -> None:
    one = await _history()
    last_seq = (await one.world.state()).last_seq
    assert last_seq > 8
    for after_seq in range(last_seq):
        left = last_seq - after_seq
        assert await _first(one, after_seq, left) == list(range(after_seq + 1, last_seq + 1))
    assert one.clock.slept == []


async def test_whoever_reconnects_after_every_entry_sees_them_all() -> None:
    one = await _history()
    seqs = [0]
    while seqs[-1] < (await one.world.state()).last_seq:
        seqs += await _first(one, seqs[-1], 1)
    assert seqs == list(range(len(seqs)))


async def test_entries_still_to_come_are_waited_for() -> None:
    one = talk(says("hi"), says("again"))
    one.meanwhile(
        lambda: one.world.run(user("hello", "m1")), _nothing, lambda: one.world.run(user("and", "m2"))
    )
    seen: list[Entry] = []
    async with aclosing(one.client.follow(THREAD)) as entries:
        async for entry in entries:
            seen.append(entry)
            if len(seen) == 4:
                break
    assert [entry.seq for entry in seen] == [1, 2, 3, 4]
    assert [plain_text(entry.content) for entry in seen if isinstance(entry, User)] == ["hello", "and"]


async def test_it_ends_with_the_thread() -> None:
    one = await _history()
    last_seq = (await one.world.state()).last_seq
    one.meanwhile(lambda: one.world.run(close()))
    assert [entry.seq async for entry in one.client.follow(THREAD, 3)] == list(range(4, last_seq + 1))
    assert [entry async for entry in one.client.follow(THREAD, last_seq)] == []


async def test_a_thread_is_closed_though_a_later_commit_does_not_say_so() -> None:
    one = talk()
    await one.world.store.commit(made(1, [said("hello")], thread_id=THREAD, changes=[Closed()]))
    await one.world.store.commit(made(2, first_seq=2, thread_id=THREAD))
    assert [entry async for entry in one.client.follow(THREAD, 1)] == []


async def test_a_seq_that_is_not_there_yet_is_waited_for() -> None:
    one = talk(says("hi"), says("again"))
    await one.world.run(user("hello", "m1"))
    one.meanwhile(lambda: one.world.run(user("and", "m2")))
    async with aclosing(one.client.follow(THREAD, 3)) as entries:
        assert (await anext(entries)).seq == 4


async def test_a_look_at_a_thread_without_news_is_one_request() -> None:
    one = await _history()
    costs: list[dict[str, int]] = []

    async def look() -> None:
        costs.append(one.reader.taken())

    one.meanwhile(look, look, look, lambda: one.world.run(close()))
    last_seq = (await one.world.state()).last_seq
    one.reader.taken()
    assert [entry async for entry in one.client.follow(THREAD, last_seq)] == []
    assert costs[1:] == [{"page": 1}] * 2
    assert one.clock.slept == [0.2, 0.3, 0.45, 0.675]


async def _nothing() -> None:
    """Nothing happens."""
