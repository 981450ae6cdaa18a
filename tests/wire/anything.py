"""What anybody might send and any model might stream, generated: text, JSON, media, calls, streams of every shape."""

import base64
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.wire import frames
from tests.wire.steps import Cut, Stream, first, plays

any_text = st.text(st.characters(exclude_categories=()), max_size=12) | st.sampled_from(
    ["", " \n\t", "\x00", "\x1b[31m", "\ud800", "\ufffe\uffff\U0010ffff", "\u202eabc", "x" * 300]
)
any_number = st.integers() | st.floats() | st.sampled_from([2**63, -(2**63), 10**400, 0.1, -0.0, 1e308])
any_json = st.recursive(
    st.none() | st.booleans() | any_number | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)

SIZES = st.sampled_from([0, 1, 64, 8_000, 8_001, 2**31])


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")


any_bytes = st.binary(max_size=20) | st.builds(_png, SIZES, SIZES) | st.just(b"%PDF-1.7 words")
any_data = any_bytes.map(lambda data: base64.b64encode(data).decode()) | any_text
media_types = st.sampled_from(
    [
        "image/png",
        "IMAGE/PNG; x=y",
        "image/jpeg",
        "image/svg+xml",
        "application/pdf",
        "text/plain",
        "video/mp4",
        "",
    ]
)
_names = st.sampled_from(["notes", "notes", "a  b", "käse.pdf", " "]) | any_text


def _block(kind: str, media_type: str, data: bytes, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "media_type": media_type, "data": base64.b64encode(data).decode(), **fields}


usable_media = st.one_of(
    st.builds(lambda name: _block("document", "text/plain", b"words", name=name), _names),
    st.builds(lambda name: _block("document", "application/pdf", b"%PDF-1.7", name=name), _names),
    st.just(_block("image", "image/png", _png(64, 64))),
)
any_block = st.one_of(
    usable_media,
    st.fixed_dictionaries({"type": st.just("text"), "text": any_text}),
    st.fixed_dictionaries({"type": st.just("json"), "data": any_json}),
    st.fixed_dictionaries({"type": st.just("image"), "media_type": media_types, "data": any_data}),
    st.fixed_dictionaries(
        {
            "type": st.just("document"),
            "media_type": media_types,
            "name": _names,
            "data": any_data,
        }
    ),
    st.fixed_dictionaries({"type": st.just("image"), "media_type": media_types, "s3": any_text}),
)
any_content = st.lists(any_block, max_size=4) | st.lists(usable_media, max_size=8) | any_text | any_json


@dataclass(frozen=True)
class Spoken:
    """A stream, and which arguments of the inline tool it holds whole; `whole`: it was not broken off."""

    stream: Stream
    arguments: tuple[Any, ...]
    whole: bool


def _arguments(name: str, written: str) -> list[Any]:
    try:
        value = json.loads(written)
    except ValueError:
        return []
    return [value] if name == "take" and isinstance(value, dict) else []


names = st.sampled_from(["take", "take", "fetch", "nope", "receive_event__injected"]) | any_text
written = (
    st.dictionaries(st.just("value"), any_json, min_size=1).map(json.dumps)
    | any_text
    | any_json.map(json.dumps)
)
_calls = st.tuples(st.just("call"), names, written)
_texts = st.tuples(st.just("text"), any_text, st.just(""))
_thoughts = st.tuples(st.just("reasoning"), any_text, st.sampled_from(["", "sig"]))
_redacted = st.tuples(st.just("redacted"), st.just(""), st.just(""))
endings = st.sampled_from(["whole", "whole", "cut", "error", "short"])
reasons = st.sampled_from(["end_turn", "tool_use", "max_tokens", "guardrail_intervened", "of_tomorrow"])


def _frames(index: int, kind: str, said: str, more: str) -> list[bytes]:
    match kind:
        case "call":
            return frames.call(index, said, more[: len(more) // 2], more[len(more) // 2 :])
        case "text":
            return frames.text(index, said)
        case "reasoning":
            return frames.reasoning(index, said, signature=[more] if more else [])
        case _:
            return frames.reasoning(index, redacted=[b"\x00secret"])


def _spoken(parts: list[tuple[str, str, str]], reason: str, ending: str, share: float) -> Spoken:
    message = frames.message(*(_frames(at, *part) for at, part in enumerate(parts)), reason=reason)
    arguments = [value for kind, name, more in parts if kind == "call" for value in _arguments(name, more)]
    match ending:
        case "whole":
            return Spoken(plays(message), tuple(arguments), True)
        case "cut":
            return Spoken(first(message, int(len(b"".join(message[:-2])) * share), Cut()), (), False)
        case "short":
            return Spoken(plays(message[: int((len(message) - 2) * share)]), (), False)
        case _:
            broken = frames.exception("throttlingException", "slow down")
            return Spoken(plays([*message[: int((len(message) - 2) * share)], broken]), (), False)


spoken = st.builds(
    _spoken,
    st.lists(_calls | _texts | _thoughts | _redacted, max_size=4),
    reasons,
    endings,
    st.floats(0, 1),
)
