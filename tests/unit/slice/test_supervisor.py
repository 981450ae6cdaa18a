"""A supervised thread: who answers, what a classification sees and costs, and what becomes of it when it fails."""

from datetime import datetime
from functools import partial
from typing import Any

from core.errors import ModelRefused, ModelUnavailable
from core.outbox import SendAnswer
from core.request import ModelRequest, RequestMessage
from core.settings import Limits
from core.slice import run_slice
from core.slice.notices import RouteTaken
from core.supervisor import Supervisor
from core.thread import Summary
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, delivered, result, user
from tests.support.played import USAGE, Turn, calls, fails, says
from tests.support.world import World, agent, echo, fetch, world

ORDERS = agent("orders", model="test:orders", instructions="You know the orders.", tools=(fetch,))
BILLS = agent("bills", model="test:bills", instructions="You know the bills.", tools=(echo,))
SUPERVISOR = Supervisor("desk", {"orders": ORDERS, "billing": BILLS}, window=2, model="test:desk")


def desk(*turns: Turn, **changes: Any) -> World:
    fields: dict[str, Any] = {"name": "desk", "routes": SUPERVISOR.routes, "window": 2, "model": "test:desk"}
    return world(*turns, app=Supervisor(**(fields | changes)))


async def pass_time(one: World) -> None:
    one.clock.advance(seconds=55)


def seconds_since(one: World, instant: datetime) -> float:
    return (one.clock.now() - instant).total_seconds()


def text_of(message: RequestMessage) -> str:
    return "\n".join(getattr(part, "text", "") for part in message.parts)


def asked(one: World) -> list[str]:
    """What each classification saw."""
    return [text_of(request.messages[0]) for request in one.model.requests if request.model == "test:desk"]


def models(one: World) -> list[str]:
    return [request.model.removeprefix("test:") for request in one.model.requests]


async def test_the_chosen_specialist_answers_with_its_own_model_instructions_and_tools() -> None:
    one = desk(says("billing"), says("You owe nothing."))
    await one.run(user("what do I owe?"))
    request = one.model.requests[1]
    assert (request.model, request.instructions) == ("test:bills", "You know the bills.")
    names = {spec.name for spec in request.tools}
    assert "echo" in names
    assert "fetch" not in names
    assert await one.lines() == ["User(what do I owe?)", "Asst(You owe nothing.)"]


async def test_a_follow_up_is_classified_with_the_recap_and_the_route_before() -> None:
    one = desk(
        says("billing"), says("Nothing."), says("orders"), says("Shipped."), says("billing"), says("No.")
    )
    for number, text in enumerate(("what do I owe?", "and my order?", "what about mine?"), 1):
        await one.run(user(text, f"m{number}"))
    first, second, third = asked(one)
    assert "(no prior turns)" in first
    assert "user: what do I owe?\nassistant: Nothing." in second
    assert "came from: billing" in second
    assert "came from: orders" in third
    assert models(one) == ["desk", "bills", "desk", "orders", "desk", "bills"]


async def test_a_classification_sees_no_more_than_its_window_and_has_no_tools() -> None:
    one = desk(says("orders"), says("FIRST"), says("orders"), says("SECOND"), says("orders"), says("x"))
    for number, text in enumerate(("ONE", "TWO", "THREE"), 1):
        await one.run(user(text, f"m{number}"))
    last = asked(one)[-1]
    assert "TWO" in last
    assert "SECOND" in last
    assert "THREE" in last
    assert "ONE" not in last
    assert "FIRST" not in last
    assert all(request.tools == () for request in one.model.requests if request.model == "test:desk")


async def test_an_unknown_empty_or_called_answer_falls_to_the_default() -> None:
    for answer in (
        says("the weather"),
        says(""),
        says(" \n"),
        calls(("orders", {})),
        says("billing or orders"),
    ):
        one = desk(answer, says("done"), default="billing")
        await one.run(user("hi"))
        assert models(one) == ["desk", "bills"]


