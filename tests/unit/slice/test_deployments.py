"""A deployment between two slices: tools and agents change under a thread, and it goes on."""

from core.app import App
from core.tools import tool
from tests.support.inputs import result, user
from tests.support.played import calls, says, signed
from tests.support.world import agent, world

FETCH = ("fetch", {"url": "u"})


async def test_a_deployment_between_two_slices_that_removes_every_tool_leaves_a_thread_with_calls_going_on() -> (
    None
):
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    one.app = App(agents=[agent(tools=(), builtin_tools=False)])
    await one.run(result(call_id))
    assert (await one.lines())[-1] == "Asst(done)"
    assert [spec.name for spec in one.model.requests[-1].tools] == ["fetch"]


async def test_a_deployment_between_two_slices_that_removes_a_tool_has_its_call_answered_so() -> None:
    one = world(calls(FETCH), says("done"), app=agent(tools=()))
    await one.run(user("go"))
    assert (await one.lines())[-2:] == ["Result(fetch, error)", "Asst(done)"]


async def test_a_deployment_between_two_slices_with_the_agent_gone_falls_to_the_default() -> None:
    one = world(says("one"), says("two"), app=App(agents=[agent("main"), agent("old")]))
    await one.run(user("go", agent="old"))
    one.app = App(agents=[agent("main", instructions="Be main.")])
    await one.run(user("on", "m2"))
    assert one.model.requests[-1].instructions == "Be main."


async def test_a_deployment_between_two_slices_that_changes_the_model_sends_no_foreign_reasoning() -> None:
    one = world([signed("hm"), *says("one")], says("two"))
    await one.run(user("go"))
    one.app = one.app.with_model("test:other")
    await one.run(user("on", "m2"))
    assert "hm" not in str(one.model.requests[-1].messages)
    assert (await one.lines())[-1] == "Asst(two)"


async def test_a_deployment_between_two_slices_that_adds_or_changes_a_tool_offers_it_as_it_is() -> None:
    @tool(name="echo")
    def louder(text: str, times: int) -> str:
        """Say it several times."""
        return text * times

    @tool
    def added() -> str:
        """Say what is new."""
        return "new"

    one = world(calls(FETCH), calls(("echo", {"text": "hi"}), ("added", {})), says("done"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    one.app = App(agents=[agent(tools=(louder, added), builtin_tools=False)])
    await one.run(result(call_id))
    assert (await one.lines())[-3:] == ["Result(echo, error)", "Result(added, new)", "Asst(done)"]
    assert [spec.name for spec in one.model.requests[-1].tools] == ["echo", "added"]
    assert "times" in one.model.requests[-1].tools[0].schema["required"]
