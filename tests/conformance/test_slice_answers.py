"""Behaviours of calls that are answered without a worker: the tool is unknown, or its arguments are wrong."""

import pytest

from core.blocks import TextBlock
from core.entries import ToolCall, ToolResult
from tests.contract.stores import Stores
from tests.support.inputs import THREAD, user
from tests.support.played import Turn, calls, says
from tests.support.world import WEB, World, world


async def _only_result(one: World) -> ToolResult:
    entries = await one.store.entries(THREAD)
    called = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
    results = [entry for entry in entries if isinstance(entry, ToolResult)]
    assert [entry.call_id for entry in results] == called
    assert len(results) == 1
    return results[0]


def _told(answer: ToolResult) -> str:
    (block,) = answer.content
    assert isinstance(block, TextBlock)
    return block.text


async def test_unknown_tool_answered_inline(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(calls(("nope", {})), says("sorry"), store=opened.store)
        report = await one.run(user("go"))
        assert report.rounds == 2
        answer = await _only_result(one)
        assert answer.outcome == "error"
        told = _told(answer)
        assert all(name in told for name in ("nope", "echo", "fetch", "dig"))
        assert one.dispatcher.once(WEB) == []
        assert (await one.lines())[-1] == "Asst(sorry)"


BAD: dict[str, tuple[Turn, str]] = {
    "not JSON": (calls(("fetch", '{"url": ')), "object"),
    "a list": (calls(("fetch", '["u"]')), "object"),
    "missing": (calls(("fetch", {})), "url"),
    "extra": (calls(("fetch", {"url": "u", "depth": 2})), "depth"),
    "wrong type": (calls(("fetch", {"url": 7})), "url"),
    "cut off": (calls(("fetch", {"url": "u"}), stop_reason="max_tokens"), "max_tokens"),
}


@pytest.mark.parametrize("bad", BAD)
async def test_bad_arguments_answered_inline(bad: str, stores: Stores) -> None:
    turn, named = BAD[bad]
    async with stores.open() as opened:
        one = world(turn, says("sorry"), store=opened.store)
        await one.run(user("go"))
        answer = await _only_result(one)
        assert answer.outcome == "error"
        assert named in _told(answer)
        assert one.dispatcher.once(WEB) == []
        assert (await one.lines())[-1] == "Asst(sorry)"
        assert await one.live() == []
