"""The tree of a thread: its children, open and closed, and theirs."""

from typing import Any, cast

from core.app import App
from infra.client import AgentClient, ThreadNode
from infra.log_reader import LogReader
from tests.support.asking import PAY, asking
from tests.support.client import Counting
from tests.support.compacting import SUMMARY, small
from tests.support.recording import RecordingDispatcher
from tests.support.rules import FETCH, on, spawn, task
from tests.support.tree import ROOT, Tree, tree
from tests.support.world import agent


async def _seen(one: Tree, thread_id: str = ROOT) -> ThreadNode:
    client = AgentClient(cast(LogReader, one.world.store), RecordingDispatcher(one.world.clock))
    return await client.tree(thread_id)


def _shape(node: ThreadNode) -> Any:
    return (node.task, node.status, [_shape(child) for child in node.children])


async def test_children_open_and_closed_in_the_order_they_were_spawned() -> None:
    one = tree(
        [
            on(spawn("wait"), spawn("dig"), user="go", depth=0),
            on(FETCH, **task("wait")),
            on(says="fine", depth=0),
            on(says="dug", depth=1),
        ]
    )
    await one.say("go")
    root = await _seen(one)
    assert _shape(root) == (None, "waiting", [("wait", "waiting", []), ("dig", "closed", [])])
    waits, dug = root.children
    assert [awaited.kind for awaited in root.awaits] == ["child"]
    assert [getattr(awaited, "name", "") for awaited in waits.awaits] == ["fetch"]
    assert (waits.thread_id, waits.spawned, dug.awaits) == (one.children[0], "spawned", ())
    assert waits.call_id != dug.call_id
    assert (root.last_seq, waits.last_seq) == (
        (await one.state()).last_seq,
        (await one.state(waits.thread_id)).last_seq,
    )


async def test_children_of_children() -> None:
    one = tree(
        [
            on(spawn("middle"), user="go", depth=0),
            on(spawn("leaf"), **task("middle")),
            on(FETCH, **task("leaf")),
            on(says="fine", depth=0),
            on(says="done", depth=1),
        ]
    )
    await one.say("go")
    assert _shape(await _seen(one)) == (
        None,
        "waiting",
        [("middle", "waiting", [("leaf", "waiting", [])])],
    )


async def test_a_closed_child_keeps_its_place_with_what_it_spawned() -> None:
    one = tree(
        [
            on(spawn("middle"), user="go", depth=0),
            on(spawn("leaf"), **task("middle")),
            on(says="leaf is done", **task("leaf")),
            on(says="fine"),
        ]
    )
    await one.say("go")
    assert _shape(await _seen(one)) == (None, "idle", [("middle", "closed", [("leaf", "closed", [])])])


async def test_a_child_on_its_way_and_a_thread_that_nobody_knows() -> None:
    one = tree([on(spawn("dig"), user="go", depth=0), on(says="fine")])
    one.held.add("t1~")
    await one.visit(one.message("user_message", content="go"))
    assert _shape(await _seen(one)) == (None, "waiting", [("dig", "absent", [])])
    assert await _seen(one, "nobody") == ThreadNode(thread_id="nobody", status="absent")


async def test_the_arguments_to_approve_are_shown() -> None:
    one = tree([on(PAY, user="go"), on(says="fine")], app=asking())
    await one.say("go")
    (question,) = (await _seen(one)).awaits
    assert (question.kind, question.to_json()["args"]) == ("question", {"amount": 5})


async def test_they_are_shown_though_other_commits_came_since() -> None:
    one = tree([on(FETCH, PAY, user="go"), on(says="fine")], app=asking())
    await one.say("go")
    await one.answer()
    (question,) = (await _seen(one)).awaits
    assert question.to_json()["args"] == {"amount": 5}


async def test_a_child_that_its_parent_has_ended_is_closed_before_it_knows() -> None:
    one = tree([on(spawn("dig"), user="go", depth=0), on(FETCH, **task("dig")), on(says="fine")])
    await one.say("go")
    (child,) = one.children
    one.held.add(child)
    await one.tell("close")
    root = await _seen(one)
    assert (root.status, [(seen.status, seen.awaits) for seen in root.children]) == (
        "closed",
        [("closed", ())],
    )
    assert not (await one.state(child)).closed


async def test_nobody_waits_for_a_summary_that_nothing_waits_for() -> None:
    one = tree([SUMMARY, on(says="fine")], app=small())
    await one.say("hello")
    one.held.update({ROOT})
    await one.tell("compact")
    root = await _seen(one)
    assert (root.status, root.awaits) == ("idle", ())
    assert [child.spawned for child in root.children] == ["compaction"]


async def test_agents_and_events() -> None:
    desk = App(agents=[agent("desk"), agent("digger")], default="desk")
    one = tree(
        [
            on(spawn("dig", agent="digger"), user="go", depth=0),
            on(FETCH, user="watch", depth=0),
            on(says="fine"),
        ],
        app=desk,
    )
    await one.say("go")
    await one.say("watch")
    call_id = (await one.live())[0]
    await one.answer(subscription=True)
    await one.tell("subscription_event", call_id=call_id, content="rain")
    dug, event = (await _seen(one)).children
    assert (dug.agent, dug.spawned, dug.task) == ("digger", "spawned", "dig")
    assert (event.spawned, event.task, event.call_id) == ("event", None, call_id)


async def test_a_log_is_read_once_and_no_more_than_a_page_is_held() -> None:
    one = tree([on(spawn("dig"), user="go", depth=0), on(says="fine")])
    await one.say("go")
    for _ in range(40):
        await one.say("hello")
    reader = Counting(one.world.store)
    await AgentClient(cast(LogReader, reader), RecordingDispatcher(one.world.clock)).tree(ROOT)
    assert reader.taken() == {"page": 3}
