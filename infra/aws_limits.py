"""Limits of AWS that the emulator does not check, checked before every request so that tests meet them too.

Each raises MisuseError: a request over a limit is a bug of ours, and AWS would refuse it every time.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.errors import MisuseError

ITEM_BYTES: Final = 400 * 1024
"""DynamoDB: one item, names and values, in UTF-8 bytes."""
PARTITION_KEY_BYTES: Final = 2048
SORT_KEY_BYTES: Final = 1024
BATCH_GET_KEYS: Final = 100
BATCH_WRITE_ITEMS: Final = 25
EXPRESSION_BYTES: Final = 4096
"""DynamoDB: one expression string."""
OBJECT_KEY_BYTES: Final = 1024
"""S3: one key."""

AttributeMap = Mapping[str, Mapping[str, Any]]
"""An item or key in the DynamoDB client's form: `{"pk": {"S": "…"}}`."""


def item_bytes(item: AttributeMap) -> int:
    """The size DynamoDB bills and limits, for the attribute types Torpor writes (S, N, B)."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    match value:
        case {"S": str(text)}:
            return len(text.encode())
        case {"N": str(digits)}:
            return (len(digits) + 1) // 2 + 1
        case {"B": bytes(data)}:
            return len(data)
        case _:
            raise MisuseError(f"attribute type {'/'.join(value)} is not written here: store JSON text")


def check_key(key: AttributeMap) -> None:
    """Keys are strings, not empty, and short."""
    for name, limit in (("pk", PARTITION_KEY_BYTES), ("sk", SORT_KEY_BYTES)):
        size = len(str(key[name]["S"]).encode())
        if not 1 <= size <= limit:
            raise MisuseError(f"DynamoDB key {name} has {size} bytes, allowed are 1 to {limit}")


def check_item(item: AttributeMap) -> None:
    """An item to be put, keys included."""
    check_key(item)
    size = item_bytes(item)
    if size > ITEM_BYTES:
        raise MisuseError(f"DynamoDB item of {size} bytes, allowed are {ITEM_BYTES}")


def check_batch(keys: Sequence[AttributeMap], limit: int) -> None:
    """A batch: bounded, not empty, and no key twice."""
    if not 1 <= len(keys) <= limit:
        raise MisuseError(f"DynamoDB batch of {len(keys)}, allowed are 1 to {limit}")
    if len({(key["pk"]["S"], key["sk"]["S"]) for key in keys}) != len(keys):
        raise MisuseError("DynamoDB batch with a key twice")


def check_expression(expression: str) -> None:
    """An update, condition or key expression."""
    size = len(expression.encode())
    if size > EXPRESSION_BYTES:
        raise MisuseError(f"DynamoDB expression of {size} bytes, allowed are {EXPRESSION_BYTES}")


def check_object_key(key: str) -> None:
    """The key of an S3 object."""
    size = len(key.encode())
    if not 1 <= size <= OBJECT_KEY_BYTES:
        raise MisuseError(f"S3 key of {size} bytes, allowed are 1 to {OBJECT_KEY_BYTES}")
