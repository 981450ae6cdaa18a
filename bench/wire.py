"""What goes over the wire to a local stack's AWS: every HTTP request, read off on its way, with what AWS would bill.

Counted there, and not in the adapters, so that nothing that is asked for can be forgotten. Receives and deletes are
those of the stack's own event sources: of them only the deletes are kept, one for each message that is done.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from infra.aws_limits import item_bytes
from infra.local import server

CHUNK_BYTES = 64 * 1024
"""SQS bills a request for each of its payload."""
WRITE_UNIT_BYTES, READ_UNIT_BYTES = 1024, 4096
_DYNAMODB, _SQS = "DynamoDB_20120810.", "AmazonSQS."
_SCHEDULER = "/scheduler/aws4_request"
_OVERHEARD = ("ReceiveMessage", "ChangeMessageVisibility")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    service: str
    """`dynamodb`, `sqs`, `s3` or `scheduler`."""
    operation: str
    resource: str
    """As the local stack names it, without prefix: `threads`, `input`, `worker-web`. Empty where there is one only."""
    size_bytes: int
    """Of items, bodies or objects: what is written, or read if nothing is."""
    units: int = 0
    """Request units of DynamoDB; requests as SQS bills them."""
    items: int = 0
    """Of DynamoDB, newly written ones."""


@dataclass(frozen=True, slots=True)
class Raw:
    """One request as it was made, for making it again."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Wire:
    """Everything asked so far, in order. The server's threads add to it."""

    asked: list[Asked] = field(default_factory=list)
    raw: list[Raw] = field(default_factory=list)
    keeps_raw: bool = False
    done: Counter[str] = field(default_factory=Counter)
    """Messages that are done, by queue, since the beginning."""
    _sizes: dict[str, int] = field(default_factory=dict)
    """Of the items of the tables, by key: an update's units go by the whole item."""

    def take(self) -> list[Asked]:
        """What was asked since the last time."""
        asked, self.asked = self.asked, []
        return asked

    def note(self, environ: dict[str, Any], body: bytes, answer: bytes) -> None:
        """A request that was answered."""
        target = str(environ.get("HTTP_X_AMZ_TARGET", ""))
        if target.startswith(_DYNAMODB):
            found = self._of_table(
                target.removeprefix(_DYNAMODB), json.loads(body), json.loads(answer or b"{}")
            )
        elif target.startswith(_SQS):
            found = _of_queue(target.removeprefix(_SQS), json.loads(body))
        elif _SCHEDULER in environ.get("HTTP_AUTHORIZATION", ""):
            found = Asked("scheduler", str(environ["REQUEST_METHOD"]), "", len(body))
        else:
            size = int(environ.get("CONTENT_LENGTH") or 0) or len(answer)
            found = Asked("s3", str(environ["REQUEST_METHOD"]), "", size)
        self.done[found.resource] += found.operation == "DeleteMessage"
        if found.operation not in _OVERHEARD:
            self.asked.append(found)
            if self.keeps_raw and not found.operation.startswith("Delete"):
                self.raw.append(_raw(environ, body))

    def _of_table(self, operation: str, request: dict[str, Any], answer: dict[str, Any]) -> Asked:
        match operation:
            case "PutItem":
                return self._writing(operation, request["TableName"], [request["Item"]])
            case "BatchWriteItem":
                ((table, writes),) = request["RequestItems"].items()
                return self._writing(operation, table, [write["PutRequest"]["Item"] for write in writes])
            case "UpdateItem":
                return self._updating(request)
            case "Query":
                return _reading(operation, request["TableName"], [sum(map(_size, answer.get("Items", ())))])
            case "GetItem":
                return _reading(operation, request["TableName"], [_size(answer.get("Item", {}))])
            case "BatchGetItem":
                ((table, wanted),) = request["RequestItems"].items()
                found = [_size(item) for item in answer["Responses"].get(table, ())]
                absent = len(wanted["Keys"]) - len(found)
                return _reading(operation, table, [*found, *[0] * absent])
            case _:
                return Asked("dynamodb", operation, _short(str(request.get("TableName", ""))), 0)

    def _writing(self, operation: str, table: str, items: list[dict[str, Any]]) -> Asked:
        sizes = [_size(item) for item in items]
        keys = [_key(table, item) for item in items]
        new = sum(key not in self._sizes for key in keys)
        units = sum(
            _units(max(size, self._sizes.get(key, 0)), WRITE_UNIT_BYTES)
            for key, size in zip(keys, sizes, strict=True)
        )
        self._sizes |= dict(zip(keys, sizes, strict=True))
        return Asked("dynamodb", operation, _short(table), sum(sizes), units, new)

    def _updating(self, request: dict[str, Any]) -> Asked:
        """At most this: values that take the place of others are added to them."""
        key, written = (
            _key(request["TableName"], request["Key"]),
            _size(request.get("ExpressionAttributeValues", {})),
        )
        new = int(key not in self._sizes)
        size = self._sizes[key] = self._sizes.get(key, _size(request["Key"])) + written
        return Asked(
            "dynamodb",
            "UpdateItem",
            _short(request["TableName"]),
            written,
            _units(size, WRITE_UNIT_BYTES),
            new,
        )


