"""Deployments under a supervised thread: routes go, the supervisor comes or goes, and whoever answers now plays on."""

import pytest

from core.agent import Agent
from core.app import App
from core.outbox import SendSpawn
from core.settings import Limits
from core.slice.notices import RouteTaken
from core.supervisor import Player, Supervisor
from core.tools import tool
from infra.memory import MemoryStore
from tests.support.inputs import THREAD, message, result, user
from tests.support.played import USAGE, calls, says
from tests.support.world import World, agent, echo, fetch, world

ORDERS = agent("orders", model="test:orders", tools=(fetch,))
BILLS = agent("bills", model="test:bills", tools=(fetch,))
FETCH = ("fetch", {"url": "u"})
SPAWN = ("spawn_thread", {"instructions": "count", "child_of": [THREAD], "inherit": False})


def desk(**routes: Player) -> App:
    return App([Supervisor("desk", routes, model="test:desk"), BILLS])


def models(one: World) -> list[str]:
    return [request.model.removeprefix("test:") for request in one.model.requests]


def spawned(one: World) -> list[SendSpawn]:
    assert isinstance(one.store, MemoryStore)
    return [m for c in one.store.commits(THREAD) for m in c.outbox if isinstance(m, SendSpawn)]


async def routed_to_bills(*turn: object) -> World:
    one = world(says("billing"), turn, app=desk(orders=ORDERS, billing=BILLS))  # type: ignore[arg-type]
    await one.run(user("what do I owe?"))
    return one


async def test_a_turn_whose_route_is_gone_is_classified_again_and_names_the_route_that_answers() -> None:
    one = await routed_to_bills(*calls(FETCH))
    one.app = desk(orders=ORDERS, refunds=agent("refunds", model="test:refunds"))
    one.model.play(says("refunds"), says("done"))
    await one.run(result((await one.live())[0]))
    assert models(one)[2:] == ["desk", "refunds"]
    classified = str(one.model.requests[2].messages)
    assert "what do I owe?" in classified
    assert "came from" not in classified
    assert one.dispatcher.outputs[-1]["route"] == "refunds"
    assert [event.route for event in one.observer.events if isinstance(event, RouteTaken)][-1] == "refunds"


async def test_an_approval_of_what_a_gone_route_asked_for_is_told_so_and_the_text_finds_another() -> None:
    pay = tool(inline=True, requires_approval=True)(echo)
    one = world(says("cash"), calls(("echo", {"text": "5"})), app=desk(cash=agent("cash", tools=(pay,))))
    await one.run(user("pay"))
    (call,) = await one.live()
    one.app = desk(orders=ORDERS, billing=BILLS)
    one.model.play(says("billing"), says("done"))
    await one.run(message("answer", "a1", call_id=call, approved=True))
    assert (await one.lines())[-2:] == ["Result(echo, error)", "Asst(done)"]
    assert one.dispatcher.outputs[-1]["route"] == "billing"


async def test_a_route_below_that_became_an_agent_is_chosen_again() -> None:
    below = Supervisor("below", {"billing": BILLS}, model="test:below")
    one = world(says("shop"), says("billing"), calls(FETCH), app=desk(orders=ORDERS, shop=below))
    await one.run(user("what do I owe?"))
    one.app = desk(orders=ORDERS, shop=BILLS)
    one.model.play(says("shop"), says("done"))
    await one.run(result((await one.live())[0]))
    assert models(one)[3:] == ["desk", "bills"]
    assert one.dispatcher.outputs[-1]["route"] == "shop"


async def test_a_classification_without_new_text_renews_no_credit() -> None:
    one = await routed_to_bills(*calls(FETCH))
    before = (await one.state()).credit
    assert before is not None
    rich = agent("rich", model="test:rich", limits=Limits(tokens=9_000_000))
    one.app = desk(orders=ORDERS, rich=rich)
    one.model.play(says("rich"), says("done"))
    await one.run(result((await one.live())[0]))
    assert (await one.state()).credit == before - 2 * USAGE.total


@pytest.mark.parametrize("now", [BILLS, agent("helper", model="test:helper")])
async def test_a_supervisor_that_became_an_agent_leaves_no_route_behind(now: Agent) -> None:
    one = await routed_to_bills(*says("5"))
    one.app = App([now, BILLS] if now is not BILLS else [now])
    one.model.play(calls(SPAWN), says("later"))
    await one.run(user("count", "m2"))
    assert models(one)[2:] == [now.model.removeprefix("test:")] * 2
    assert "route" not in one.dispatcher.outputs[-1]
    assert [spawn.agent for spawn in spawned(one)] == [now.name]


async def test_an_agent_that_became_a_supervisor_has_its_next_text_classified() -> None:
    one = world(calls(FETCH), app=agent("helper", model="test:helper"))
    await one.run(user("what do I owe?"))
    one.app = desk(orders=ORDERS, billing=BILLS)
    one.model.play(says("billing"), says("5"))
    await one.run(result((await one.live())[0]))
    assert models(one)[1:] == ["desk", "bills"]
    assert "what do I owe?" in str(one.model.requests[1].messages)


async def test_whoever_answers_now_summarises_and_hears_of_events() -> None:
    one = await routed_to_bills(*calls(FETCH))
    (call,) = await one.live()
    one.model.play(says("subscribed"))
    await one.run(result(call, subscription=True))
    one.app = App([agent("helper", model="test:helper"), BILLS])
    await one.run(message("subscription_event", "e1", call_id=call, content="paid"))
    await one.run(message("compact", "c1"))
    assert [spawn.agent for spawn in spawned(one)] == ["helper", "helper"]
