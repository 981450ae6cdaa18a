"""What a supervisor sees of what is not one person's text, what it costs when it sits below another, and as a child."""

import base64
from dataclasses import replace
from typing import Any

from core.errors import ModelUnavailable
from core.facts import ThreadSeen
from core.settings import Limits, Settings
from core.slice.routing import MESSAGE_CHARACTERS
from core.supervisor import Supervisor
from tests.support.inputs import THREAD, delivered, message, result, user
from tests.support.played import USAGE, calls, fails, says
from tests.support.world import World, agent, fetch, world

ORDERS = agent("orders", model="test:orders", tools=(fetch,))
BILLS = agent("bills", model="test:bills")
HEAD = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (64).to_bytes(4, "big") * 2
PNG = base64.b64encode(HEAD).decode()
DESK = Supervisor("desk", {"orders": ORDERS, "billing": BILLS}, model="test:desk")
IMAGE = {"type": "image", "media_type": "image/png", "data": PNG}


def asked(one: World) -> list[str]:
    return [
        "\n".join(getattr(part, "text", "") for part in request.messages[0].parts)
        for request in one.model.requests
        if request.model == "test:desk"
    ]


def sent(content: list[dict[str, Any]], message_id: str, **fields: Any) -> Any:
    return message("user_message", message_id, content=content, **fields)


async def test_media_without_text_are_named_to_a_classification_whatever_the_template_says() -> None:
    seller = replace(ORDERS, message_template="[{user_id}] {content}")
    one = world(says("orders"), says("a lamp"), says("orders"), says("x"), app=replace_orders(seller))
    await one.run(sent([IMAGE], "m1", metadata={"user_id": "ann"}))
    await one.run(user("and this?", "m2"))
    first, second = asked(one)
    assert first.endswith("(an image)")
    assert "user: [ann] (an image)" in second


def replace_orders(orders: Any) -> Supervisor:
    return Supervisor("desk", {"orders": orders, "billing": BILLS}, model="test:desk")


async def test_a_message_of_a_megabyte_is_classified_by_its_beginning() -> None:
    one = world(says("billing"), says("done"), app=DESK)
    await one.run(user("pay " + "x " * 120_000))
    assert len(asked(one)[0]) < 2 * MESSAGE_CHARACTERS
    assert "pay x" in asked(one)[0]


async def test_texts_that_waited_are_classified_together_the_newest_with_those_before_it() -> None:
    one = world(says("orders"), calls(("fetch", {"url": "u"})), app=DESK)
    await one.run(user("where is it?"))
    (call,) = await one.live()
    for number, text in enumerate(("a bill, please", "of May, I mean"), 2):
        await one.run(user(text, f"m{number}", on_busy="queue"))
    assert len(asked(one)) == 1
    one.model.play(says("billing"), says("5 euros"))
    await one.run(result(call))
    assert asked(one)[1].endswith("of May, I mean")
    assert "user: where is it?\nuser: a bill, please" in asked(one)[1]
    assert one.dispatcher.outputs[-1]["route"] == "billing"


async def test_what_a_first_classification_took_is_counted_though_the_second_has_to_wait() -> None:
    top = Supervisor("top", {"shop": DESK}, model="test:top")
    one = world(says("shop"), *[fails(ModelUnavailable("busy"))] * 3, app=top)
    report = await one.run(user("hi"))
    assert report.usage == USAGE
    assert (await one.state()).credit == ORDERS.limits.tokens - USAGE.total
    one.model.play(says("shop"), says("orders"), says("done"))
    one.clock.advance(seconds=60)
    await one.run(delivered(one.dispatcher.internal[-1]))
    assert (await one.state()).credit == ORDERS.limits.tokens - 4 * USAGE.total


async def test_what_choosing_took_is_told_by_the_first_answer_after_it_and_once() -> None:
    one = world(says("orders"), calls(("fetch", {"url": "u"})), app=DESK)
    await one.run(user("hi"))
    state = await one.state()
    assert (state.route and state.route.usage) == USAGE
    one.model.play(calls(("fetch", {"url": "v"}), text="Wait."), says("done"))
    await one.run(result((await one.live())[0]))
    await one.run(result((await one.live())[0]))
    told = [output["usage"] for output in one.dispatcher.outputs if "usage" in output]
    assert told == [USAGE.plus(USAGE).model_dump(), USAGE.model_dump()]


async def test_a_supervised_child_classifies_its_task_on_its_own_credit() -> None:
    spawn = (
        "spawn_thread",
        {"instructions": "count", "child_of": [THREAD], "inherit": False, "agent": "desk"},
    )
    one = world(says("billing"), calls(spawn), says("later"), app=DESK)
    await one.run(user("hi"))
    (begun,) = [m for m in one.dispatcher.internal if '"spawn"' in m.body]
    child = delivered(begun)
    one.thread_id = child.message.thread_id
    one.model.play(says("orders"), says("three"))
    await one.run(child)
    state = await one.state()
    assert asked(one)[-1].endswith("count")
    assert (state.route and state.route.name, state.closed) == ("orders", True)


async def test_a_child_gets_no_less_than_choosing_and_answering_may_take() -> None:
    writer = agent("writer", model="test:writer", settings=Settings(max_output_tokens=30_000))
    team = Supervisor("team", {"writer": writer}, model="test:team")
    lead = agent("lead", model="test:lead", limits=Limits(tokens=61_000))
    spawn = (
        "spawn_thread",
        {"instructions": "write", "child_of": [THREAD], "inherit": False, "agent": "team"},
    )
    one = world(says("lead"), calls(spawn), says("alone"), app=Supervisor("d", {"lead": lead, "team": team}))
    await one.run(user("hi"))
    assert any("Result(spawn_thread, limit)" in line for line in await one.lines())


async def test_facts_name_the_supervisor_whoever_answers() -> None:
    one = world(says("billing"), says("x"), says("orders"), says("y"), app=DESK)
    await one.run(user("hi"))
    await one.run(user("and", "m2"))
    assert [seen.agent for seen in one.witness.of(ThreadSeen)] == ["desk", "desk"]
