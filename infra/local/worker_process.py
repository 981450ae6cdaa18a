"""The program of a worker process: takes calls from its queue and runs `handlers.tool_worker` with real event JSON.

    python -m infra.local.worker_process ENDPOINT_URL QUEUE_URL QUEUE_ARN TIMEOUT_SECONDS

Configured by the environment as the worker's Lambda function. Ends with its standard input, so that it never outlives
whoever started it.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Any

from core.clock import SYSTEM_CLOCK
from core.delivery import worker_queue
from infra.local.aws import client
from infra.local.functions import entry_point
from infra.local.records import failed_ids, lambda_event, lambda_record

LANES = 4
"""Calls that run at the same time, each in a container of its own, as on Lambda."""
POLL_SECONDS = 20
VISIBILITY_SECONDS = 15
"""Kept up by heartbeats: if this process dies, its calls come back after so long."""
HEARTBEAT_SECONDS = 5
LONGEST_BACKOFF_SECONDS = 60


@dataclass
class WorkerLoop:
    """Takes messages in LANES at a time."""

    endpoint_url: str
    queue_url: str
    queue_arn: str
    timeout_seconds: float
    _in_flight: set[str] = field(default_factory=set)
    _sqs: Any = None

    def run(self) -> None:
        """Until something goes wrong that no message is to blame for."""
        self._sqs = client("sqs", self.endpoint_url)
        Thread(target=self._heartbeats, daemon=True).start()
        lanes = ThreadPoolExecutor(LANES, thread_name_prefix="lane")
        done, _ = wait([lanes.submit(self._lane) for _ in range(LANES)], return_when=FIRST_COMPLETED)
        for lane in done:
            lane.result()

    def _lane(self) -> None:
        entry = entry_point(worker_queue(os.environ["TORPOR_WORKER"]))
        container: Any = None
        while True:
            for message in self._receive():
                container = container or entry.build()(os.environ, SYSTEM_CLOCK, self.endpoint_url)
                self._run(message, entry.handle(), container)

    def _receive(self) -> list[dict[str, Any]]:
        answer = self._sqs.receive_message(
            QueueUrl=self.queue_url,
            MaxNumberOfMessages=1,
            WaitTimeSeconds=POLL_SECONDS,
            VisibilityTimeout=VISIBILITY_SECONDS,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages: list[dict[str, Any]] = answer.get("Messages", [])
        return messages

    def _run(self, message: dict[str, Any], handle: Callable[..., Any], container: Any) -> None:
        receipt, received = message["ReceiptHandle"], int(message["Attributes"]["ApproximateReceiveCount"])
        records = [lambda_record(message, self.queue_arn, receipt_handle=receipt, receive_count=received)]
        self._in_flight.add(receipt)
        response = handle(lambda_event(records), container, self._remaining_ms())
        self._in_flight.discard(receipt)
        if failed_ids(response, records):
            self._change_visibility(receipt, min(2**received, LONGEST_BACKOFF_SECONDS))
        else:
            self._sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=receipt)

    def _change_visibility(self, receipt: str, seconds: int) -> None:
        self._sqs.change_message_visibility(
            QueueUrl=self.queue_url, ReceiptHandle=receipt, VisibilityTimeout=seconds
        )

    def _heartbeats(self) -> None:
        never = Event()
        while not never.wait(HEARTBEAT_SECONDS):
            for receipt in list(self._in_flight):
                self._change_visibility(receipt, VISIBILITY_SECONDS)

    def _remaining_ms(self) -> Callable[[], float]:
        ends_at = monotonic() + self.timeout_seconds
        return lambda: max(0.0, ends_at - monotonic()) * 1000


def main(arguments: list[str]) -> None:
    """Run until the standard input ends. Ctrl-C is the business of whoever started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_standard_input, daemon=True).start()
    endpoint_url, queue_url, queue_arn, timeout_seconds = arguments
    try:
        WorkerLoop(endpoint_url, queue_url, queue_arn, float(timeout_seconds)).run()
    finally:
        traceback.print_exc()
        os._exit(1)  # the other lanes wait for messages, and would hold the process


def _end_with_standard_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
