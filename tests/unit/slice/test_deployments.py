"""A deployment between two slices: tools and agents change under a thread, and it goes on."""

from core.app import App
from tests.support.inputs import result, user
from tests.support.played import calls, says, signed
from tests.support.world import agent, world

FETCH = ("fetch", {"url": "u"})


async def test_a_thread_with_calls_goes_on_when_every_tool_is_gone() -> None:
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    one.app = App(agents=[agent(tools=())])
    await one.run(result(call_id))
    assert (await one.lines())[-1] == "Asst(done)"
    assert [spec.name for spec in one.model.requests[-1].tools] == ["fetch"]


async def test_a_call_of_a_tool_that_is_gone_is_answered_so() -> None:
    one = world(calls(FETCH), says("done"), app=agent(tools=()))
    await one.run(user("go"))
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(done)"]


async def test_a_thread_whose_agent_is_gone_falls_to_the_default() -> None:
    one = world(says("one"), says("two"), app=App(agents=[agent("main"), agent("old")]))
    await one.run(user("go", agent="old"))
    one.app = App(agents=[agent("main", instructions="Be main.")])
    await one.run(user("on", "m2"))
    assert one.model.requests[-1].instructions == "Be main."


async def test_reasoning_of_another_model_is_not_sent_to_the_new_one() -> None:
    one = world([signed("hm"), *says("one")], says("two"))
    await one.run(user("go"))
    one.app = one.app.with_model("test:other")
    await one.run(user("on", "m2"))
    assert "hm" not in str(one.model.requests[-1].messages)
    assert (await one.lines())[-1] == "Asst(two)"