@contextmanager
def watched(*, keeps_raw: bool = False) -> Iterator[Wire]:
    """Local stacks that start meanwhile have their wire watched."""
    wire, made = Wire(keeps_raw=keeps_raw), server.make_local_server

    def make(application: server.Wsgi) -> Any:
        def heard(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            if "HTTP_X_AMZ_TARGET" not in environ and _SCHEDULER not in environ.get("HTTP_AUTHORIZATION", ""):
                body = b""  # an object, which may come in pieces
            else:
                body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                environ = {**environ, "wsgi.input": BytesIO(body)}
            answer = b"".join(application(environ, start_response))
            wire.note(environ, body, answer)
            return [answer]

        return made(heard)

    setattr(server, "make_local_server", make)  # noqa: B010 - it stands in for a function of that module
    try:
        yield wire
    finally:
        setattr(server, "make_local_server", made)  # noqa: B010


def _of_queue(operation: str, request: dict[str, Any]) -> Asked:
    entries = request.get("Entries", [request])
    size = sum(_message_bytes(entry) for entry in entries)
    queue = str(request.get("QueueUrl", "")).rpartition("/")[2].removesuffix(".fifo")
    return Asked("sqs", operation, _short(queue), size, _units(size, CHUNK_BYTES))


def _message_bytes(entry: dict[str, Any]) -> int:
    """As SQS counts a message: its body, and names, types and values of its attributes."""
    attributes = entry.get("MessageAttributes", {}).items()
    told = sum(len(name) + len(one["DataType"]) + len(one.get("StringValue", "")) for name, one in attributes)
    return len(str(entry.get("MessageBody", "")).encode()) + told


def _reading(operation: str, table: str, sizes: list[int]) -> Asked:
    """All reads here are strongly consistent. A query counts as one item, each item of a batch for itself."""
    units = sum(_units(size, READ_UNIT_BYTES) for size in sizes)
    return Asked("dynamodb", operation, _short(table), sum(sizes), units)


def _units(size_bytes: int, unit_bytes: int) -> int:
    return max(1, -(-size_bytes // unit_bytes))


def _size(item: dict[str, Any]) -> int:
    return item_bytes({name: _bytes_decoded(value) for name, value in item.items()})


def _bytes_decoded(value: dict[str, Any]) -> dict[str, Any]:
    return {"B": base64.b64decode(value["B"])} if "B" in value else value


def _key(table: str, item: dict[str, Any]) -> str:
    return json.dumps([table, item["pk"]["S"], item.get("sk", {"S": ""})["S"]])


def _short(name: str) -> str:
    """Without the local stack's prefix."""
    return name.partition("-")[2]


def _raw(environ: dict[str, Any], body: bytes) -> Raw:
    names = ("CONTENT_TYPE", "HTTP_X_AMZ_TARGET", "HTTP_AUTHORIZATION", "HTTP_X_AMZ_DATE")
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").title(): str(environ[name])
        for name in names
        if name in environ
    }
    query = environ.get("QUERY_STRING", "")
    return Raw(
        environ["REQUEST_METHOD"], environ["PATH_INFO"] + (f"?{query}" if query else ""), headers, body
    )
