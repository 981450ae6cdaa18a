"""A deployment between two slices changes the state type: what fits no more is kept aside, said, and taken back."""

from typing import Any

from pydantic import BaseModel

from core.app import App
from core.changes import StateSetAside, StateTakenBack
from core.commit import Commit
from core.state import GlobalState
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, cancel, close, result, user
from tests.support.played import calls, says
from tests.support.rules import Call
from tests.support.stateful import SEEN, Notes, noting
from tests.support.world import World, world

WRITE: Call = ("write", {"text": "a"})
LOOK: Call = ("look", {})


class Other(GlobalState):
    notes: dict[str, str] = {}
    count: int = 0


class Longer(Notes):
    more: str = "default"


class Renamed(GlobalState):
    notes: list[str] = []
    count: int = 0
    total: int = 0

    @classmethod
    def state_upgrade(cls, stored: dict[str, Any]) -> dict[str, Any]:
        if "count" in stored and "total" not in stored:
            stored["total"] = stored.pop("count")
        return stored


class Mended(Other):
    @classmethod
    def state_upgrade(cls, stored: dict[str, Any]) -> dict[str, Any]:
        if isinstance(stored.get("notes"), list):
            stored["notes"] = dict.fromkeys(stored["notes"], "")
        return stored


async def written(*turns: Any) -> World:
    """A thread that has stored a note."""
    one = world(calls(WRITE), says("ok"), *turns, app=noting())
    await one.run(user("1"))
    return one


def deploy(one: World, state_type: type[BaseModel] | None) -> None:
    one.app = App.of(noting(state_type=state_type))


def changes(one: World) -> list[str]:
    assert isinstance(one.store, MemoryStore)
    log: tuple[Commit, ...] = one.store.commits(THREAD)
    moved = (c for commit in log for c in commit.changes if isinstance(c, StateSetAside | StateTakenBack))
    return [change.op for change in moved]


STORED = {"notes": ["a"], "count": 1}


async def test_a_deployment_between_two_slices_that_changes_the_state_type_sets_what_fits_no_more_aside() -> (
    None
):
    one = await written(calls(LOOK), says("ok"))
    deploy(one, Other)
    await one.run(user("2", "m2"))
    (error,) = one.dispatcher.of_type("error")
    assert (error["code"], error["retryable"]) == ("state", False)
    assert "notes" in error["message"]
    state = await one.state()
    assert (state.stored_state, state.state_aside) == (None, STORED)
    assert (await one.lines())[-2:] == ["Result(look, {} 0)", "Asst(ok)"]


async def test_it_is_said_once() -> None:
    one = await written(says("b"), says("c"))
    deploy(one, Other)
    await one.run(user("2", "m2"))
    await one.run(user("3", "m3"))
    assert (len(one.dispatcher.of_type("error")), changes(one)) == (1, ["state_aside"])


async def test_what_was_set_aside_comes_back_once_it_fits_again() -> None:
    one = await written(says("b"), calls(LOOK), says("c"))
    deploy(one, Other)
    await one.run(user("2", "m2"))
    deploy(one, Mended)
    await one.run(user("3", "m3"))
    assert SEEN[-1].notes == {"a": ""}
    state = await one.state()
    assert (state.stored_state, state.state_aside) == (STORED, None)


async def test_what_was_set_aside_overwrites_nothing_that_was_stored_since() -> None:
    one = await written(calls(("fetch", {"url": "u"})), says("b"), says("c"))
    deploy(one, Other)
    await one.run(user("2", "m2"))
    await one.run(result((await one.live())[0], state_patch={"count": 5}))
    deploy(one, Mended)
    await one.run(user("3", "m3"))
    state = await one.state()
    assert (state.stored_state, state.state_aside) == ({"notes": {}, "count": 5}, STORED)


async def test_a_patch_meets_the_state_type_of_its_own_slice() -> None:
    one = await written(calls(("fetch", {"url": "u"})), says("b"))
    await one.run(user("2", "m2"))
    deploy(one, Other)
    await one.run(result((await one.live())[0], state_patch={"notes": {"k": "v"}}))
    assert (await one.state()).stored_state == {"notes": {"k": "v"}, "count": 0}


async def test_new_fields_begin_with_their_default_and_unknown_stored_ones_are_kept() -> None:
    one = await written(calls(WRITE, LOOK), says("ok"), calls(WRITE), says("ok"))
    deploy(one, Longer)
    await one.run(user("2", "m2"))
    assert SEEN[-1].more == "default"
    deploy(one, Notes)
    await one.run(user("3", "m3"))
    assert (await one.state()).stored_state == {"notes": ["a"] * 3, "count": 3, "more": "default"}
    assert changes(one) == []


async def test_an_older_shape_is_upgraded_whenever_it_is_read_and_stored_when_it_changes() -> None:
    one = await written(calls(LOOK), calls(WRITE), says("ok"))
    deploy(one, Renamed)
    await one.run(user("2", "m2"))
    assert changes(one) == []
    assert (await one.state()).stored_state == {"notes": ["a", "a"], "count": 1, "total": 1}


async def test_a_closed_thread_and_a_new_one_say_nothing() -> None:
    one = await written()
    await one.run(close())
    deploy(one, Other)
    await one.run(cancel())
    assert changes(one) == []
    assert [error["code"] for error in one.dispatcher.of_type("error")] == ["closed"]
