"""What only people ask of the table, and how: a scan of everything, deleting an item, rows put one by one.

Rows are put by updates, since whoever may put several at once may also delete them: the operator's role may not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from infra import aws_limits
from infra.dynamodb.keys import NUMBER, Item
from infra.dynamodb.table import Table


@dataclass(frozen=True, slots=True)
class Scanned:
    """One page of a scan."""

    items: list[Item]
    next_key: Item | None
    """Where the next page starts; None after the last."""
    read_units: float
    """What the page cost: half a unit per 4 KB of everything it passed over."""


class OperatorTable(Table):
    """The table with what people need beside."""

    async def scan(self, sort_key: str, start: Item | None) -> Scanned:
        """The items with this sort key in the next 1 MB of the table. Eventually consistent."""
        request: dict[str, Any] = {
            "TableName": self._name,
            "FilterExpression": "sk = :sk",
            "ExpressionAttributeValues": {":sk": {"S": sort_key}},
            "ReturnConsumedCapacity": "TOTAL",
        }
        if start is not None:
            request["ExclusiveStartKey"] = start
        response = await self._ask("scan", self._client.scan, request)
        used = response.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0)
        return Scanned(response["Items"], response.get("LastEvaluatedKey"), float(used))

    async def batch_put(self, items: Sequence[Item]) -> None:
        """Put all items, each attribute whatever was there: an attribute that an item does not have stays."""
        for item in items:
            aws_limits.check_item(item)
            names = [name for name in item if name not in ("pk", "sk")]
            settings = ", ".join(f"#{index} = :{index}" for index in range(len(names)))
            # A row of nothing but its key needs an expression too.
            expression = f"SET {settings}" if names else "REMOVE #0"
            request: dict[str, Any] = {
                "TableName": self._name,
                "Key": {"pk": item["pk"], "sk": item["sk"]},
                "UpdateExpression": expression,
                "ExpressionAttributeNames": {
                    f"#{index}": name for index, name in enumerate(names or [NUMBER])
                },
            }
            if names:
                values = {f":{index}": item[name] for index, name in enumerate(names)}
                request["ExpressionAttributeValues"] = values
            await self._ask("put row", self._client.update_item, request)

    async def delete(self, key: Item) -> None:
        """Delete the item, if it is there."""
        aws_limits.check_key(key)
        await self._ask("delete", self._client.delete_item, {"TableName": self._name, "Key": key})
