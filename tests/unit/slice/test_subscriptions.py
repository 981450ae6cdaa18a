"""Results that open a subscription, and what ends it: its last event, `cancel_subscription`, the end of its thread."""

from core.changes import SubscriptionOpened
from core.history.subscriptions import MAX_SUBSCRIPTIONS, NOT_OPENED
from core.thread import Subscription
from core.tools import ToolResult, tool
from tests.support.inputs import close, message, result, user
from tests.support.played import calls, says
from tests.support.world import TOOLS, WEB, World, agent, world

FETCH = ("fetch", {"url": "u"})


async def _subscribed() -> tuple[World, str]:
    one = world(calls(FETCH), says("watching"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(result(call_id, "subscribed", subscription=True))
    return one, call_id


def _told(one: World) -> list[str]:
    """What the worker was told."""
    return [body["type"] for body in one.dispatcher.bodies(WEB)]


async def test_a_workers_result_opens_a_subscription() -> None:
    one, call_id = await _subscribed()
    opened = Subscription(call_id=call_id, name="fetch", args={"url": "u"}, worker="web")
    assert (await one.state()).subscriptions == (opened,)
    assert (await one.state()).waiting is True


async def test_a_late_result_opens_none() -> None:
    one = world(calls(FETCH), says("fine"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(user("never mind", "m2"))
    await one.run(result(call_id, subscription=True))
    assert (await one.state()).subscriptions == ()


async def test_closing_ends_it_and_its_worker_is_told() -> None:
    one, _ = await _subscribed()
    await one.run(close())
    assert (await one.state()).subscriptions == ()
    assert _told(one) == ["tool_call", "tool_cancel"]


async def test_cancelling_the_thread_leaves_it_open() -> None:
    one, _ = await _subscribed()
    await one.run(message("cancel", "stop"))
    assert len((await one.state()).subscriptions) == 1
    assert _told(one) == ["tool_call"]


async def _fill(one: World) -> None:
    """Open as many subscriptions as a thread may have."""
    manager = await one.manager()
    for number in range(MAX_SUBSCRIPTIONS - len(manager.active_subscriptions)):
        opened = Subscription(call_id=f"call_{number}", name="fetch", worker="web")
        manager.draft.record(SubscriptionOpened(subscription=opened))
    await manager.sync()


async def test_at_the_bound_a_workers_result_opens_none_and_worker_and_model_are_told() -> None:
    one = world(calls(FETCH), says("fine"))
    await one.run(user("go"))
    await _fill(one)
    await one.run(result((await one.live())[0], "on", subscription=True))
    assert len((await one.state()).subscriptions) == MAX_SUBSCRIPTIONS
    assert _told(one) == ["tool_call", "tool_cancel"]
    assert NOT_OPENED in one.model.last_results[0]


async def test_at_the_bound_an_inline_tools_result_opens_none_and_the_model_is_told() -> None:
    one = world(says("hi"), calls(("watch", {"topic": "t"})), says("fine"), app=agent(tools=(*TOOLS, watch)))
    await one.run(user("hi"))
    await _fill(one)
    await one.run(user("go", "m2"))
    assert len((await one.state()).subscriptions) == MAX_SUBSCRIPTIONS
    assert NOT_OPENED in one.model.last_results[0]


@tool
def watch(topic: str) -> ToolResult:
    """Watch a topic."""
    return ToolResult("watching", subscription=True)


async def test_an_inline_tools_result_opens_one() -> None:
    one = world(calls(("watch", {"topic": "tides"})), says("done"), app=agent(tools=(*TOOLS, watch)))
    await one.run(user("go"))
    (subscription,) = (await one.state()).subscriptions
    assert (subscription.name, subscription.args) == ("watch", {"topic": "tides"})


async def test_the_model_ends_it_and_its_worker_is_told_once() -> None:
    one, call_id = await _subscribed()
    end = ("cancel_subscription", {"call_id": call_id})
    one.model.play(calls(end, end), says("done"))
    await one.run(user("enough", "m2"))
    assert (await one.state()).subscriptions == ()
    assert _told(one) == ["tool_call", "tool_cancel"]
    cancelled = f'Result(cancel_subscription, {{"cancelled": "{call_id}"}})'
    assert (await one.lines())[-3:] == [cancelled, "Result(cancel_subscription, error)", "Asst(done)"]


async def test_what_an_inline_tool_opened_ends_without_a_notice() -> None:
    one = world(calls(("watch", {"topic": "tides"})), says("done"), app=agent(tools=(*TOOLS, watch)))
    await one.run(user("go"))
    (subscription,) = (await one.state()).subscriptions
    one.model.play(calls(("cancel_subscription", {"call_id": subscription.call_id})), says("done"))
    await one.run(user("enough", "m2"))
    assert (await one.state()).subscriptions == ()
    assert _told(one) == []


async def test_one_that_is_not_there_cannot_be_cancelled() -> None:
    one, call_id = await _subscribed()
    one.model.play(calls(("cancel_subscription", {"call_id": "call_other"})), says("done"))
    await one.run(user("enough", "m2"))
    assert (await one.lines())[-2:] == ["Result(cancel_subscription, error)", "Asst(done)"]
    assert call_id in str((await one.store.entries("t1"))[-2])
    assert len((await one.state()).subscriptions) == 1
