"""What only people ask of the table, and no function of the system: a scan of everything, and deleting an item."""

from dataclasses import dataclass
from typing import Any

from infra import aws_limits
from infra.dynamodb.keys import Item
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

    async def delete(self, key: Item) -> None:
        """Delete the item, if it is there."""
        aws_limits.check_key(key)
        await self._ask("delete", self._client.delete_item, {"TableName": self._name, "Key": key})
