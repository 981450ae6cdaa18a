"""Behaviours of compaction: what the summariser sees, and what it leaves alone."""

from core.entries import Assistant, User
from core.history import Summary
from tests.contract.stores import Stores
from tests.support.rules import on, shown
from tests.support.tree import ROOT, tree


async def test_summariser_excludes_live_calls(stores: Stores) -> None:
    async with stores.open() as opened:
        rules = [on(says="so far", compaction=True), on(("fetch", {"url": "u"}), says="b", user="a")]
        one = tree([*rules, on(says="seen")], store=opened.store)
        await one.say("a")
        (live,) = await one.live()
        one.held.add(ROOT)
        before = await one.entries()
        await one.tell("compact")
        (child,) = one.children
        inherited = (await one.manager(child)).inherited.entries
        assert [type(entry) for entry in inherited] == [User, Assistant]
        assert shown(one.model.requests[-1])[:2] == ["user: a", "assistant: b"]
        assert (await one.entries(), await one.live()) == (before, [live])
        one.held.clear()
        await one.rest()
        assert await one.live() == [live]
        await one.answer(content="out")
        assert (await one.lines())[-2:] == ["Result(fetch, out)", "Asst(seen)"]
        assert (await one.state()).summary == Summary("so far", 2)
