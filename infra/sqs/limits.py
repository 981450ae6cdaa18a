"""What SQS refuses, checked before anything is sent. Alone because emulators accept what AWS does not.

Sources: the SQS quotas and the `SendMessage` reference. Every adapter, the in-memory queues too, passes through here.
"""

import re
from collections.abc import Mapping

MAX_BODY_BYTES = 1_048_576
"""With its attributes."""
MAX_BATCH_BYTES = 1_048_576
"""Messages of one SendMessageBatch together."""
MAX_BATCH_ENTRIES = 10
MAX_DELAY_SECONDS = 900
STRING = "String"
"""The data type of attributes."""

_UNCARRIABLE = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_ID = re.compile(r"[!-~]{1,128}")
"""Group and deduplication ids: letters, digits and ASCII punctuation."""


def body_bytes(body: str) -> int:
    """The size SQS counts: UTF-8. A lone surrogate, which `body_fault` refuses, counts as three bytes."""
    return len(body.encode("utf-8", "surrogatepass"))


def message_bytes(body: str, attributes: Mapping[str, str]) -> int:
    """What SQS counts of a message: its body, and each attribute's name, type and value."""
    return body_bytes(body) + sum(
        len(f"{name}{STRING}{value}".encode()) for name, value in attributes.items()
    )


def body_fault(body: str) -> str | None:
    """Why SQS would never take this body; None if it would. Never quotes it."""
    if not body:
        return "the body is empty"
    if found := _UNCARRIABLE.search(body):
        return f"the body has U+{ord(found.group()):04X}, which SQS does not carry"
    if (size := body_bytes(body)) > MAX_BODY_BYTES:
        return f"the body has {size} bytes, SQS takes {MAX_BODY_BYTES}"
    return None


def fifo_fault(group: str | None, dedup_id: str | None, delay_seconds: int = 0) -> str | None:
    """Why a FIFO queue without content-based deduplication would refuse these; None if it would not."""
    if delay_seconds:
        return "a FIFO queue takes no delay per message"
    for name, value in (("MessageGroupId", group), ("MessageDeduplicationId", dedup_id)):
        if value is None:
            return f"a FIFO queue needs a {name}"
        if not _ID.fullmatch(value):
            return f"the {name} is not 1-128 letters, digits and ASCII punctuation"
    return None


def standard_fault(dedup_id: str | None, delay_seconds: int) -> str | None:
    """Why a standard queue would refuse these; None if it would not."""
    if dedup_id is not None:
        return "a standard queue takes no MessageDeduplicationId"
    if not 0 <= delay_seconds <= MAX_DELAY_SECONDS:
        return f"DelaySeconds must be 0-{MAX_DELAY_SECONDS}"
    return None
