"""What OpenAI's chat API and Anthropic's Messages API stream, as server-sent events, by their descriptions."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

Piece = dict[str, Any]


def event(data: Any, name: str | None = None) -> bytes:
    """One event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def chat_chunk(delta: Piece | None, finish_reason: str | None = None, **fields: Any) -> bytes:
    """A chunk of a chat completion; without a delta, one that only measures."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return event({**head, "choices": choices, **fields})


def chat(*deltas: Piece, reason: str = "stop", usage: Piece | None = None) -> list[bytes]:
    """A whole chat completion, event by event."""
    measured = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, **(usage or {})}
    return [
        chat_chunk({"role": "assistant", "content": ""}),
        *map(chat_chunk, deltas),
        chat_chunk({}, reason),
        chat_chunk(None, usage=measured),
        event("[DONE]"),
    ]


def chat_call(index: int, name: str, *pieces: str) -> list[Piece]:
    """The deltas of a call."""
    first = {"index": index, "id": f"call_{index}", "type": "function"}
    opening = {**first, "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [one]} for one in (opening, *rest)]


def messages(*blocks: Sequence[bytes], reason: str = "end_turn", usage: Piece | None = None) -> list[bytes]:
    """A whole answer of the Messages API, event by event."""
    measured = {"input_tokens": 10, "output_tokens": 1, **(usage or {})}
    begun = {
        **{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []},
        **{"stop_reason": None, "stop_sequence": None, "usage": measured},
    }
    ended = {"stop_reason": reason, "stop_sequence": None}
    return [
        _named("message_start", message=begun),
        _named("ping"),
        *(one for block in blocks for one in block),
        _named("message_delta", delta=ended, usage={"output_tokens": 5, **(usage or {})}),
        _named("message_stop"),
    ]


def block(index: int, start: Piece, deltas: Iterable[Piece]) -> list[bytes]:
    """One content block."""
    return [
        _named("content_block_start", index=index, content_block=start),
        *(_named("content_block_delta", index=index, delta=delta) for delta in deltas),
        _named("content_block_stop", index=index),
    ]


def text(index: int, *pieces: str) -> list[bytes]:
    return block(index, {"type": "text", "text": ""}, ({"type": "text_delta", "text": p} for p in pieces))


def thinking(index: int, *pieces: str, signature: str = "") -> list[bytes]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, *signed])


def redacted(index: int, data: str) -> list[bytes]:
    return block(index, {"type": "redacted_thinking", "data": data}, [])


def call(index: int, name: str, *pieces: str) -> list[bytes]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}, deltas)


def failure(kind: str, message: str = "") -> bytes:
    """An error inside a stream of the Messages API."""
    return _named("error", error={"type": kind, "message": message})


def _named(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)
