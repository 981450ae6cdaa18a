"""Taking threads away from the table and the bucket (storage.md, "The end of a log").

Apart from `infra/dynamodb`, so that no function that runs slices may delete anything.
"""

from infra.keeping.store import DynamoKeeper

__all__ = ["DynamoKeeper"]
