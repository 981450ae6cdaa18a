"""What is deleted of a thread's payloads: all that lie under it, those of a log that began after the erased one apart.

Listed, not looked up in commits: so what was written for a commit that lost its race goes too.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from core.errors import StoreUnavailable
from infra.dynamodb.codec import log_owner, owner_of
from infra.dynamodb.requests import Client, Patience

_AT_ONCE: Final = 1000
"""S3: keys of one list page and of one deletion."""

Births = Callable[[], Awaitable[tuple[str, ...] | None]]
"""Of the logs whose payloads stay; None: somebody else has taken the rest already, and what is there is new."""


class Objects:
    """Deletes objects of one bucket. Asking twice changes nothing more."""

    def __init__(self, client: Client, bucket: str, patience: Patience) -> None:
        self._client = client
        self._bucket = bucket
        self._patience = patience

    async def delete(self, thread_id: str, but: Births) -> int:
        """Delete the payloads of every log that the thread had but those of the births `but`; how many there were.

        Asked after each page is listed: a log's birth is known before its first payload is there.
        """
        request: dict[str, Any] = {
            "Bucket": self._bucket,
            "Prefix": f"payloads/{owner_of(thread_id)}/",
            "MaxKeys": _AT_ONCE,
        }
        deleted = 0
        while True:
            page = await self._ask("list payloads", self._client.list_objects_v2, request)
            births = await but()
            if births is None:
                return deleted
            spared = tuple(f"payloads/{log_owner(thread_id, birth)}/" for birth in births)
            keys = [one["Key"] for one in page.get("Contents", ()) if not one["Key"].startswith(spared)]
            if keys:
                await self._delete(keys)
            deleted += len(keys)
            if not page.get("IsTruncated"):
                return deleted
            request["ContinuationToken"] = page["NextContinuationToken"]

    async def _delete(self, keys: list[str]) -> None:
        objects = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        request = {"Bucket": self._bucket, "Delete": objects}
        answer = await self._ask("delete payloads", self._client.delete_objects, request)
        if failed := answer.get("Errors"):
            raise StoreUnavailable(
                f"delete payloads: {len(failed)} were not deleted, {failed[0].get('Code')}"
            )

    async def _ask(self, action: str, operation: Any, request: dict[str, Any]) -> Any:
        return await self._patience.ask(action, lambda: operation(**request))
