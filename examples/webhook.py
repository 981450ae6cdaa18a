"""An example of the output queue's one consumer: posts each output to a webhook. Deployed with `WebhookUrl`.

Outputs of a thread go out in order, an `output_id` that was posted is not posted again. An invocation that dies
between a post and its record posts once more, so every post carries its `output_id` as `Idempotency-Key` for the
receiver to go by. What the receiver refuses for good goes to a dead-letter queue at once; what it does not take for now
comes again, until SQS moves it there. Either way a poisoned output does not block the thread behind it.

The URL may hold a secret: nothing here logs it, nor puts it into an error.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit

from core.clock import SYSTEM_CLOCK, Clock
from core.errors import RetryableError, SettingsError
from handlers.batch import run_batch
from handlers.clients import AwsAccess, sync_clients
from handlers.records import QueueRecord

ANSWER_TIMEOUT_SECONDS = 8.0
"""Of connecting, and of the receiver's answer: together below the function's 20 s."""
REMEMBERED = timedelta(days=60)
"""As long as an output could come again: what caused it may wait in queues and their dead-letter queues for weeks."""
TRY_AGAIN = frozenset({408, 425, 429})
"""Refusals that do not stay: too slow, too early, too many. Every 5xx is one too."""
LONGEST_ID = 128


class ReceiverUnavailable(RetryableError):
    """The receiver did not take the output for now. Nothing was recorded; the queue delivers it again."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """A webhook's address, taken apart once."""

    secure: bool
    host: str
    port: int | None
    target: str = field(repr=False)
    """Path and query."""

    @classmethod
    def of(cls, url: str) -> Self:
        """Raises SettingsError unless it is `https://`, or `http://` to this machine. The error does not name it."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise SettingsError("TORPOR_WEBHOOK_URL is no URL") from None  # its text would quote the URL
        secure = parts.scheme == "https"
        if not host or not (secure or (parts.scheme == "http" and _is_this_machine(host))):
            raise SettingsError("TORPOR_WEBHOOK_URL must be https://, or http:// to this machine")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if "@" in parts.netloc or not all("!" <= character <= "~" for character in host + target):
            raise SettingsError("TORPOR_WEBHOOK_URL must be plain ASCII, without a user and without spaces")
        return cls(secure, host, port, target)

    def post(self, body: str, output_id: str) -> int:
        """The status of the receiver's answer; redirects are not followed. Raises ReceiverUnavailable without one."""
        connect = HTTPSConnection if self.secure else HTTPConnection
        headers = {"Content-Type": "application/json", "Idempotency-Key": output_id, "User-Agent": "torpor"}
        with closing(connect(self.host, self.port, timeout=ANSWER_TIMEOUT_SECONDS)) as connection:
            try:
                connection.request("POST", self.target, body.encode(), headers)
                return connection.getresponse().status
            except (OSError, HTTPException) as error:
                raise ReceiverUnavailable(f"no answer: {type(error).__name__}") from error


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """What the function reads from its environment."""

    receiver: Receiver
    """TORPOR_WEBHOOK_URL."""
    table: str
    """TORPOR_WEBHOOK_TABLE: what was posted."""
    dead_letters_url: str
    """TORPOR_WEBHOOK_DEAD_LETTERS_URL: the queue (FIFO) for what is given up."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """Raises SettingsError, naming everything that is missing."""
        names = ("TORPOR_WEBHOOK_URL", "TORPOR_WEBHOOK_TABLE", "TORPOR_WEBHOOK_DEAD_LETTERS_URL")
        values = [environ.get(name, "").strip() for name in names]
        if missing := [name for name, value in zip(names, values, strict=True) if not value]:
            raise SettingsError(f"the environment is incomplete: {', '.join(missing)} not set")
        url, table, dead_letters_url = values
        return cls(Receiver.of(url), table, dead_letters_url)


@dataclass(frozen=True, slots=True)
class Webhook:
    """The consumer, with what it holds for a container's life."""

    settings: WebhookSettings
    sqs: Any
    dynamodb: Any
    clock: Clock

    def take(self, record: QueueRecord) -> str:
        """What became of an output, for the log: `posted`, `duplicate` or `given_up`.

        Raises if it must come again. A group's records come one after the other, so that looking and recording need
        no lock.
        """
        output_id = _output_id(record.body)
        if output_id is None:
            return self._give_up(record)
        if self._was_posted(output_id):
            return "duplicate"
        status = self.settings.receiver.post(record.body, output_id)
        if status in TRY_AGAIN or status >= 500:
            raise ReceiverUnavailable(f"the receiver answered {status}")
        if not 200 <= status < 300:
            return self._give_up(record)
        self._remember(output_id)
        return "posted"

    def close(self) -> None:
        """A Lambda container never does."""
        self.sqs.close()
        self.dynamodb.close()

    def _was_posted(self, output_id: str) -> bool:
        key = {"pk": {"S": output_id}}
        found = self.dynamodb.get_item(TableName=self.settings.table, Key=key, ConsistentRead=True)
        return "Item" in found

    def _remember(self, output_id: str) -> None:
        expires_at = int((self.clock.now() + REMEMBERED).timestamp())
        item = {"pk": {"S": output_id}, "expires_at": {"N": str(expires_at)}}
        self.dynamodb.put_item(TableName=self.settings.table, Item=item)

    def _give_up(self, record: QueueRecord) -> str:
        """Keep it for people. Another delivery has another deduplication id: one moved back is not lost here."""
        self.sqs.send_message(
            QueueUrl=self.settings.dead_letters_url,
            MessageBody=record.body,
            MessageGroupId=record.group,
            MessageDeduplicationId=record.attempt,
        )
        return "given_up"


def build_webhook(environ: Mapping[str, str], clock: Clock, endpoint_url: str | None = None) -> Webhook:
    """Raises SettingsError."""
    settings = WebhookSettings.read(environ)
    sqs, dynamodb = sync_clients(AwsAccess.of(environ, endpoint_url), "sqs", "dynamodb")
    return Webhook(settings, sqs, dynamodb, clock)


@cache
def _container() -> Webhook:
    return build_webhook(os.environ, SYSTEM_CLOCK)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """As Lambda calls it."""
    return handle(event, _container())


def handle(event: dict[str, Any], webhook: Webhook) -> dict[str, Any]:
    """The partial batch response: after a failure the rest of its thread fails too, other threads go on."""

    async def process(record: QueueRecord) -> str:
        return await asyncio.to_thread(webhook.take, record)

    return asyncio.run(run_batch(event, process))


def _output_id(body: str) -> str | None:
    """None for what no output of ours is."""
    try:
        output = json.loads(body)
    except (ValueError, RecursionError):
        return None
    found = output.get("output_id") if isinstance(output, dict) else None
    usable = (
        isinstance(found, str) and 0 < len(found) <= LONGEST_ID and found.isascii() and found.isprintable()
    )
    return found if usable else None


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
