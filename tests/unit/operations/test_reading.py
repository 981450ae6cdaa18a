"""Parts of a log for people: of a long one no more is read than is shown, and what comes is given as it comes."""

from core.blocks import text_content
from core.commit import Commit, Erased
from core.entries import Assistant, Entry, User
from core.messages import InputKey
from infra.log_reader import LogPage
from infra.memory import MemoryClock, MemoryStore
from infra.operations.reading import PAGE, coming, last_turns, turns_after
from tests.contract.commits import THREAD, made
from tests.support.world import START

LONG = 1_000
"""Commits."""


class Counting(MemoryStore):
    """Counts what is read."""

    def __init__(self) -> None:
        super().__init__(MemoryClock(START))
        self.requests = self.rows = 0

    async def newest(self, thread_id: str) -> Commit | None:
        self.requests, self.rows = self.requests + 1, self.rows + 1
        return await super().newest(thread_id)

    async def page(self, thread_id: str, number: int, limit: int) -> LogPage:
        page = await super().page(thread_id, number, limit)
        self.requests, self.rows = self.requests + 1, self.rows + len(page.commits)
        return page


def turn(number: int) -> list[Commit]:
    """A turn of two commits: what was said with a first word, and the last word."""
    said: list[Entry] = [User(content=text_content("hi")), Assistant(text="first")]
    first = made(
        2 * number - 1, said, first_seq=3 * number - 2, consumed=[InputKey("user_message", f"m{number}")]
    )
    return [first, made(2 * number, [Assistant(text="last")], first_seq=3 * number)]


async def long_log(turns: int) -> Counting:
    store = Counting()
    for number in range(1, turns + 1):
        for commit in turn(number):
            await store.commit(commit)
    return store


async def test_the_last_turns_of_a_long_log_are_read_from_its_end() -> None:
    store = await long_log(LONG // 2)
    part = await last_turns(store, THREAD, 3)
    assert [commit.number for commit in part.commits] == [*range(LONG - 5, LONG + 1)]
    assert not part.more
    assert (store.requests, store.rows) == (2, 1 + PAGE)


async def test_more_turns_than_a_page_holds_are_read_page_by_page() -> None:
    store = await long_log(LONG // 2)
    part = await last_turns(store, THREAD, 40)
    assert [commit.number for commit in part.commits] == [*range(LONG - 79, LONG + 1)]
    assert store.rows == 1 + 3 * PAGE


async def test_a_page_of_turns_goes_on_behind_the_one_before() -> None:
    store = await long_log(10)
    seen: list[int] = []
    after, more = 0, True
    while more:
        part = await turns_after(store, THREAD, after, 3)
        seen += [commit.number for commit in part.commits]
        after, more = part.commits[-1].last_seq, part.more
    assert seen == [*range(1, 21)]


async def test_an_entry_in_the_middle_of_a_turn_is_gone_on_from() -> None:
    store = await long_log(3)
    assert [commit.number for commit in (await turns_after(store, THREAD, 2, 1)).commits] == [2, 3, 4]
    assert (await turns_after(store, THREAD, 9, 1)).commits == ()


async def test_a_log_that_is_not_there_is_empty() -> None:
    store = Counting()
    assert (await last_turns(store, THREAD, 3)).commits == ()
    assert (await turns_after(store, THREAD, 0, 3)).commits == ()


async def test_what_was_erased_is_no_part_of_the_log_that_began_behind_it() -> None:
    store = await long_log(2)
    await store.commit(
        made(5, first_seq=7, from_number=5).model_copy(update={"erased": Erased(), "erased_seq": 6})
    )
    await store.commit(made(6, [User(content=text_content("again"))], first_seq=7, from_number=5))
    for part in (await last_turns(store, THREAD, 3), await turns_after(store, THREAD, 6, 3)):
        assert [commit.number for commit in part.commits] == [6]


async def test_what_comes_is_given_in_order_and_a_look_is_one_request() -> None:
    store = await long_log(1)

    class Waiting(MemoryClock):
        """Each wait brings another turn."""

        async def sleep(self, seconds: float) -> None:
            assert 0 < seconds <= 5
            for commit in turn(len(store.commits(THREAD)) // 2 + 1):
                await store.commit(commit)

    found: list[int] = []
    async for commits in coming(store, Waiting(START), THREAD, 3, closed=False):
        found += [commit.number for commit in commits]
        if len(found) == 6:
            break
    assert found == [3, 4, 5, 6, 7, 8]
    assert store.requests == 4


async def test_nothing_comes_of_a_closed_thread() -> None:
    store = await long_log(1)
    assert [commits async for commits in coming(store, MemoryClock(START), THREAD, 3, closed=True)] == []


async def test_nothing_comes_behind_the_end_of_an_erased_log() -> None:
    store = await long_log(1)
    ending = made(3, first_seq=4, from_number=3).model_copy(update={"erased": Erased(), "erased_seq": 3})
    await store.commit(ending)

    class Ended(MemoryClock):
        """Nobody waits."""

        async def sleep(self, seconds: float) -> None:
            raise AssertionError(seconds)

    found = [commits async for commits in coming(store, Ended(START), THREAD, 3, closed=False)]
    assert found == [(ending,)]
