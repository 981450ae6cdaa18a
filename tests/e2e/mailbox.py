"""The deployed system as its user has it: one queue to write to, one to read, and nothing else."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import Any

import pytest

Output = dict[str, Any]
POLL_SECONDS = 2
"""Of one receive, which ends at once when something is there."""
PATIENCE_SECONDS = 90.0


@dataclass(slots=True)
class Mailbox:
    """The one consumer of the output queue. Keeps what comes by thread, once for each `output_id`."""

    sqs: Any
    input_url: str
    output_url: str
    why: Callable[[], str]
    """What there is to say when an answer does not come."""
    senders: dict[str, str] = field(default_factory=dict)
    """The `SenderId` of each thread's last output."""
    _seen: dict[str, Output] = field(default_factory=dict)
    _sent: int = 0

    def say(self, thread_id: str, text: str, message_id: str | None = None, **fields: Any) -> None:
        """A user message."""
        named = {"message_id": message_id} if message_id else {}
        body = {"type": "user_message", "thread_id": thread_id, "content": text, **named, **fields}
        self.send(json.dumps(body), thread_id)

    def send(self, body: str, group: str) -> None:
        """Any body. Never the same to the queue: whether it is a repeat is for the agent to know."""
        self._sent += 1
        self.sqs.send_message(
            QueueUrl=self.input_url,
            MessageBody=body,
            MessageGroupId=group,
            MessageDeduplicationId=sha256(f"{self._sent} {body}".encode()).hexdigest(),
        )

    def outputs(self, thread_id: str, kind: str | None = None) -> list[Output]:
        """What came so far, in order."""
        return [
            output
            for output in self._seen.values()
            if output["thread_id"] == thread_id and kind in (None, output["type"])
        ]

    def answers(self, thread_id: str) -> list[str]:
        """Texts of the final messages so far."""
        return [output["text"] for output in self.outputs(thread_id, "assistant_message") if output["final"]]

    def wait_for_answers(self, thread_id: str, count: int = 1) -> list[str]:
        """Final messages, once there are so many."""
        self.wait_until(lambda: len(self.answers(thread_id)) >= count, f"answer {count} of {thread_id}")
        return self.answers(thread_id)

    def wait_until(
        self, holds: Callable[[], bool], what: str, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Receive until it holds."""
        deadline = monotonic() + patience_seconds
        while not holds():
            if monotonic() > deadline:
                came = json.dumps(list(self._seen.values()), indent=1)[-4000:]
                pytest.fail(f"no {what}\n{came}\n{self.why()}", pytrace=False)
            self._receive()

    def _receive(self) -> None:
        received = self.sqs.receive_message(
            QueueUrl=self.output_url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=POLL_SECONDS,
            AttributeNames=["SenderId"],
        )
        for message in received.get("Messages", ()):
            output = json.loads(message["Body"])
            self._seen.setdefault(output["output_id"], output)
            self.senders[output["thread_id"]] = message["Attributes"]["SenderId"]
            self.sqs.delete_message(QueueUrl=self.output_url, ReceiptHandle=message["ReceiptHandle"])
