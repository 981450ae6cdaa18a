"""A tree of threads over both stores: what is inherited, reported and handed back is the same, ids included."""

from tests.contract.stores import Stores
from tests.support.rules import FETCH, on, shown, spawn, spawned, task
from tests.support.tree import ROOT, Tree, tree

RULES = [
    on(FETCH, user="watch"),
    on(says="watching", tool_result="fetch", depth=0),
    on(spawn("lead"), spawn("alone", inherit=False), says="Two will do.", user="go"),
    on(spawn("dig"), **task("lead")),
    on(("report_to_parent", {"report": "begun"}), FETCH, **task("dig")),
    on(says="waiting", **spawned(1)),
    on(says="heard {result}", event=True),
    on(says="done", depth=1),
    on(says="dug", depth=2),
    on(says="fine"),
]


async def _story(one: Tree) -> dict[str, list[str]]:
    """A root watches, spawns two children and a grandchild, and hears of things: what everyone saw in the end."""
    await one.say("watch", metadata={"user_id": "u1"})
    (call_id,) = await one.live()
    await one.answer(content="watching", subscription=True)
    await one.say("go")
    await one.tell("subscription_event", call_id=call_id, content="news", event_id="1")
    await one.tell("subscription_event", call_id=call_id, content="more", event_id="2", associative=True)
    await one.answer(one.children[2])
    histories = {thread_id: await one.lines(thread_id) for thread_id in (ROOT, *one.children)}
    seen = [line for request in one.model.requests for line in shown(request)]
    return {**histories, "seen": seen, "state": [(await one.state()).digest]}


async def test_a_tree_is_the_same_over_every_store(stores: Stores) -> None:
    expected = await _story(tree(RULES))
    assert len(expected) == 7
    assert any("heard heard dug" in line for line in expected[ROOT])
    async with stores.open() as opened:
        assert await _story(tree(RULES, store=opened.store)) == expected
