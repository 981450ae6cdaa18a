"""Two people in one thread: while text of one waits, what was begun for the other is still the other's."""

from core.app import App
from core.tools import ToolContext, tool
from tests.support.inputs import message, result, user
from tests.support.played import calls, says
from tests.support.world import WEB, World, agent, world

PAID: list[str | None] = []
FETCH = ("fetch", {"url": "u"})
BLOB = {"blob": "x" * 40_000}


@tool(inline=True, requires_approval=True)
def pay(ctx: ToolContext) -> str:
    """Pay what whoever asks owes."""
    PAID.append(ctx.user_id)
    return "paid"


@tool(worker="web", requires_approval=True)
def refund(amount: int) -> str:
    """Pay back."""
    return str(amount)


CASHIER = App([agent("cashier", tools=(pay, refund))])


async def asked_for_ann(*call: object) -> World:
    """Ann's call waits for its approval, and bob's text behind it."""
    one = world(calls(call), says("done"), app=CASHIER)  # type: ignore[arg-type]
    await one.run(user("pay", metadata={"user_id": "ann", "tenant_id": "t"}))
    await one.run(user("and mine?", "m2", on_busy="queue", metadata={"user_id": "bob"}))
    return one


async def test_an_approved_call_is_run_for_whom_it_was_asked_though_another_waits() -> None:
    PAID.clear()
    one = await asked_for_ann("pay", {})
    await one.run(message("answer", "a1", call_id=(await one.live())[0], approved=True))
    assert PAID == ["ann"]
    assert (await one.manager()).metadata == {"user_id": "bob", "tenant_id": "t"}


async def test_an_approved_call_goes_to_its_worker_for_whom_it_was_asked() -> None:
    one = await asked_for_ann("refund", {"amount": 5})
    await one.run(message("answer", "a1", call_id=(await one.live())[0], approved=True))
    (call,) = one.dispatcher.bodies(WEB)
    assert call["user_id"] == "ann"


async def test_the_answer_to_who_waited_carries_their_metadata_and_nothing_before_it_does() -> None:
    one = world(calls(FETCH), says("done"))
    await one.run(user("go", metadata={"user_id": "ann"}))
    await one.run(user("me too", "m2", on_busy="queue", metadata={"user_id": "bob"}))
    assert {output["metadata"]["user_id"] for output in one.dispatcher.outputs} == {"ann"}
    await one.run(result((await one.live())[0]))
    assert one.dispatcher.outputs[-1]["metadata"] == {"user_id": "bob"}


async def test_what_waits_counts_against_the_bound_of_metadata() -> None:
    one = world(calls(FETCH), says("done"))
    await one.run(user("go"))
    await one.run(user("w", "m2", on_busy="queue", metadata=BLOB))
    for fields in ({"on_busy": "queue"}, {}):
        report = await one.run(user("more", "m3", metadata={"more": BLOB["blob"]}, **fields))
        assert [getattr(taken, "code", taken) for taken in report.inputs] == ["invalid"]
    await one.run(result((await one.live())[0]))
    assert (await one.manager()).metadata == BLOB
