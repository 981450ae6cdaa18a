"""Behaviours of a slice's input: what interrupts, what waits, what stops a thread or ends it. Over both stores."""

from tests.contract.stores import Stores
from tests.support.inputs import cancel, close, message, result, user
from tests.support.played import calls, says
from tests.support.world import WEB, world

FETCH = ("fetch", {"url": "u"})
CALLED = ["User(go)", 'Call(fetch, {"url": "u"})']


async def test_queue_busy_policy(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(calls(FETCH), says("both"), store=opened.store)
        await one.run(user("go"))
        (c1,) = await one.live()
        await one.run(user("and this", "m2", on_busy="queue"))
        assert await one.live() == [c1]
        assert await one.lines() == CALLED
        report = await one.run(result(c1, "page"))
        assert report.rounds == 1
        assert await one.lines() == [*CALLED, "Result(fetch, page)", "User(and this)", "Asst(both)"]
        assert len(one.model.requests) == 2


async def test_cancel_stays_cancelled(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(calls(FETCH), store=opened.store)
        await one.run(user("go"))
        (c1,) = await one.live()
        await one.run(cancel())
        stopped = [*CALLED, "Result(fetch, interrupted)", "TurnEnd(cancelled)"]
        assert await one.lines() == stopped
        assert [body["type"] for body in one.dispatcher.bodies(WEB)] == ["tool_call", "tool_cancel"]
        await one.run(result(c1))
        await one.run(cancel())
        assert await one.lines() == stopped
        assert len(one.model.requests) == 1
        assert (await one.state()).owes is False
        one.model.play(says("hello again"))
        await one.run(user("still there?", "m2"))
        assert (await one.lines())[-2:] == ["User(still there?)", "Asst(hello again)"]


async def test_closed_thread_refuses(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(calls(FETCH), store=opened.store)
        await one.run(user("go", metadata={"user_id": "u1"}))
        (c1,) = await one.live()
        await one.run(close())
        before, outputs = await one.lines(), len(one.dispatcher.outputs)
        number = (await one.state()).number
        event = message("subscription_event", "e1", call_id=c1, content="it happened", associative=True)
        await one.run(user("again", "m2", metadata={"user_id": "u2", "new": 1}), result(c1), event)
        assert await one.lines() == before
        assert (await one.manager()).metadata == {"user_id": "u1"}
        (error,) = one.dispatcher.outputs[outputs:]
        assert (error["type"], error["code"], error["message_id"]) == ("error", "closed", "m2")
        assert await opened.store.parked() == ()
        assert (await one.state()).number == number
        assert len(one.model.requests) == 1
