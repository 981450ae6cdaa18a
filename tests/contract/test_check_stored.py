"""`check` over what earlier versions have stored, erased logs and what began behind them included: all is right."""

import math

import pytest

from infra.dynamodb.payloads import Payloads
from infra.dynamodb.requests import Patience
from infra.operations.access import Access, OperatorStore
from infra.operations.check import check
from infra.operations.table import OperatorTable
from infra.stack import Stack
from tests.contract.stores import DynamoStores, OpenedDynamo
from tests.contract.test_stored_versions import NAMES, restored, stored


def access(opened: OpenedDynamo, bucket: str) -> Access:
    """To the opened table, as to a stack's."""
    patience = Patience(opened.clock, lambda: math.inf)
    clients = (opened.dynamodb, opened.s3)
    store = OperatorStore(
        *clients, table=opened.table, bucket=bucket, clock=opened.clock, seconds_left=lambda: math.inf
    )
    table, payloads = (
        OperatorTable(opened.dynamodb, opened.table, patience),
        Payloads(opened.s3, bucket, patience),
    )
    stack = Stack("stored", "us-east-1", {}, {})
    return Access(stack, opened.clock, store, table, payloads, patience, opened.s3, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
async def test_nothing_is_broken_in_what_an_earlier_version_has_stored(
    dynamo: DynamoStores, name: str
) -> None:
    for stack in stored(name):
        async with restored(dynamo, stack) as opened:
            read: list[int] = []
            for thread_id in stack["histories"]:
                found = [one async for one in check(access(opened, stack["bucket"]), thread_id, read.append)]
                assert [one for one in found if not one.note] == []
            assert sum(read) > 0
