"""A client that counts what it is asked, and fails where a test says so. Everything else goes to the emulator."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

import aiohttp
from botocore.exceptions import ClientError

from infra.aws_limits import item_bytes

Send = Callable[..., Awaitable[Any]]
Fault = Callable[[Send, dict[str, Any]], Awaitable[Any]]
"""Takes the place of one request: may make it, and answers or raises."""


@dataclass(frozen=True, slots=True)
class Call:
    operation: str
    request: dict[str, Any]
    response: Any


class Watched:
    """Wraps an aiobotocore client."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.calls: list[Call] = []

    def __getattr__(self, operation: str) -> Send:
        async def send(**request: Any) -> Any:
            response = None
            try:
                if self._faults[operation]:
                    response = await self._faults[operation].popleft()(
                        getattr(self._client, operation), request
                    )
                else:
                    response = await getattr(self._client, operation)(**request)
            finally:
                self.calls.append(Call(operation, request, response))
            return response

        return send

    def next_time(self, operation: str, *faults: Fault) -> None:
        """Let the faults take the place of the next requests of that operation, one each."""
        self._faults[operation].extend(faults)

    def operations(self) -> list[str]:
        """What was asked since the last time, in order."""
        operations = [call.operation for call in self.calls]
        self.calls.clear()
        return operations

    def read_units(self) -> int:
        """Of strongly consistent reads so far: 1 per 4 KB, of a whole query, but of each item in a batch."""
        units = 0
        for call in self.calls:
            match call.operation:
                case "query":
                    units += _units(sum(map(item_bytes, call.response["Items"])), 4096)
                case "batch_get_item":
                    (name, asked), *_ = call.request["RequestItems"].items()
                    found = call.response["Responses"].get(name, [])
                    units += len(asked["Keys"]) - len(found)
                    units += sum(_units(item_bytes(item), 4096) for item in found)
        return units

    def write_units(self) -> int:
        """So far: 1 per KB of each item. Updates here are of items under 1 KB."""
        units = 0
        for call in self.calls:
            match call.operation:
                case "put_item":
                    units += _units(item_bytes(call.request["Item"]), 1024)
                case "batch_write_item":
                    (puts,) = call.request["RequestItems"].values()
                    units += sum(_units(item_bytes(put["PutRequest"]["Item"]), 1024) for put in puts)
                case "update_item":
                    units += 1
        return units

    def bytes_put(self) -> int:
        """So far: of every item put alone, which is every commit."""
        puts = [call.request["Item"] for call in self.calls if call.operation == "put_item"]
        return sum(map(item_bytes, puts))


def _units(size_bytes: int, unit_bytes: int) -> int:
    return max(1, -(-size_bytes // unit_bytes))


def refused(code: str, status: int = 400) -> ClientError:
    """The error AWS answers with."""
    response: Any = {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "operation")


def fails(failure: Exception) -> Fault:
    """The request never arrives, or is refused."""

    async def fault(send: Send, request: dict[str, Any]) -> Any:
        raise failure

    return fault


def loses_the_answer(failure: Exception) -> Fault:
    """The request takes effect, and its answer is lost."""

    async def fault(send: Send, request: dict[str, Any]) -> Any:
        await send(**request)
        raise failure

    return fault


class _CutOff:
    """An S3 body that ends before its time."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        pass

    async def read(self) -> bytes:
        raise aiohttp.ClientPayloadError("not all of it came")


async def is_cut_off(send: Send, request: dict[str, Any]) -> Any:
    """A GetObject whose body ends before its time."""
    return {"Body": _CutOff()}


async def hangs(send: Send, request: dict[str, Any]) -> Any:
    """The request is never answered."""
    await asyncio.Event().wait()


async def gets_half(send: Send, request: dict[str, Any]) -> Any:
    """A BatchGetItem that leaves its second half unprocessed."""
    ((name, asked),) = request["RequestItems"].items()
    half = len(asked["Keys"]) // 2
    first, rest = asked["Keys"][:half], asked["Keys"][half:]
    response = await send(RequestItems={name: asked | {"Keys": first}})
    return response | {"UnprocessedKeys": {name: asked | {"Keys": rest}}}


async def puts_half(send: Send, request: dict[str, Any]) -> Any:
    """A BatchWriteItem that leaves its second half unprocessed."""
    ((name, puts),) = request["RequestItems"].items()
    half = len(puts) // 2
    response = await send(RequestItems={name: puts[:half]})
    return response | {"UnprocessedItems": {name: puts[half:]}}
