"""An event source: a board that remembers who follows it, and tells each follower, once, what is put up.

Apart from the team that uses it: all that an event source needs is the `thread_id` and `call_id` of the call that asked
for events, and the right to send to the input queue. What follows and what tells may be two programs, days apart.
"""

import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.ids import digest

Send = Callable[[dict[str, Any]], None]
"""Puts a message on the input queue."""

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Board:
    """A folder: a file per notice, and one per follower."""

    folder: Path
    send: Send

    def follow(self, thread_id: str, call_id: str) -> None:
        """From now on this call is told of every notice. Following twice is following."""
        if not _CALL_ID.fullmatch(call_id):
            raise ValueError("a call's id is 1-64 of A-Za-z0-9_-")
        _write(self._followers / f"{call_id}.json", json.dumps({"thread_id": thread_id, "call_id": call_id}))

    def put_up(self, name: str, text: str) -> Path:
        """Put a notice up and tell whoever follows. The same `name` again is the same notice: nobody hears twice."""
        notice = self.folder / f"{digest('notice', name)[:12]}.md"
        _write(notice, text)
        for follower in sorted(self._followers.glob("*.json")):
            self.send(
                event(
                    json.loads(follower.read_text()),
                    name,
                    f"On the board: {text.splitlines()[0].lstrip('# ')}",
                )
            )
        return notice

    @property
    def _followers(self) -> Path:
        return self.folder / "followers"


def event(follower: dict[str, str], event_id: str, content: str) -> dict[str, Any]:
    """What an event source sends. `associative`: it joins the conversation; without, a child deals with it."""
    return {
        "type": "subscription_event",
        "thread_id": follower["thread_id"],
        "call_id": follower["call_id"],
        "event_id": digest(event_id),
        "content": content,
        "associative": True,
    }


def send_to_input_queue(message: dict[str, Any]) -> None:
    """Send to the queue of `TORPOR_INPUT_QUEUE_URL`, which every worker function has; without one, tell nobody."""
    url = os.environ.get("TORPOR_INPUT_QUEUE_URL")
    if url is None:
        return
    from handlers.clients import AwsAccess, sync_clients

    parts = urlsplit(url)
    on_aws = (parts.hostname or "").endswith(".amazonaws.com")
    endpoint_url = None if on_aws else f"{parts.scheme}://{parts.netloc}"
    (sqs,) = sync_clients(AwsAccess.of(os.environ, endpoint_url), "sqs")
    sqs.send_message(
        QueueUrl=url,
        MessageBody=json.dumps(message),
        MessageGroupId=message["thread_id"],
        MessageDeduplicationId=digest(message["call_id"], message["event_id"]),
    )


def _write(file: Path, text: str) -> None:
    """Whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as new:
        new.write(text)
    os.replace(new.name, file)
