"""What is deleted of a thread's partition: commits leave stubs, so that an invocation which has read the log before
finds their numbers taken; all else goes.
"""

from collections.abc import Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from core.commit import Commit
from core.errors import StoreUnavailable
from infra import aws_limits
from infra.dynamodb.codec import digest_of
from infra.dynamodb.keys import (
    DIGEST,
    EXPIRES_AT,
    FIRST_MARKER,
    KEPT,
    LAST_MARKER,
    META,
    NUMBER,
    TIP,
    Item,
    commit_sort_key,
    epoch,
    item_key,
    partition,
    reader_sort_key,
    summary_sort_key,
)
from infra.dynamodb.requests import Client, Patience
from infra.keeping.objects import Births
from infra.store_rules import STUB_LIFETIME

_CONDITION_FAILED: Final = frozenset({"ConditionalCheckFailedException"})
_OLDER: Final = "attribute_not_exists(#n) OR #n <= :n"


class Rows:
    """Deletes rows of one table. Every request is tried again; asking twice changes nothing more."""

    def __init__(self, client: Client, table: str, patience: Patience) -> None:
        self._client = client
        self._table = table
        self._patience = patience

    async def drop_readers(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Delete `READER#<reader>` from each log."""
        keys = [item_key(partition(log), reader_sort_key(reader)) for log, reader in pairs]
        await self._write([{"DeleteRequest": {"Key": key}} for key in keys])

    async def replace_commits(self, erasing: Commit, births: Births) -> int:
        """Put a stub in the place of each commit before the erasing one, if it stands; how many there were."""
        pk, expires_at = partition(erasing.thread_id), epoch(erasing.at + STUB_LIFETIME)
        last = commit_sort_key(erasing.number - 1)
        items = await self._keys(pk, commit_sort_key(0), last)
        there = [item for item in items if digest_of(item)]
        if not there or await births() is None:
            return 0
        stubs = [item_key(pk, item["sk"]["S"]) | {EXPIRES_AT: expires_at} for item in there]
        await self._write([{"PutRequest": {"Item": stub}} for stub in stubs])
        return len(there)

    async def delete_summaries(self, erasing: Commit) -> None:
        """Delete the `SUM#` of the log that ended."""
        last = summary_sort_key(erasing.erased_seq or 0)
        await self._delete_all(erasing, summary_sort_key(0), last)

    async def delete_tip(self, last: Commit) -> None:
        """Delete the tip if it is at this commit."""
        await self._delete_if("#n = :n", item_key(partition(last.thread_id), TIP), last.number)

    async def delete_rest(self, erasing: Commit) -> bool:
        """Delete what still speaks of the log, then the erasing commit unless another log has begun behind it."""
        pk = partition(erasing.thread_id)
        await self._delete_all(erasing, FIRST_MARKER, LAST_MARKER)
        await self._delete_all(erasing, commit_sort_key(0), commit_sort_key(erasing.number - 1))
        await self._delete_if(_OLDER, item_key(pk, META), erasing.number)
        return await self._delete_unless_kept(item_key(pk, commit_sort_key(erasing.number)))

    async def _delete_all(self, erasing: Commit, first: str, last: str) -> None:
        """Every row between these keys that speaks of no later commit."""
        items = await self._keys(partition(erasing.thread_id), first, last)
        old = [item for item in items if NUMBER not in item or int(item[NUMBER]["N"]) <= erasing.number]
        keys = [item_key(item["pk"]["S"], item["sk"]["S"]) for item in old]
        await self._write([{"DeleteRequest": {"Key": key}} for key in keys])

    async def _keys(self, pk: str, first: str, last: str) -> list[Item]:
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {":pk": {"S": pk}, ":first": {"S": first}, ":last": {"S": last}},
            "ProjectionExpression": "pk, sk, #d, #n",
            "ExpressionAttributeNames": {"#d": DIGEST, "#n": NUMBER},
            "ConsistentRead": True,
        }
        items: list[Item] = []
        while True:
            page = await self._ask("query", self._client.query, request)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return items
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    async def _write(self, requests: list[dict[str, Any]]) -> None:
        size = aws_limits.BATCH_WRITE_ITEMS
        for start in range(0, len(requests), size):
            pending: Any = {self._table: requests[start : start + size]}
            tries = 0
            while pending:
                response = await self._ask(
                    "batch write", self._client.batch_write_item, {"RequestItems": pending}
                )
                pending = response.get("UnprocessedItems")
                if pending and not await self._patience.wait(tries):
                    raise StoreUnavailable("batch write: left unprocessed for too long")
                tries += 1

    async def _delete_if(self, condition: str, key: Item, number: int) -> bool:
        """`condition`: on the row's number `#n`, and `:n`, which is this one."""
        values = {":n": {"N": str(number)}}
        return await self._delete(key, condition, {"#n": NUMBER}, ExpressionAttributeValues=values)

    async def _delete_unless_kept(self, key: Item) -> bool:
        return await self._delete(key, "attribute_not_exists(#k)", {"#k": KEPT})

    async def _delete(self, key: Item, condition: str, names: dict[str, str], **values: Any) -> bool:
        """Delete the row if the condition holds, also where none is; False if it does not."""
        request = {"TableName": self._table, "Key": key, "ConditionExpression": condition}
        request |= {"ExpressionAttributeNames": names, **values}
        try:
            await self._ask("delete", self._client.delete_item, request, answers=_CONDITION_FAILED)
        except ClientError:
            return False
        return True

    async def _ask(
        self, action: str, operation: Any, request: dict[str, Any], *, answers: frozenset[str] = frozenset()
    ) -> Any:
        return await self._patience.ask(action, lambda: operation(**request), answers=answers)
