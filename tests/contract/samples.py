"""What stores are given to keep: blocks of every size, odd values, large outboxes, and bodies to park."""

import base64
import hashlib
from datetime import timedelta
from typing import Any

from core.blocks import JsonBlock, TextBlock
from core.entries import Entry, Event, ToolCall, ToolResult
from core.outbox import Carried, OutboxMessage, SendReport
from core.ports import ParkedBody
from core.text import clean_json
from tests.contract.commits import THREAD, user
from tests.contract.lineages import CHILD, spawn
from tests.contract.stores import START


def noise(size: int, seed: str = "") -> str:
    """Text that does not compress."""
    blocks = (hashlib.sha512(f"{seed}{index}".encode()).digest() for index in range(size // 80 + 1))
    return base64.b85encode(b"".join(blocks)).decode()[:size]


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def json_block(data: Any) -> JsonBlock:
    return JsonBlock(data=data)


FALSY: list[Any] = [None, 0, 0.0, "", [], {}, False]
CALL = ToolCall(call_id="call_1", name="search", args={"q": [None, {"deep": None}], "n": 2**63, "f": 0.1})
SIZES: dict[str, list[Entry]] = {
    "a block just under what goes to S3": [user("x" * 60_000)],
    "100 KB of text": [user("x" * 100_000)],
    "1 MB in one line": [user("x" * 1_000_000)],
    "1 MB that does not compress": [user(noise(1_000_000))],
    "3 MB in one block": [user(noise(3_000_000))],
    "390 KB of many small blocks": [user(*(noise(1_000, f"{index} ") for index in range(390)))],
    "600 KB of many small blocks": [user(*(noise(1_000, f"{index} ") for index in range(600)))],
    "600 KB of middling blocks": [user(*(noise(30_000, f"{index} ") for index in range(20)))],
    "600 KB of call arguments": [ToolCall(call_id="call_1", name="write", args={"text": noise(600_000)})],
    "large blocks in several entries": [
        user(noise(80_000, "a"), "small", noise(80_000, "b")),
        CALL,
        ToolResult(call_id="call_1", content=(JsonBlock(data={"rows": [noise(90_000, "c"), None]}),)),
        Event(call_id="call_1", name="watch", content=(TextBlock(text=noise(70_000, "d")),)),
    ],
    "the same large block twice": [user(noise(80_000), noise(80_000))],
}
ODD: dict[str, list[Entry]] = {
    "unicode": [user("Ω漢字😀\u202e right to left, \x7f, tab\t, line\n")],
    "text that was cleaned at the edge": [user(clean_json("NUL \x00, escape \x1b[0m, lone \ud800, \ufffe"))],
    "numbers": [user(JsonBlock(data=clean_json([2**63, -(2**63), 10**40, 0.1, 1e308, 1e-7, float("nan")])))],
    "JSON values that are falsy": [user(*map(json_block, FALSY))],
    "nothing where something could be": [CALL],
    "nesting past 32 levels": [user(JsonBlock(data=deep(100)))],
    "keys that look like ours": [
        user(JsonBlock(data={"pk": 1, "S": "x", "type": "stored", "s3": "s3://a/b"}))
    ],
}

EVENT = Event(
    call_id="call_1", name="watch", content=(TextBlock(text=noise(900_000)), TextBlock(text="small"))
)
OUTBOXES: dict[str, list[OutboxMessage]] = {
    "a spawn with an event of 900 KB": [spawn(CHILD, event=EVENT)],
    "two long reports": [
        SendReport(parent=THREAD, call_id="call_1", text=noise(300_000, "a")),
        SendReport(parent=THREAD, call_id="call_1", text=noise(300_000, "b"), closing=True),
        SendReport(parent=THREAD, call_id="call_1", closing=True),
    ],
    "carried messages of 900 KB": [
        Carried(id=f"id {name}", queue="input", body=noise(900_000, name)) for name in ("a", "b")
    ],
}


def body(message_id: str = "m1", text: str = "not JSON", after_seconds: float = 0, **more: str) -> ParkedBody:
    fields = {"source": "input", "reason": "invalid", "message_id": message_id, "body": text} | more
    return ParkedBody(first_seen=START + timedelta(seconds=after_seconds), **fields)
