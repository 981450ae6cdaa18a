"""The guard in conftest: loopback works, nothing else does, whichever library asks."""

import asyncio
import socket

import pytest

ELSEWHERE = "192.0.2.1"  # TEST-NET-1 of RFC 5737: nobody's address


def test_a_socket_cannot_leave_the_machine() -> None:
    with socket.socket() as tcp, pytest.raises(RuntimeError, match="loopback only"):
        tcp.connect((ELSEWHERE, 80))
    with socket.socket(type=socket.SOCK_DGRAM) as udp, pytest.raises(RuntimeError, match="loopback only"):
        udp.sendto(b"", (ELSEWHERE, 53))


def test_a_name_is_not_looked_up() -> None:
    with pytest.raises(RuntimeError, match="loopback only"):
        socket.getaddrinfo("torpor.invalid", 443)


async def test_an_event_loop_cannot_leave_the_machine() -> None:
    with pytest.raises(RuntimeError, match="loopback only"):
        await asyncio.open_connection(ELSEWHERE, 443)


async def test_loopback_works() -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        assert await reader.read() == b"hello"
        writer.close()
        await writer.wait_closed()
