"""Questions of running tools: a choice or an authorisation, asked by a `question` message, answered to the worker."""

from datetime import timedelta
from typing import Any

import pytest

from core.clock import iso
from core.entries import ToolResult
from core.errors import Refused
from core.messages import Input
from core.render import plain_text
from tests.support.asking import PAY, answer, asking, closings
from tests.support.inputs import THREAD, delivered, message, result, user
from tests.support.played import calls, says
from tests.support.world import START, WEB, World, world

FETCH = ("fetch", {"url": "u"})  # has 600 s
COLOURS: dict[str, Any] = {"kind": "choice", "prompt": "Which colour?", "choices": ["red", "green"]}
LOGIN: dict[str, Any] = {"kind": "auth", "url": "https://example.org/login?x=1"}


def _question(call_id: str, message_id: str = "q1", **fields: Any) -> Input:
    return message("question", message_id, call_id=call_id, **fields)


async def _asked(**fields: Any) -> tuple[World, str]:
    """A worker's call is live, and its tool has asked this."""
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    report = await one.run(_question(call_id, **fields))
    assert report.inputs == ("accepted",)
    return one, call_id


def _told(one: World) -> list[dict[str, Any]]:
    """What the worker was told after the call."""
    return one.dispatcher.bodies(WEB)[1:]


async def _last_result(one: World) -> ToolResult:
    found = [entry for entry in await one.store.entries(THREAD) if isinstance(entry, ToolResult)]
    return found[-1]


async def test_a_choice_is_put_to_people_and_the_call_stays_live() -> None:
    one, call_id = await _asked(**COLOURS, default="red", expires_in_seconds=60)
    (asked,) = one.dispatcher.of_type("question")
    assert {key: asked[key] for key in (*COLOURS, "default", "call_id", "name")} == {
        **COLOURS,
        "default": "red",
        "call_id": call_id,
        "name": "fetch",
    }
    assert asked["expires_at"] == iso(START + timedelta(seconds=60))
    assert await one.live() == [call_id]
    assert not (await one.state()).runnable


async def test_the_answer_goes_to_the_worker_and_closes_the_question() -> None:
    one, call_id = await _asked(**COLOURS)
    report = await one.run(answer(call_id, choice="green", comment="like grass"))
    assert (report.inputs, report.rounds) == (("accepted",), 0)
    (told,) = _told(one)
    assert {key: told[key] for key in ("type", "thread_id", "call_id", "choice", "comment")} == {
        "type": "tool_answer",
        "thread_id": THREAD,
        "call_id": call_id,
        "choice": "green",
        "comment": "like grass",
    }
    assert closings(one) == [("choice", "answered")]
    await one.run(result(call_id, "painted"))
    assert (await one.lines())[-2:] == ["Result(fetch, painted)", "Asst(done)"]


@pytest.mark.parametrize(("approved", "choice"), [(True, "approved"), (False, "refused")])
async def test_an_authorisation_shows_a_page_and_is_approved_or_refused(approved: bool, choice: str) -> None:
    one, call_id = await _asked(**LOGIN)
    (asked,) = one.dispatcher.of_type("question")
    assert (asked["kind"], asked["url"]) == ("auth", LOGIN["url"])
    await one.run(answer(call_id, approved=approved))
    assert [(told["type"], told["choice"]) for told in _told(one)] == [("tool_answer", choice)]
    assert closings(one) == [("auth", "answered")]


