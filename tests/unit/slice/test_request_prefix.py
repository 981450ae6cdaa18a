"""Provider caches: each request begins, byte for byte, with the one before it, up to where its cache points stood.

Measured over conversations of every kind of turn, as the bytes that Bedrock would get; only a compaction may begin
anew.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from core.blocks import text_content
from core.chunks import CallChunk, Completed, TextChunk, Usage
from core.render import SUMMARY_HEAD
from core.request import ModelRequest
from core.settings import Settings
from infra.bedrock.capabilities import capabilities_of
from infra.bedrock.request import converse_request
from tests.contract.stores import Stores
from tests.support.inputs import message, result, user
from tests.support.played import Turn, signed
from tests.support.world import World, agent, world

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NAME = f"bedrock:{MODEL}"
TURNS = 60
"""User texts; with the completions between calls there are more requests."""


def _done(tokens: int = 10) -> Completed:
    return Completed("end_turn", Usage(input_tokens=tokens, output_tokens=5))


def _turns(number: int) -> list[Turn]:
    """What the model does in turn `number`: answer, or think and call inline, a worker, or both at once."""
    said: Turn = [TextChunk(f"answer {number} ä \U0001f600"), _done()]
    thought = signed(f"hm {number}", f"sig{number}", NAME)
    calls = {
        1: [CallChunk("echo", {"text": f"{{z: {number}}}"})],
        2: [CallChunk("fetch", {"url": f"u{number}"}), CallChunk("echo", {"text": "b"})],
        3: [CallChunk("nope", {"zeta": 1, "alpha": {"y": 0.1, "x": [None, 2**63]}})],
    }.get(number % 4, [])
    return [[thought, TextChunk("Looking."), *calls, _done()], said] if calls else [said]


async def _talk(one: World, turns: int) -> None:
    """Each turn in a slice of its own, loaded anew; a worker's result is JSON with its keys in any order."""
    for number in range(1, turns + 1):
        one.model.play(*_turns(number))
        content: Any = [
            *([_document(number)] if number % 15 == 5 else []),
            {"type": "text", "text": f"question {number}"},
            {"type": "json", "data": {"z": number, "a": [1.0, True]}},
        ]
        await one.run(message("user_message", f"m{number}", content=content))
        for call_id in await one.live() if number % 4 == 2 else ():
            await one.run(result(call_id, {"zulu": 1, "alpha": {"y": 2, "x": 1}, "n": number}))


def _document(number: int) -> dict[str, Any]:
    data = "JVBERi0xLjQK" if number % 2 else "aGVsbG8="
    kind = "application/pdf" if number % 2 else "text/plain"
    return {"type": "document", "media_type": kind, "name": "notes", "data": data}


def _bytes(request: ModelRequest) -> dict[str, Any]:
    return converse_request(request, MODEL, capabilities_of(MODEL))


def _blocks(sent: dict[str, Any]) -> Iterator[tuple[bytes, bool]]:
    """Tools, system prompt and content blocks in the order a provider reads them; whether a cache point follows."""
    listed = [("tool", one) for one in sent["toolConfig"]["tools"]] + [
        ("system", one) for one in sent["system"]
    ]
    listed += [(message["role"], one) for message in sent["messages"] for one in message["content"]]
    for index, (role, block) in enumerate(listed):
        if "cachePoint" not in block:
            follows = index + 1 < len(listed) and "cachePoint" in listed[index + 1][1]
            yield json.dumps([role, block], default=repr).encode(), follows


Sent = list[tuple[bytes, bool]]


def _sent(one: World) -> list[Sent]:
    """Each request as it would be sent."""
    return [list(_blocks(_bytes(request))) for request in one.model.requests]


def _kept(before: Sent, after: Sent) -> int:
    """Blocks before the last cache point of `before`, which must all begin `after`, that point included."""
    last = max(index for index, (_, point) in enumerate(before) if point)
    assert [block for block, _ in after[: last + 1]] == [block for block, _ in before[: last + 1]]
    assert after[last][1], "the same place is looked up again"
    return last + 1


def _world(**fields: Any) -> World:
    settings = Settings(reasoning_tokens=2_048, **fields.pop("settings", {}))
    return world(app=agent(model=NAME, instructions="Be brief.", settings=settings), **fields)


async def test_over_sixty_turns_every_request_begins_with_the_one_before_it() -> None:
    one = _world()
    await _talk(one, TURNS)
    sent = _sent(one)
    assert len(sent) > TURNS
    kept = [_kept(before, after) for before, after in pairwise(sent)]
    assert kept == [len(blocks) for blocks in sent[:-1]], "all of a request is found again by the next one"


async def test_so_it_is_over_both_stores(stores: Stores) -> None:
    async with stores.open() as opened:
        one = _world(store=opened.store)
        await _talk(one, 4)
        for before, after in pairwise(_sent(one)):
            _kept(before, after)


async def test_only_a_compaction_begins_anew_and_what_follows_is_stable_again() -> None:
    one = _world(settings={"context_window": 100_000})
    await _talk(one, 6)
    one.model.play([TextChunk("full"), _done(90_000)])
    await one.run(user("fill it", "full"))
    (spawn,) = one.dispatcher.once("input")
    before = len(one.model.requests)
    child = json.loads(spawn.body)["thread_id"]
    done = message("compaction_done", "done", child_thread_id=child, text="They talked.")
    await one.run(done)
    await _talk_more(one)
    (summary, *_) = one.model.requests[before].messages[0].parts
    assert summary == text_content(f"{SUMMARY_HEAD}They talked.")[0]
    for first, second in pairwise(_sent(one)[before:]):
        _kept(first, second)


async def _talk_more(one: World) -> None:
    for number in range(5):
        one.model.play([TextChunk("yes"), _done()])
        await one.run(user(f"more {number}", f"more{number}"))
