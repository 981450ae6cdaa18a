"""What is stored of a state: own fields, when they change; and what older and newer code left there."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from core.sources import Source
from core.state import AgentState, AppMessage, GlobalState, StateUnfit
from core.state.edits import SetAt, apply_edits
from core.state.rebuilt import MAX_MESSAGE_BYTES
from core.state.stored import BuiltState, build_state, state_change
from tests.support.states import HISTORY, VIEW, Foreign, Mine, Plain, Profile, Renamed, Shown


def built(state_type: type[Any] | None, stored: dict[str, Any] | None = None) -> BuiltState:
    return build_state(state_type, stored, VIEW)


def after(one: BuiltState) -> dict[str, Any]:
    """What is stored after the commit that records what became of a built state."""
    return apply_edits(one.stored, state_change(one).edits)


# ---- building


@pytest.mark.parametrize("state_type", [Mine, Plain, Foreign, Shown, AgentState, None, dict])
@pytest.mark.parametrize("stored", [None, {}])
def test_a_state_nobody_touches_stores_nothing(
    state_type: type[Any] | None, stored: dict[str, Any] | None
) -> None:
    change = state_change(built(state_type, stored))
    assert (change.edits, change.app, change.sources) == ((), (), ())


def test_views_are_rebuilt_wherever_a_type_has_them() -> None:
    assert built(Mine).value.message_history == [*HISTORY]
    assert built(Plain).value.message_history == [*HISTORY]
    assert built(Shown).value.message_history == [*HISTORY]
    agent = built(AgentState, {"query": "why?"}).value
    assert (agent.query, agent.messages, agent.sources) == ("why?", HISTORY, [*VIEW.sources])


def test_a_type_without_message_history_gets_none() -> None:
    assert built(Foreign, {"messages": ["own"]}).value == Foreign(messages=["own"])
    assert built(None).value == {}


def test_what_tools_may_change_is_a_copy() -> None:
    stored: dict[str, Any] = {"list": [1]}
    built(None, stored).value["list"].append(2)
    built(Mine).value.message_history.clear()
    assert stored == {"list": [1]}
    assert VIEW.messages == HISTORY


# ---- what is stored


def test_own_fields_are_stored_when_they_change_and_views_never() -> None:
    one = built(Mine)
    one.value.count = 2
    one.value.profile.tags.append("x")
    one.value.note = None
    stored = after(one)
    assert stored == {"count": 2, "profile": {"name": "", "tags": ["x"]}, "note": None}
    again = built(Mine, stored)
    assert again.value.model_dump(exclude={"messages", "message_history"}) == stored
    assert state_change(again).edits == ()


def test_only_what_changed_is_recorded() -> None:
    one = built(Mine, {"count": 1, "profile": {"name": "n" * 50, "tags": []}, "note": "x" * 50})
    one.value.count += 1
    assert state_change(one).edits == (SetAt(path=("count",), value=2),)


def test_dates_and_strict_types_are_read_as_they_were_written() -> None:
    instant = datetime(2025, 1, 1, tzinfo=UTC)
    strict, plain = built(Foreign), built(Plain)
    strict.value.at = instant
    plain.value.seen.append(instant)
    assert built(Foreign, after(strict)).value.at == instant
    assert built(Plain, after(plain)).value.seen == [instant]


def test_a_plain_dict_is_stored_as_it_is() -> None:
    one = built(None, {"a": 1, "b": {"c": [1]}})
    del one.value["a"]
    one.value["b"]["c"].append({"d": None})
    assert after(one) == {"b": {"c": [1, {"d": None}]}}


def test_fields_go_by_their_names_not_their_aliases() -> None:
    class Aliased(BaseModel):
        count: int = Field(default=0, alias="theCount")

    one = built(Aliased)
    one.value.count = 1
    assert after(one) == {"count": 1}
    assert built(Aliased, {"count": 1}).value.count == 1


def test_app_messages_and_sources_go_where_the_thread_keeps_them() -> None:
    one, agent = built(Mine), built(AgentState)
    one.value.add_message("r", {"k": 1})
    agent.value.add_source("https://b", "B")
    agent.value.add_source("https://a", "again")
    assert state_change(one).app == (AppMessage(role="r", content={"k": 1}),)
    assert state_change(agent).sources == (Source("https://b", "B"),)
    assert (state_change(one).edits, state_change(agent).edits) == ((), ())


def misuse(state: Any, number: int) -> None:
    match number:
        case 0:
            state.messages.pop()
        case 1:
            state.messages[0] = AppMessage(role="r", content="other")
        case 2:
            state.messages.append("no message")
        case 3:
            state.message_history.clear()
        case 4:
            state.count = "many"
        case 5:
            state.note = "x" * 300_000
        case 6:
            state.profile.tags.append({1})
        case 7:
            del state.messages
        case 8:
            state.messages.append(AppMessage(role="r", content={1}))
        case 9:
            state.messages.append(AppMessage(role="r", content="x" * MAX_MESSAGE_BYTES))
        case _:
            state.messages = None


@pytest.mark.parametrize("number", range(11))
def test_what_does_not_fit_is_told(number: int) -> None:
    one = built(Mine)
    misuse(one.value, number)
    with pytest.raises(StateUnfit):
        state_change(one)


@pytest.mark.parametrize("value", [{1}, object(), {1: 2}, [[...]], [10**5000]])
def test_a_plain_dict_holds_json_only(value: Any) -> None:
    one = built(None)
    one.value["k"] = value
    with pytest.raises(StateUnfit):
        state_change(one)


def test_messages_of_a_thread_are_not_appended_by_its_state() -> None:
    one = built(AgentState)
    one.value.append_message("assistant", "hello")
    with pytest.raises(StateUnfit, match="messages"):
        state_change(one)


# ---- older and newer shapes


def test_unknown_stored_fields_are_kept_at_any_depth() -> None:
    stored = {"gone": [1], "count": 1, "profile": {"name": "a", "tags": [], "old": {"x": None}}}
    one = built(Mine, stored)
    one.value.count = 2
    one.value.profile.name = "b"
    kept = after(one)
    assert kept["gone"] == [1]
    assert kept["profile"] == {"name": "b", "tags": [], "old": {"x": None}}
    one = built(Foreign, {"gone": 1, "messages": ["a"]})
    one.value.messages.append("b")
    assert after(one) == {"gone": 1, "messages": ["a", "b"], "at": None}


class Team(BaseModel):
    size: int = 0
    people: list[Profile] = []


def test_what_did_not_change_stays_as_it_was_stored() -> None:
    people = [{"name": "a", "tags": [], "old": 1}, {"name": "b"}]
    one = built(Team, {"size": 1, "people": people})
    one.value.size = 2
    assert state_change(one).edits == (SetAt(path=("size",), value=2),)
    assert after(one)["people"] == people


ANN = {"name": "ann", "tags": [], "old": 1}
BOB = {"name": "bob", "tags": ["x"], "old": 2}
EVE = Profile(name="eve")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda people: people.append(EVE), [ANN, BOB, EVE.model_dump()]),
        (lambda people: people.insert(0, EVE), [EVE.model_dump(), ANN, BOB]),
        (lambda people: people.pop(0), [BOB]),
        (lambda people: (people.pop(0), people.append(EVE)), [BOB, EVE.model_dump()]),
        (lambda people: setattr(people[0], "name", "anna"), [{**ANN, "name": "anna"}, BOB]),
        (lambda people: people[1].tags.append("y"), [ANN, {**BOB, "tags": ["x", "y"]}]),
    ],
    ids=["append", "insert", "pop", "queue", "edit", "edit inside"],
)
def test_unknown_fields_of_items_stay_with_their_items(
    change: Callable[[list[Profile]], object], expected: list[dict[str, Any]]
) -> None:
    one = built(Team, {"size": 2, "people": [ANN, BOB]})
    change(one.value.people)
    assert after(one)["people"] == expected


def test_of_two_items_that_look_alike_the_one_that_was_edited_is_changed() -> None:
    one = built(Team, {"size": 2, "people": [ANN, {**ANN, "old": 3}]})
    one.value.people[0].name = "anna"
    assert after(one)["people"] == [{**ANN, "name": "anna"}, {**ANN, "old": 3}]


class Named(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str


class Crowd(BaseModel):
    names: set[str] = set()
    members: set[Named] = set()


@given(st.permutations("abcdef"), st.sampled_from("abcdef"))
def test_items_of_a_set_come_in_any_order_and_none_takes_anothers_place(order: list[str], gone: str) -> None:
    one = built(Crowd, {"names": order, "members": [{"name": name, "old": name} for name in order]})
    one.value.names.discard(gone)
    one.value.members.discard(Named(name=gone))
    kept = after(one)
    assert sorted(kept["names"]) == sorted({*order} - {gone})
    assert sorted(member["name"] for member in kept["members"]) == sorted({*order} - {gone})
    assert all(member.get("old", member["name"]) == member["name"] for member in kept["members"])


def test_a_field_that_is_now_a_view_is_kept_but_not_read() -> None:
    one = built(Mine, {"messages": ["of another type"]})
    assert [message.content for message in one.value.messages] == ["old"]
    one.value.count = 1
    assert after(one)["messages"] == ["of another type"]


def test_an_older_shape_is_upgraded_and_stored_when_it_changes() -> None:
    one = built(Renamed, {"count": 3, "other": 1})
    assert one.value.total == 3
    assert state_change(one).edits == ()
    one.value.total += 1
    assert after(one) == {"total": 4, "other": 1}
    assert built(Renamed, after(one)).value.total == 4


class BadUpgrade(GlobalState):
    @classmethod
    def state_upgrade(cls, stored: dict[str, Any]) -> Any:
        return stored["missing"] if "raise" in stored else None


@pytest.mark.parametrize(
    ("state_type", "stored"),
    [
        (Mine, {"count": "many"}),
        (Plain, {"count": None}),
        (Foreign, {"messages": 3}),
        (BadUpgrade, {"raise": 1}),
        (BadUpgrade, {"x": 1}),
    ],
)
def test_a_stored_state_that_fits_no_more_is_told(state_type: type[Any], stored: dict[str, Any]) -> None:
    with pytest.raises(StateUnfit):
        build_state(state_type, stored, VIEW)