@pytest.mark.parametrize(
    ("fields", "given"),
    [
        (COLOURS, {"choice": "blue"}),
        (COLOURS, {"approved": True}),
        (COLOURS, {}),
        (LOGIN, {"choice": "approved"}),
        (LOGIN, {}),
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_question_open(
    fields: dict[str, Any], given: dict[str, Any]
) -> None:
    one, call_id = await _asked(**fields)
    report = await one.run(answer(call_id, **given))
    assert isinstance(report.inputs[0], Refused)
    assert one.dispatcher.of_type("error")[0]["code"] == "invalid"
    assert (_told(one), closings(one)) == ([], [])
    fits: dict[str, Any] = {"choice": "red"} if fields is COLOURS else {"approved": True}
    assert (await one.run(answer(call_id, "a2", **fits))).inputs == ("accepted",)


async def test_a_second_answer_changes_nothing() -> None:
    one, call_id = await _asked(**COLOURS)
    await one.run(answer(call_id, choice="red"))
    report = await one.run(answer(call_id, "a2", choice="green"))
    assert (report.inputs, len(_told(one)), len(closings(one))) == (("stale",), 1, 1)


async def test_a_tool_may_ask_again_when_it_is_answered_but_not_twice_at_a_time() -> None:
    one, call_id = await _asked(**COLOURS)
    assert (await one.run(_question(call_id, "q2", **LOGIN))).inputs == ("stale",)
    await one.run(answer(call_id, choice="red"))
    assert (await one.run(_question(call_id, "q2", **LOGIN))).inputs == ("accepted",)
    await one.run(answer(call_id, "a2", approved=True))
    assert [told["choice"] for told in _told(one)] == ["red", "approved"]


async def test_a_question_that_comes_twice_is_asked_once() -> None:
    one, call_id = await _asked(**COLOURS)
    await one.run(answer(call_id, choice="red"))
    assert (await one.run(_question(call_id, **COLOURS))).inputs == ("duplicate",)
    assert len(one.dispatcher.of_type("question")) == 1


BAD: dict[str, dict[str, Any]] = {
    "no prompt": {**COLOURS, "prompt": " "},
    "no choices": {**COLOURS, "choices": []},
    "the same choice twice": {**COLOURS, "choices": ["a", "a"]},
    "another default": {**COLOURS, "default": "blue"},
    "a scheme that runs": {"kind": "auth", "url": "javascript:alert(1)"},
    "a file": {"kind": "auth", "url": "file:///etc/passwd"},
    "no host": {"kind": "auth", "url": "https:///path"},
    "a host that is read backwards": {"kind": "auth", "url": "https://evil.example/\u202eelpmaxe.doog"},
    "a host with what is not seen": {"kind": "auth", "url": "https://good\u200b.example"},
    "no url": {"kind": "auth", "url": ""},
    "a broken url": {"kind": "auth", "url": "https://[::1"},
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_question_that_nobody_could_answer_is_refused_and_the_call_goes_on(bad: str) -> None:
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    report = await one.run(_question(call_id, **BAD[bad]))
    assert isinstance(report.inputs[0], Refused)
    assert one.dispatcher.of_type("question") == []
    await one.run(result(call_id))
    assert (await one.lines())[-1] == "Asst(done)"


@pytest.mark.parametrize("whose", ["unknown", "answered", "unapproved", "asleep"])
async def test_a_question_about_a_call_that_no_worker_runs_changes_nothing(whose: str) -> None:
    called = {"unapproved": PAY, "asleep": ("sleep", {"seconds": 60})}.get(whose, FETCH)
    one = world(calls(called), says("done"), app=asking())
    await one.run(user("go"))
    (call_id,) = await one.live()
    if whose == "answered":
        await one.run(result(call_id))
    report = await one.run(_question("call_other" if whose == "unknown" else call_id, **COLOURS))
    assert (report.inputs, report.commits) == (("stale",), 0)


async def test_a_result_closes_the_question_that_its_call_had_open() -> None:
    one, call_id = await _asked(**COLOURS)
    await one.run(result(call_id, "decided by myself"))
    assert closings(one) == [("choice", "interrupted")]
    assert (await one.lines())[-1] == "Asst(done)"
    assert (await one.run(answer(call_id, choice="red"))).inputs == ("stale",)


@pytest.mark.parametrize("wanted", [None, 60, 1e9], ids=str)
async def test_nobody_is_asked_for_longer_than_the_call_has(wanted: float | None) -> None:
    fields = {} if wanted is None else {"expires_in_seconds": wanted}
    one, _ = await _asked(**COLOURS, **fields)
    (asked,) = one.dispatcher.of_type("question")
    assert asked["expires_at"] == iso(START + timedelta(seconds=min(wanted or 600, 600)))


async def _expire(one: World, seconds: float) -> None:
    one.clock.advance(seconds)
    await one.run(delivered(one.dispatcher.once("delay")[-1]))


async def test_at_its_expiry_the_default_is_taken_and_the_model_is_told() -> None:
    one, call_id = await _asked(**COLOURS, default="green", expires_in_seconds=60)
    await _expire(one, 60)
    assert [(told["type"], told["choice"]) for told in _told(one)] == [("tool_answer", "green")]
    assert closings(one) == [("choice", "expired")]
    await one.run(result(call_id, "painted"))
    text = plain_text((await _last_result(one)).content)
    assert text.splitlines()[-1] == "painted"
    assert "green" in text.splitlines()[0]


async def test_every_default_that_was_taken_is_told() -> None:
    one, call_id = await _asked(**COLOURS, default="green", expires_in_seconds=60)
    await _expire(one, 60)
    await one.run(_question(call_id, "q2", **COLOURS, default="red", expires_in_seconds=60))
    await _expire(one, 60)
    await one.run(result(call_id, "painted"))
    text = plain_text((await _last_result(one)).content)
    assert ("green" in text, "red" in text) == (True, True)


@pytest.mark.parametrize("fields", [COLOURS, LOGIN], ids=["choice", "auth"])
async def test_without_a_default_the_call_ends_with_its_question(fields: dict[str, Any]) -> None:
    one, _ = await _asked(**fields, expires_in_seconds=60)
    await _expire(one, 60)
    assert (await one.lines())[-2:] == ["Result(fetch, timed_out)", "Asst(done)"]
    assert [told["type"] for told in _told(one)] == ["tool_cancel"]
    assert closings(one) == [(fields["kind"], "expired")]


async def test_a_default_is_not_taken_when_the_call_has_no_time_left_to_use_it() -> None:
    one, _ = await _asked(**COLOURS, default="red")
    await _expire(one, 600)
    assert (await one.lines())[-2:] == ["Result(fetch, timed_out)", "Asst(done)"]
    assert [told["type"] for told in _told(one)] == ["tool_cancel"]
    assert closings(one) == [("choice", "expired")]


async def test_an_answer_that_can_never_reach_its_worker_ends_the_call() -> None:
    one, call_id = await _asked(**COLOURS)
    one.dispatcher.gone.add(WEB)
    await one.run(answer(call_id, choice="red"))
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(done)"]
    assert closings(one) == [("choice", "answered")]
