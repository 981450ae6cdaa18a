"""The thread store on DynamoDB, with large values in S3 (storage.md)."""

from infra.dynamodb.store import DynamoStore
from infra.dynamodb.warm import WarmThreads

__all__ = ["DynamoStore", "WarmThreads"]
