"""Bringing a failed record back sooner than its visibility timeout, which is long enough for a whole invocation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from infra.sqs.errors import TRANSPORT_ERRORS

FIRST_SECONDS = 1
LONGEST_SECONDS = 60
BATCH = 10


class VisibilityClient(Protocol):
    """The part of an aiobotocore SQS client that is used."""

    async def change_message_visibility_batch(self, *, QueueUrl: str, Entries: Sequence[Any]) -> Any:
        """As the SQS API's ChangeMessageVisibilityBatch."""
        ...


@dataclass(frozen=True, slots=True)
class RecordVisibility:
    """The visibility of one queue's received messages."""

    client: VisibilityClient
    queue_url: str

    async def bring_back(self, received: Sequence[tuple[str, int]]) -> bool:
        """Make messages (receipt handle, receive count) visible after a backoff. False: they come back later, as set.

        A help, not a need: nothing depends on its success.
        """
        entries = [
            {
                "Id": str(index),
                "ReceiptHandle": receipt,
                "VisibilityTimeout": backoff_seconds(receive_count),
            }
            for index, (receipt, receive_count) in enumerate(received)
        ]
        try:
            for start in range(0, len(entries), BATCH):
                await self.client.change_message_visibility_batch(
                    QueueUrl=self.queue_url, Entries=entries[start : start + BATCH]
                )
        except TRANSPORT_ERRORS:
            return False
        return True


def backoff_seconds(receive_count: int) -> int:
    """Seconds until the next try: doubling from 1 s to 60 s."""
    doublings = min(max(receive_count - 1, 0), 20)
    return min(FIRST_SECONDS << doublings, LONGEST_SECONDS)
