"""The requests Torpor makes of its table, each checked against AWS's limits, paged and tried again.

Knows DynamoDB's rules and nothing of threads. Every read is strongly consistent; one that fails raises.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

from core.errors import StoreUnavailable
from infra import aws_limits
from infra.dynamodb.keys import Item
from infra.dynamodb.requests import Client, Patience

_CONDITION_FAILED: Final = "ConditionalCheckFailedException"


@dataclass(frozen=True, slots=True)
class Span:
    """Items of one partition whose sort keys lie between `first` and `last`, both included."""

    pk: str
    first: str
    last: str
    newest_first: bool = False
    limit: int | None = None
    """Of one page."""


@dataclass(frozen=True, slots=True)
class Page:
    items: list[Item]
    next_key: Item | None
    """Where the next page starts; None after the last."""


@dataclass(frozen=True, slots=True)
class Update:
    """One UpdateItem. Names and values by placeholder, as the expressions use them."""

    key: Item
    expression: str
    condition: str
    names: Mapping[str, str]
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Table:
    """One DynamoDB table with keys `pk` and `sk`."""

    def __init__(self, client: Client, name: str, patience: Patience) -> None:
        self._client = client
        self._name = name
        self._patience = patience

    async def put_new(self, item: Item) -> Item | None:
        """Put the item unless its key is taken. None if it was written, else what is there.

        After an unknown outcome it is asked again, so what is there may be this very item.
        """
        aws_limits.check_item(item)
        request: dict[str, Any] = {
            "TableName": self._name,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        try:
            await self._ask("put", self._client.put_item, request, answers=frozenset({_CONDITION_FAILED}))
        except ClientError as failed_condition:
            response: Any = failed_condition.response
            there: Item = response.get("Item", {})
            return there
        return None

    async def put_if(self, item: Item, condition: str, named: Mapping[str, Any]) -> bool:
        """Put the item if the condition on what is there holds; False if it does not. `named`: what it names."""
        aws_limits.check_item(item)
        request = {"TableName": self._name, "Item": item, "ConditionExpression": condition, **named}
        try:
            await self._ask("put", self._client.put_item, request, answers=frozenset({_CONDITION_FAILED}))
        except ClientError:
            return False
        return True

    async def update(self, update: Update) -> bool:
        """Make the update. False if its condition does not hold."""
        aws_limits.check_key(update.key)
        aws_limits.check_expression(update.expression)
        request: dict[str, Any] = {
            "TableName": self._name,
            "Key": update.key,
            "UpdateExpression": update.expression,
            "ConditionExpression": update.condition,
            "ExpressionAttributeNames": update.names,
            "ExpressionAttributeValues": update.values,
        }
        try:
            await self._ask(
                "update", self._client.update_item, request, answers=frozenset({_CONDITION_FAILED})
            )
        except ClientError:
            return False
        return True

    async def page(self, span: Span, start: Item | None = None) -> Page:
        """One page of the span: at most `limit` items and 1 MB."""
        request: dict[str, Any] = {
            "TableName": self._name,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {
                ":pk": {"S": span.pk},
                ":first": {"S": span.first},
                ":last": {"S": span.last},
            },
            "ConsistentRead": True,
            "ScanIndexForward": not span.newest_first,
        }
        if span.limit is not None:
            request["Limit"] = span.limit
        if start is not None:
            request["ExclusiveStartKey"] = start
        response = await self._ask("query", self._client.query, request)
        return Page(response["Items"], response.get("LastEvaluatedKey"))

    async def all_of(self, span: Span) -> list[Item]:
        """Every item of the span, page by page."""
        page = await self.page(span)
        items = page.items
        while page.next_key is not None:
            page = await self.page(span, page.next_key)
            items += page.items
        return items

    async def get(self, key: Item, attribute: str) -> dict[str, Any] | None:
        """One attribute of one item; None if there is no such item or attribute."""
        aws_limits.check_key(key)
        request: dict[str, Any] = {
            "TableName": self._name,
            "Key": key,
            "ProjectionExpression": "#a",
            "ExpressionAttributeNames": {"#a": attribute},
            "ConsistentRead": True,
        }
        response = await self._ask("get", self._client.get_item, request)
        value: dict[str, Any] | None = response.get("Item", {}).get(attribute)
        return value

    async def batch_get(self, keys: Sequence[Item]) -> list[Item]:
        """The items of `keys` (no key twice) that exist, in no order."""
        items: list[Item] = []
        for start in range(0, len(keys), aws_limits.BATCH_GET_KEYS):
            items += await self._get_some(keys[start : start + aws_limits.BATCH_GET_KEYS])
        return items

    async def _get_some(self, keys: Sequence[Item]) -> list[Item]:
        aws_limits.check_batch(keys, aws_limits.BATCH_GET_KEYS)
        items: list[Item] = []
        pending: Any = {self._name: {"Keys": keys, "ConsistentRead": True}}
        tries = 0
        while pending:
            response = await self._ask("batch get", self._client.batch_get_item, {"RequestItems": pending})
            items += response["Responses"].get(self._name, [])
            pending = response.get("UnprocessedKeys")
            await self._wait_for_rest(pending, tries)
            tries += 1
        return items

    async def batch_put(self, items: Sequence[Item]) -> None:
        """Put all items (no key twice), whatever is there."""
        for start in range(0, len(items), aws_limits.BATCH_WRITE_ITEMS):
            await self._put_some(items[start : start + aws_limits.BATCH_WRITE_ITEMS])

    async def _put_some(self, items: Sequence[Item]) -> None:
        aws_limits.check_batch(items, aws_limits.BATCH_WRITE_ITEMS)
        for item in items:
            aws_limits.check_item(item)
        pending: Any = {self._name: [{"PutRequest": {"Item": item}} for item in items]}
        tries = 0
        while pending:
            response = await self._ask("batch put", self._client.batch_write_item, {"RequestItems": pending})
            pending = response.get("UnprocessedItems")
            await self._wait_for_rest(pending, tries)
            tries += 1

    async def _wait_for_rest(self, pending: Any, tries: int) -> None:
        """Wait before what was left unprocessed is asked again. Raises StoreUnavailable when out of time."""
        if pending and not await self._patience.wait(tries):
            raise StoreUnavailable("batch: left unprocessed for too long")

    async def _ask(
        self, action: str, operation: Any, request: dict[str, Any], *, answers: frozenset[str] = frozenset()
    ) -> Any:
        return await self._patience.ask(action, lambda: operation(**request), answers=answers)
