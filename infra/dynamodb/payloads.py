"""Large values in S3: JSON texts under the thread and their own digest, so that writing one twice changes nothing."""

import asyncio
from dataclasses import dataclass
from typing import Final

import aiohttp
from botocore.exceptions import ClientError, HTTPClientError

from core.errors import UnreadableRecord
from core.ids import digest
from infra import aws_limits
from infra.dynamodb.requests import Client, Patience, parallel

_AT_ONCE: Final = 8
"""Transfers at the same time, so that one large thread does not hold all connections."""


@dataclass(frozen=True, slots=True)
class Payload:
    """A text that goes to S3, and its address there."""

    uri: str
    text: str


def payload_for(bucket: str, owner: str, text: str) -> Payload:
    """`owner`: the thread, or what else the payload is deleted with."""
    return Payload(f"s3://{bucket}/payloads/{owner}/{digest(text)}", text)


class Payloads:
    """The objects behind `s3://` addresses that this store wrote itself."""

    def __init__(self, client: Client, bucket: str, patience: Patience) -> None:
        self._client = client
        self.bucket = bucket
        self._patience = patience
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def put(self, payloads: list[Payload]) -> None:
        """Write all; returns when they are durable."""
        async with parallel() as group:
            for payload in payloads:
                group.create_task(self._put_one(payload))

    async def get(self, uris: list[str]) -> dict[str, str | None]:
        """The text at each address, None for one that is gone."""
        async with parallel() as group:
            tasks = {uri: group.create_task(self._get_one(uri)) for uri in uris}
        return {uri: task.result() for uri, task in tasks.items()}

    async def _put_one(self, payload: Payload) -> None:
        bucket, key = address(payload.uri)
        aws_limits.check_object_key(key)
        body = payload.text.encode()
        async with self._slots:
            await self._patience.ask(
                "put payload",
                lambda: self._client.put_object(
                    Bucket=bucket, Key=key, Body=body, ContentType="application/json"
                ),
            )

    async def _get_one(self, uri: str) -> str | None:
        bucket, key = address(uri)
        try:
            async with self._slots:
                return await self._patience.ask(
                    "get payload", lambda: self._read(bucket, key), answers=frozenset({"NoSuchKey"})
                )
        except ClientError:
            return None

    async def _read(self, bucket: str, key: str) -> str:
        response = await self._client.get_object(Bucket=bucket, Key=key)
        try:
            async with response["Body"] as stream:
                data: bytes = await stream.read()
        except aiohttp.ClientError as cut_off:  # outside botocore's errors, unlike all else a request raises
            raise HTTPClientError(error=cut_off) from cut_off
        return data.decode()


def address(uri: str) -> tuple[str, str]:
    """Bucket and key. Raises UnreadableRecord."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not bucket or not key:
        raise UnreadableRecord("the address of a stored payload is damaged")
    return bucket, key