async def test_an_answer_may_be_dressed_up() -> None:
    for answer in ("Billing", " `billing`. ", '"billing"\n', "**billing**"):
        one = desk(says(answer), says("done"))
        await one.run(user("hi"))
        assert models(one) == ["desk", "bills"], answer


async def test_the_route_is_stored_with_the_turn_and_shown_in_outputs_and_to_observers() -> None:
    one = desk(says("billing"), says("done"))
    await one.run(user("hi"))
    route = (await one.state()).route
    assert route is not None
    assert (route.name, route.agent) == ("billing", "bills")
    (output,) = one.dispatcher.outputs
    assert output["route"] == "billing"
    assert [event.route for event in one.observer.events if isinstance(event, RouteTaken)] == ["billing"]
    assert "billing" not in "".join(getattr(event, "text", "") for event in one.observer.events)


async def test_classifying_costs_no_request_more_and_its_tokens_are_counted_once() -> None:
    one = desk(says("billing"), says("done"))
    report = await one.run(user("hi"))
    assert (report.rounds, report.commits) == (1, 1)
    assert report.usage == USAGE.plus(USAGE)
    limit = BILLS.limits.tokens
    assert (await one.state()).credit == limit - 2 * USAGE.total
    (output,) = one.dispatcher.outputs
    assert output["usage"] == USAGE.plus(USAGE).model_dump()
    assert (await one.state()).past_usage == (USAGE,)


async def test_only_user_messages_are_classified_not_results_nor_later_rounds() -> None:
    one = desk(says("orders"), calls(("fetch", {"url": "u"})), says("Here."))
    await one.run(user("where?"))
    (call,) = await one.live()
    await one.run(result(call))
    assert models(one) == ["desk", "orders", "orders"]
    assert [output.get("route") for output in one.dispatcher.outputs if output.get("final")] == ["orders"]


async def test_user_text_that_interrupts_is_classified_anew() -> None:
    one = desk(says("orders"), calls(("fetch", {"url": "u"})), says("billing"), says("You owe 5."))
    await one.run(user("where?"))
    await one.run(user("rather: what do I owe?", "m2"))
    assert models(one) == ["desk", "orders", "desk", "bills"]


async def test_a_route_is_paid_for_once_though_its_turn_has_to_wait() -> None:
    busy = ModelUnavailable("busy")
    one = desk(says("billing"), *[fails(busy)] * 3)
    await one.run(user("hi"))
    assert models(one) == ["desk", "bills", "bills", "bills"]
    one.model.play(says("done"))
    one.clock.advance(seconds=60)
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert models(one)[4:] == ["bills"]


async def test_a_classification_is_tried_again_and_when_all_tries_fail_the_default_answers() -> None:
    hasty = agent("hasty", model="test:orders", limits=Limits(model_tries=4))
    one = desk(*[fails(ModelUnavailable("busy"))] * 3, routes={"orders": hasty})
    await one.run(user("hi"))
    assert (await one.state()).route is None
    one.model.play(fails(ModelUnavailable("busy")), says("done"))
    one.clock.advance(seconds=60)
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert models(one) == ["desk"] * 4 + ["orders"]
    assert (await one.lines())[-1] == "Asst(done)"


async def test_a_refused_classification_falls_to_the_default() -> None:
    one = desk(fails(ModelRefused("no")), says("done"))
    await one.run(user("hi"))
    assert models(one) == ["desk", "orders"]


async def test_what_no_credit_is_left_for_is_not_asked() -> None:
    broke = agent("broke", model="test:orders", limits=Limits(tokens=100))
    one = desk(says("last words"), routes={"orders": broke})
    await one.run(user("hi"))
    assert models(one) == ["orders"]


async def test_each_specialists_own_limit_is_the_credit_of_its_turn() -> None:
    poor = agent("poor", model="test:poor", limits=Limits(tokens=50_000))
    one = desk(says("poor"), says("a"), says("orders"), says("b"), routes={"orders": ORDERS, "poor": poor})
    await one.run(user("hi"))
    assert (await one.state()).credit == 50_000 - 2 * USAGE.total
    await one.run(user("and", "m2"))
    assert (await one.state()).credit == ORDERS.limits.tokens - 2 * USAGE.total


