"""Both kinds of worker records behind one door, so that the same tests run over each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import boto3

from core.work import WorkRecords
from infra.work.dynamodb import DynamoDbWorkRecords
from infra.work.memory import MemoryWorkRecords

_NUMBERS = count(1)
Send = Callable[..., Any]


class WatchedSync:
    """A boto3 client whose next requests fail, or lose their answer, where a test says so."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.faults: list[tuple[str, Exception, bool]] = []
        """Operation, what is raised, and whether the request takes effect all the same."""

    def __getattr__(self, operation: str) -> Send:
        def send(**request: Any) -> Any:
            if self.faults and self.faults[0][0] == operation:
                _, failure, takes_effect = self.faults.pop(0)
                if takes_effect:
                    getattr(self._client, operation)(**request)
                raise failure
            return getattr(self._client, operation)(**request)

        return send


@contextmanager
def dynamodb_records(endpoint: str) -> Iterator[tuple[DynamoDbWorkRecords, WatchedSync]]:
    """Records over a table of their own, and the client under them."""
    client = boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    table = f"work-{next(_NUMBERS)}"
    client.create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    watched = WatchedSync(client)
    yield DynamoDbWorkRecords(watched, table), watched
    client.close()


@contextmanager
def records(kind: str, endpoint: Callable[[], str]) -> Iterator[WorkRecords]:
    """`kind`: memory or dynamodb."""
    if kind == "memory":
        yield MemoryWorkRecords()
        return
    with dynamodb_records(endpoint()) as (found, _):
        yield found
