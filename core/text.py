"""Cleaning of outside text and JSON, and the two JSON forms Torpor writes.

What JSON, SQS, DynamoDB or a model cannot carry is replaced by U+FFFD, never dropped silently. SQS allows tab, LF, CR,
U+0020–D7FF, U+E000–FFFD and what is above U+FFFF; escaping hides everything else but a lone surrogate, and a model
sees the decoded text, so cleaning is done on the text itself, at the edge.
"""

import json
import math
import re
from typing import Any

REPLACEMENT = "\ufffd"

_UNCARRIABLE = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_NONCHARACTER = re.compile(
    "[" + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17)) + "\\ufdd0-\\ufdef]"
)


def clean_text(text: str) -> str:
    """`text` with control characters, lone surrogates and non-characters replaced. Idempotent."""
    return _NONCHARACTER.sub(REPLACEMENT, _UNCARRIABLE.sub(REPLACEMENT, text))


def clean_json(value: Any) -> Any:
    """A copy of a JSON value that every later hop can carry.

    Strings and keys are cleaned; NaN and the infinities become the strings "NaN", "Infinity", "-Infinity". Keys that
    become equal by cleaning keep the last value, as JSON itself does with repeated keys.
    """
    match value:
        case str():
            return clean_text(value)
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case dict():
            return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
        case list() | tuple():
            return [clean_json(item) for item in value]
        case _:
            return value


def is_deeper_than(value: Any, levels: int) -> bool:
    """Whether a JSON value nests deeper than `levels`. Serialisers give up somewhere above 200, all differently."""
    match value:
        case dict():
            inner = list(value.values())
        case list() | tuple():
            inner = list(value)
        case _:
            return False
    return levels <= 0 or any(is_deeper_than(item, levels - 1) for item in inner)


def canonical_json(value: Any) -> str:
    """One text per value: sorted keys, no spaces, ASCII. What digests are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def in_key_order(value: Any) -> Any:
    """A JSON value with the keys of its objects sorted: the order in which `canonical_json` gives it back.

    What a model is shown must not depend on whether it was loaded: provider caches go by bytes.
    """
    match value:
        case dict():
            return {key: in_key_order(value[key]) for key in sorted(value, key=str)}
        case list():
            return [in_key_order(item) for item in value]
        case _:
            return value


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are one; to Python, true and 1 are."""
    return canonical_json(one) == canonical_json(other)


def wire_json(value: Any) -> str:
    """Compact ASCII-escaped JSON in the given key order: safe in every SQS body."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def clip_json(text: str, max_bytes: int) -> str:
    """The longest beginning of `text` that takes at most `max_bytes` as an ASCII-escaped JSON string."""
    low, high = 0, min(len(text), max(0, max_bytes - 2))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(wire_json(text[:middle])) <= max_bytes else (low, middle - 1)
    return text[:low]


def shorten(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, marked if anything is cut. For error texts and logs."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"