async def test_without_time_for_the_turn_the_route_is_kept_and_a_wake_goes_on() -> None:
    one = desk(says("billing"))
    one.model.on_request = partial(pass_time, one)
    begun = one.clock.now()
    await run_slice(
        one.app, one.ports, THREAD, [user("hi")], seconds_left=lambda: 60 - seconds_since(one, begun)
    )
    assert models(one) == ["desk"]
    assert (await one.state()).owes
    one.model.play(says("done"))
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert models(one) == ["desk", "bills"]


async def test_a_summary_precedes_the_window_if_that_is_wanted() -> None:
    for wanted in (True, False):
        one = desk(says("orders"), says("FIRST"), says("orders"), says("x"), with_summary=wanted)
        await one.run(user("ONE"))
        manager = await one.manager()
        manager.apply_compaction(Summary("they spoke of apples", 2))
        await manager.sync()
        await one.run(user("TWO", "m2"))
        assert ("they spoke of apples" in asked(one)[-1]) == wanted
        assert "ONE" not in asked(one)[-1]


async def test_a_supervisor_below_another_is_asked_in_turn() -> None:
    top = Supervisor("top", {"shop": SUPERVISOR, "bills": BILLS}, model="test:top")
    one = world(says("shop"), says("billing"), says("done"), says("shop"), says("orders"), says("x"), app=top)
    await one.run(user("hi"))
    await one.run(user("and", "m2"))
    assert models(one) == ["top", "desk", "bills", "top", "desk", "orders"]
    assert "came from: shop" in text_of(one.model.requests[3].messages[0])
    assert "came from: billing" in text_of(one.model.requests[4].messages[0])
    route = (await one.state()).route
    assert route is not None
    assert route.name == "shop/orders"


async def test_children_are_played_by_the_specialist_that_spawned_them() -> None:
    spawn = ("spawn_thread", {"instructions": "count", "child_of": [THREAD], "inherit": False})
    one = desk(says("billing"), calls(spawn))
    one.model.play(says("later"))
    await one.run(user("hi"))
    assert isinstance(one.store, MemoryStore)
    (sent,) = [m for m in one.dispatcher.internal if '"spawn"' in m.body]
    assert '"agent":"bills"' in sent.body


async def test_two_people_in_one_thread_are_told_apart_by_the_authors_template() -> None:
    template = "[{user_id}] {content}"
    seller = agent("seller", model="test:seller", message_template=template)
    one = desk(says("s"), says("A1"), says("s"), says("B2"), routes={"s": seller})
    await one.run(user("mine is A", metadata={"user_id": "ann"}))
    await one.run(user("and mine?", "m2", metadata={"user_id": "bob"}))
    assert "user: [ann] mine is A" in asked(one)[-1]
    assert "[bob] and mine?" in asked(one)[-1]
    texts = [text_of(message) for message in _last(one).messages]
    assert texts == ["[ann] mine is A", "A1", "[bob] and mine?"]
    assert (await one.lines())[0] == "User(mine is A)"


def _last(one: World) -> ModelRequest:
    return one.model.requests[-1]


async def test_what_a_filter_blocked_is_not_shown_to_a_classification() -> None:
    one = desk(says("orders"), says("BLOCKED", stop_reason="guardrail_intervened"), says("orders"), says("x"))
    await one.run(user("SECRET"))
    await one.run(user("go on", "m2"))
    assert "SECRET" not in asked(one)[-1]


async def test_answers_of_agents_without_a_supervisor_name_no_route() -> None:
    one = world(says("done"))
    await one.run(user("hi"))
    assert isinstance(one.store, MemoryStore)
    (answer,) = [m for c in one.store.commits(THREAD) for m in c.outbox if isinstance(m, SendAnswer)]
    assert (answer.route, answer.routing) == (None, None)
