"""Answers to a part of a request, as AWS gives them: keys and items left unprocessed, messages that failed alone, pages
that end early. moto never does any of it.
"""

from collections.abc import Callable
from typing import Any

from .asked import Answered, Asked

Ask = Callable[[Asked], Answered]
_JSON = Answered(200, {"Content-Type": "application/x-amz-json-1.0"}, b"{}")


def can_be_partial(request: Asked) -> bool:
    """Whether AWS may answer it in part."""
    return request.operation in _PARTS


def in_part(request: Asked, ask: Ask) -> Answered:
    """Half of it is done, less if it cannot be halved; the answer says what is left."""
    return _PARTS[request.operation](request, ask)


def _get_half(request: Asked, ask: Ask) -> Answered:
    ((table, wanted),) = request.fields["RequestItems"].items()
    half = len(wanted["Keys"]) // 2
    asked, left = (
        {table: {**wanted, "Keys": keys}} for keys in (wanted["Keys"][:half], wanted["Keys"][half:])
    )
    nothing: dict[str, Any] = {"Responses": {table: []}}
    return _with(request, ask, {"RequestItems": asked} if half else None, nothing, {"UnprocessedKeys": left})


def _write_half(request: Asked, ask: Ask) -> Answered:
    ((table, wanted),) = request.fields["RequestItems"].items()
    half = len(wanted) // 2
    asked = {"RequestItems": {table: wanted[:half]}} if half else None
    return _with(request, ask, asked, {}, {"UnprocessedItems": {table: wanted[half:]}})


def _send_half(request: Asked, ask: Ask) -> Answered:
    """The later half goes first: what failed must not be lost behind it."""
    entries = request.fields["Entries"]
    half = (len(entries) + 1) // 2
    failed = [
        {"Id": entry["Id"], "Code": "InternalError", "Message": "Try again", "SenderFault": False}
        for entry in entries[:half]
    ]
    asked = {**request.fields, "Entries": entries[half:]} if entries[half:] else None
    return _with(request, ask, asked, {"Successful": []}, {"Failed": failed})


def _short_page(request: Asked, ask: Ask) -> Answered:
    return ask(request.with_fields({**request.fields, "Limit": 1}))


def _with(
    request: Asked, ask: Ask, asked: dict[str, Any] | None, nothing: dict[str, Any], left: dict[str, Any]
) -> Answered:
    """What `asked` brings, `nothing` if it is None, and what is left."""
    answer = ask(request.with_fields(asked)) if asked is not None else _JSON.with_fields(nothing)
    return answer.with_fields({**answer.fields, **left})


_PARTS: dict[str, Callable[[Asked, Ask], Answered]] = {
    "BatchGetItem": _get_half,
    "BatchWriteItem": _write_half,
    "SendMessageBatch": _send_half,
    "Query": _short_page,
}
