"""State beside compactions, children and forks: whose it is, and what stays of an application's own messages."""

from core.entries import AppEntry
from core.fork import fork
from core.history.app_log import KEPT_ROLES, app_entries
from core.state import AppMessage
from core.thread import ThreadState
from tests.support.compacting import SUMMARY, compacted, small
from tests.support.rules import Call, on, spawn, task
from tests.support.stateful import STATE_TOOLS, Notes
from tests.support.tree import ROOT, Tree, tree

FORK = "fork"


def told(*messages: tuple[str, str]) -> list[Call]:
    """Calls that tell the application."""
    return [("log", {"role": role, "content": content}) for role, content in messages]


def note(text: str) -> Call:
    return ("write", {"text": text})


def keeping(*rules: object) -> Tree:
    """A tree whose agent keeps `Notes`."""
    return tree([SUMMARY, *rules, on(says="fine")], app=small(state_type=Notes, tools=STATE_TOOLS))  # type: ignore[list-item]


async def app_log(one: Tree, thread_id: str = ROOT) -> list[str]:
    """What the thread's application has said, as its state would show it."""
    manager = await one.manager(thread_id)
    messages = map(AppMessage.read, app_entries(manager.draft, manager.inherited))
    return [f"{message.role}: {message.content}" for message in messages]


def stored(state: ThreadState) -> list[str]:
    notes: list[str] = (state.stored_state or {}).get("notes", [])
    return notes


async def test_a_compaction_leaves_the_newest_message_of_each_role_and_the_state_as_it_is() -> None:
    calls = [note("kept"), *told(("ui", "old"), ("audit", "first"), ("ui", "new"))]
    one = keeping(on(*calls, user="go"), on(*told(("ui", "newest")), user="more"))
    await one.say("go")
    assert await app_log(one) == ["ui: old!", "audit: first!", "ui: new!"]
    await one.tell("compact")
    assert len(compacted(one)) == 1
    assert await app_log(one) == ["audit: first!", "ui: new!"]
    await one.say("more")
    assert await app_log(one) == ["audit: first!", "ui: new!", "ui: newest!"]
    await one.tell("compact")
    assert await app_log(one) == ["audit: first!", "ui: newest!"]
    assert stored(await one.state()) == ["kept"]


async def test_what_stays_under_summaries_is_bounded() -> None:
    one = keeping(on(*told(*[(f"r{number}", "x") for number in range(KEPT_ROLES + 5)]), user="go"))
    await one.say("go")
    await one.tell("compact")
    assert await app_log(one) == [f"r{number}: x!" for number in range(5, KEPT_ROLES + 5)]


async def test_a_child_has_a_state_of_its_own_and_leaves_its_parents_alone() -> None:
    one = keeping(
        on(note("parent"), *told(("ui", "parent")), user="go"),
        on(spawn("dig"), user="spawn"),
        on(note("child"), *told(("ui", "child")), **task("dig")),
    )
    await one.say("go")
    await one.say("spawn")
    (child,) = one.children
    assert stored(await one.state()) == ["parent"]
    assert stored(await one.state(child)) == ["child"]
    assert await app_log(one) == ["ui: parent!"]
    assert await app_log(one, child) == ["ui: child!"]


async def test_a_fork_goes_on_with_the_state_and_the_messages_of_its_point() -> None:
    one = keeping(
        on(note("one"), *told(("ui", "one")), user="first"),
        on(note("two"), *told(("ui", "two")), user="second"),
    )
    await one.say("first")
    await one.say("second")
    seqs = [entry.seq for entry in await one.entries() if isinstance(entry, AppEntry)]
    await fork(one.world.store, ROOT, seqs[1] - 1, FORK, clock=one.world.clock)
    assert stored(await one.state(FORK)) == ["one"]
    assert await app_log(one, FORK) == ["ui: one!"]
    await fork(one.world.store, ROOT, seqs[1], "later", clock=one.world.clock)
    assert stored(await one.state("later")) == ["one", "two"]
    await one.say("second", FORK)
    assert stored(await one.state(FORK)) == ["one", "two"]
    assert await app_log(one, FORK) == ["ui: one!", "ui: two!"]
    assert stored(await one.state()) == ["one", "two"]


async def test_a_fork_behind_a_summary_has_the_state_of_its_point_and_what_stays_of_the_messages() -> None:
    one = keeping(
        on(note("one"), *told(("ui", "old"), ("ui", "one")), user="first"),
        on(note("two"), *told(("ui", "two")), user="second"),
    )
    await one.say("first")
    await one.tell("compact")
    point = (await one.entries())[-1].seq
    await one.say("second")
    await fork(one.world.store, ROOT, point, FORK, clock=one.world.clock)
    assert stored(await one.state(FORK)) == ["one"]
    assert await app_log(one, FORK) == ["ui: one!"]
    await one.tell("compact", FORK)
    assert await app_log(one, FORK) == ["ui: one!"]
    await one.say("second", FORK)
    assert await app_log(one, FORK) == ["ui: one!", "ui: two!"]


async def test_a_fork_of_a_thread_without_state_has_none() -> None:
    one = keeping()
    await one.say("hello")
    await fork(one.world.store, ROOT, 2, FORK, clock=one.world.clock)
    assert (await one.state(FORK)).stored_state is None
