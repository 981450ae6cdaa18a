"""Loopback model servers over HTTP/1.1, which play answers and check every request. Here: Bedrock's `converse_stream`.

Real sockets and the real framing, so that the real client is what is tested.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, assert_never
from urllib.parse import unquote

from tests.wire.rules import faults_of
from tests.wire.steps import Answer, Cut, Hold, Piece, Raw, Refusal, Silence, Stall, Step, Stream

_SUFFIX = "/converse-stream"


@dataclass(frozen=True)
class Received:
    """One request: what was sent in it."""

    model_id: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


class WireServer(ABC):
    """Plays its answers one after another. A request that breaks the rules is refused and kept in `faults`.

    Leaving it fails the test for faults, for requests nobody foresaw and for answers that were not asked for. A
    subclass knows the provider's form.
    """

    content_type = "text/event-stream"

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[Received] = []
        self.faults: list[str] = []
        self.connections = 0
        """So far."""
        self.otherwise: Answer | None = None
        """Played when nothing else is left to play; such requests are then foreseen."""
        self._playing = 0
        self._idle = asyncio.Event()
        self._answers = list(answers)
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close()
        if kind is None:
            assert self.faults == []
            assert self._answers == []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def close(self) -> None:
        """Be gone. Again does nothing."""
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    async def idle(self) -> None:
        """Returns when no stream is being played any more."""
        await self._idle.wait()

    def play(self, *answers: Answer) -> None:
        """Add answers."""
        self._answers.extend(answers)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self.connections += 1
        try:
            while found := await _read(reader):
                received = self.received(*found)
                if not await self._answer(self._choose(received), reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            self._serving.discard(task)
            writer.close()

    @abstractmethod
    def received(self, path: str, headers: Mapping[str, str], body: Any) -> Received:
        """What a request says."""
        ...

    @abstractmethod
    def faults_of(self, received: Received) -> list[str]:
        """What the provider would refuse it for."""
        ...

    @abstractmethod
    def refusal(self, refusal: Refusal) -> tuple[dict[str, str], Any]:
        """Headers and body of a refusal."""
        ...

    def _choose(self, received: Received) -> Answer:
        self.requests.append(received)
        if found := self.faults_of(received):
            self.faults += found
            return Refusal(400, "ValidationException", "; ".join(found))
        if not self._answers and self.otherwise is not None:
            return self.otherwise
        if not self._answers:
            self.faults.append("a request that no test foresaw")
            return Refusal(400, "ValidationException", "no more answers")
        return self._answers.pop(0)

    async def _answer(
        self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection can be used again."""
        match answer:
            case Raw(data=data):
                writer.write(data)
                await writer.drain()
                return False
            case Refusal():
                _write_refusal(writer, answer.status, *self.refusal(answer))
                await writer.drain()
                return True
            case Stream():
                self._playing += 1
                self._idle.clear()
                try:
                    return await _play(answer, self.content_type, reader, writer)
                finally:
                    self._playing -= 1
                    if not self._playing:
                        self._idle.set()
            case Silence():
                return await _step(Stall(), reader, writer)
            case _:
                assert_never(answer)


class ConverseServer(WireServer):
    """Bedrock."""

    content_type = "application/vnd.amazon.eventstream"

    def received(self, path: str, headers: Mapping[str, str], body: Any) -> Received:
        assert path.startswith("/model/")
        assert path.endswith(_SUFFIX)
        return Received(unquote(path[len("/model/") : -len(_SUFFIX)]), headers, body)

    def faults_of(self, received: Received) -> list[str]:
        return faults_of(received.model_id, received.body)

    def refusal(self, refusal: Refusal) -> tuple[dict[str, str], Any]:
        kind = f"{refusal.code}:http://internal.amazon.com/coral/"
        return {"x-amzn-ErrorType": kind}, {"message": refusal.message}


async def _read(reader: asyncio.StreamReader) -> tuple[str, Mapping[str, str], Any] | None:
    """Path, headers and body of the next request, None if there is none."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    request_line, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path, _ = request_line.split(" ")
    assert method == "POST"
    return path, headers, json.loads(body)


def _write_refusal(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], message: Any) -> None:
    body = json.dumps(message).encode()
    told = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {status} Refused", *(f"{name}: {value}" for name, value in told.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)


async def _play(
    answer: Stream, content_type: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    writer.write(
        f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n"
        "x-amzn-RequestId: 00000000-0000-0000-0000-000000000000\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    )
    for step in answer.steps:
        if not await _step(step, reader, writer):
            return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _step(step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the stream goes on."""
    match step:
        case Piece(data=data):
            if data:
                writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                await writer.drain()
            return True
        case Hold(reached=reached, go_on=go_on):
            reached.set()
            await go_on.wait()
            return True
        case Stall():
            await reader.read(1)  # until the client goes away
            return False
        case Cut():
            return False
        case _:
            assert_never(step)
