"""What a state costs over the real adapters: no request more, and of bytes only its own change, at any age."""

import pytest

from core.app import App
from core.messages import Input
from tests.contract.stores import DynamoStores
from tests.contract.test_slice_cost import TEXT_STORE, Deployed, deployed
from tests.support.inputs import user
from tests.support.played import Turn, calls, says
from tests.support.stateful import noting
from tests.support.world import agent

ECHO = calls(("echo", {"text": "x" * 20}))
WRITE = calls(("write", {"text": "x" * 20}))
CHANGE_BYTES = 200
"""What the edits of a note take, at most: two small ones."""


async def taken(on: Deployed, number: int, *turns: Turn) -> tuple[int, list[str]]:
    """Bytes put and requests of one slice."""
    message: Input = user(f"question {number:03}", f"m{number:03}")
    await on.slice(message, *turns)
    put = on.aws.dynamodb.bytes_put()
    return put, [*on.aws.dynamodb.operations(), *on.aws.s3.operations()]


async def test_a_state_takes_no_request_more_and_only_the_bytes_of_its_change(
    dynamo: DynamoStores, aws_endpoint: str
) -> None:
    async with deployed(dynamo, aws_endpoint) as on:
        on.app = App.of(agent())
        plain = [await taken(on, number, ECHO, says("done")) for number in range(3)]
        assert plain[-1][1] == [*TEXT_STORE, "put_item", "update_item"]
    async with deployed(dynamo, aws_endpoint) as on:
        on.app = App.of(noting())
        same = [await taken(on, number, ECHO, says("done")) for number in range(3)]
        assert [requests for _, requests in same] == [requests for _, requests in plain]
        assert [put for put, _ in same] == [pytest.approx(put, abs=20) for put, _ in plain]
        changed = [await taken(on, 3 + number, WRITE, says("done")) for number in range(12)]
        assert all(requests == plain[-1][1] for _, requests in changed)
        assert max(put for put, _ in changed) <= plain[-1][0] + CHANGE_BYTES
        assert changed[-1][0] == pytest.approx(changed[1][0], abs=20)
        assert ((await on.aws.store.load("t1")).folded.state.stored_state or {})["count"] == 12
