"""From a call's result to the `tool_result` on the input queue, cut to what a queue can carry before it is recorded.

Pure and apart from the worker: whoever answers a call, now or again later, sends the same message.
"""

from typing import Any

from core.blocks import Block, Content, JsonBlock, TextBlock
from core.delivery import INPUT
from core.ids import digest
from core.ports import Outgoing
from core.sources import Source
from core.text import clip_json, wire_json
from core.tools import ToolResult, error_result
from core.tools.asking import Ask
from core.work import Question, RecordedResult
from core.work_messages import ToolCallMessage

MAX_ANSWER_BYTES = 1_048_576
"""Of one SQS body; ours are ASCII, so characters are bytes."""
MAX_PATCH_BYTES = MAX_SOURCES_BYTES = 262_144
_NOTE_BYTES = 400


def answer(call: ToolCallMessage, result: RecordedResult) -> Outgoing:
    """The message that answers `call`. Its ids depend on the call alone (invariant *derived ids*)."""
    message_id = digest("result", call.call_id)
    dedup_id = digest("answer", call.thread_id, message_id)
    return Outgoing(dedup_id, INPUT, _body(call, result), group=call.thread_id)


def question(call: ToolCallMessage, number: int, ask: Ask) -> Question:
    """What is recorded of a question, its message included. `number`: of answers that the run had."""
    message_id = digest("question", call.call_id, number)
    head = {"v": 1, "type": "question", "thread_id": call.thread_id, "message_id": message_id}
    body = wire_json({**head, "call_id": call.call_id, **ask.fields()})
    return Question(wire_json(call.model_dump(mode="json")), message_id, body, number)


def asked(call: ToolCallMessage, body: str) -> Outgoing:
    """The message that asks a person about `call`."""
    return Outgoing(digest("ask", call.thread_id, body), INPUT, body, group=call.thread_id)


def recorded(call: ToolCallMessage, result: ToolResult, *, timed_out: bool = False) -> RecordedResult:
    """The result as it can be answered: whole if it fits, else cut, with a text that says how much is missing."""
    whole = RecordedResult(
        content=result.content,
        is_error=result.is_error,
        outcome="timed_out" if timed_out else None,
        subscription=result.subscription,
        sources=result.sources,
        state_patch=result.state_patch,
    )
    total = len(_body(call, whole))
    if total <= MAX_ANSWER_BYTES:
        return whole
    if (size := len(wire_json(whole.state_patch))) > MAX_PATCH_BYTES:
        text = f"the state patch has {size:,} bytes as JSON, at most {MAX_PATCH_BYTES:,} can be sent"
        return RecordedResult(content=error_result(text).content, is_error=True)
    slim = whole.model_copy(update={"content": (), "sources": _first_sources(whole.sources)})
    kept = _first_blocks(whole.content, MAX_ANSWER_BYTES - len(_body(call, slim)) - _NOTE_BYTES)
    cut = slim.model_copy(update={"content": kept})
    left_out = total - len(_body(call, cut))
    note = (
        f"[This result is cut: as JSON it has {total:,} bytes, a message carries {MAX_ANSWER_BYTES:,}. "
        f"{left_out:,} bytes are left out, {len(whole.sources) - len(cut.sources)} sources among them.]"
    )
    return cut.model_copy(update={"content": (*kept, TextBlock(text=note))})


def _body(call: ToolCallMessage, result: RecordedResult) -> str:
    head = {
        "v": 1,
        "type": "tool_result",
        "thread_id": call.thread_id,
        "message_id": digest("result", call.call_id),
        "call_id": call.call_id,
    }
    return wire_json({**head, **result.to_json()})


def _first_sources(sources: tuple[Source, ...]) -> tuple[Source, ...]:
    room, kept = MAX_SOURCES_BYTES, []
    for source in sources:
        room -= _json_bytes(source.to_json())
        if room < 0:
            break
        kept.append(source)
    return tuple(kept)


def _first_blocks(blocks: Content, room: int) -> Content:
    """The blocks that fit into `room` bytes, the first that does not cut to a text."""
    kept: list[Block] = []
    for block in blocks:
        size = _json_bytes(block.to_json())
        if size > room:
            text = clip_json(_text_of(block), room + 2 - _json_bytes(TextBlock(text="").to_json()))
            return (*kept, TextBlock(text=text)) if text.strip() else tuple(kept)
        kept.append(block)
        room -= size
    return tuple(kept)


def _text_of(block: Block) -> str:
    match block:
        case TextBlock(text=text):
            return text
        case JsonBlock(data=data):
            return wire_json(data)
        case _:
            return ""


def _json_bytes(value: Any) -> int:
    """The size of a value inside a list, its comma included."""
    return len(wire_json(value)) + 1
