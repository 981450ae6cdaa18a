"""An id that no thread can have: said at once, by whatever reads. Nothing would ever come of it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core.errors import MisuseError
from infra.client import AgentClient
from tests.support.client import talk


async def _follow(client: AgentClient, thread_id: str) -> Any:
    return await anext(client.follow(thread_id))


async def _turns(client: AgentClient, thread_id: str) -> Any:
    return await anext(client.turns(thread_id))


async def _tree(client: AgentClient, thread_id: str) -> Any:
    return await client.tree(thread_id)


async def _wait(client: AgentClient, thread_id: str) -> Any:
    return await client.wait(thread_id, "m1", timeout_seconds=3600)


@pytest.mark.parametrize("read", [_follow, _turns, _tree, _wait])
@pytest.mark.parametrize("thread_id", ["", "no thread", "t/1", "t~x~y", "t" * 101, "t\n"])
async def test_no_thread_can_have_it(
    read: Callable[[AgentClient, str], Awaitable[Any]], thread_id: str
) -> None:
    one = talk()
    with pytest.raises(MisuseError):
        await read(one.client, thread_id)
    assert one.clock.slept == []
