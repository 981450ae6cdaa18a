"""Results that open a subscription: it is kept with the call's name and arguments until the thread ends."""

from core.thread import Subscription
from core.tools import ToolResult, tool
from tests.support.inputs import close, message, result, user
from tests.support.played import calls, says
from tests.support.world import TOOLS, World, agent, world

FETCH = ("fetch", {"url": "u"})


async def _subscribed() -> tuple[World, str]:
    one = world(calls(FETCH), says("watching"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(result(call_id, "subscribed", subscription=True))
    return one, call_id


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


async def test_closing_ends_it() -> None:
    one, _ = await _subscribed()
    await one.run(close())
    assert (await one.state()).subscriptions == ()


@tool
def watch(topic: str) -> ToolResult:
    """Watch a topic."""
    return ToolResult("watching", subscription=True)


async def test_an_inline_tools_result_opens_one() -> None:
    one = world(calls(("watch", {"topic": "tides"})), says("done"), app=agent(tools=(*TOOLS, watch)))
    await one.run(user("go"))
    (subscription,) = (await one.state()).subscriptions
    assert (subscription.name, subscription.args) == ("watch", {"topic": "tides"})


async def test_an_event_that_nobody_waits_for_changes_nothing() -> None:
    one, _ = await _subscribed()
    before = await one.lines()
    report = await one.run(message("subscription_event", "e1", call_id="call_unknown", content={"a": 1}))
    assert report.inputs == ("stale",)
    assert await one.lines() == before
