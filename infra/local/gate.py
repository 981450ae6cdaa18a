"""`SqsGate`: every SQS request passes here on its way to moto, from whatever client and process it comes.

Delays and sending times are kept by the local clock, long polls wait outside moto's lock, sends are noted, and the
visibility of records that a local event source holds is that source's.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from time import monotonic
from typing import Any

from core.clock import Clock
from infra.local.arrivals import Arrivals
from infra.local.records import Facts, epoch_ms


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whole."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes


Ask = Callable[[bytes], Answer]
"""Sends a request body on to moto."""
ChangeVisibility = Callable[[str, float], bool]
"""Makes a held record (receipt handle) visible in so many seconds. False: it is not held here."""


class SqsGate:
    """Handles requests in the JSON protocol; the server's threads call it."""

    def __init__(self, clock: Clock, arrivals: Arrivals) -> None:
        self._clock = clock
        self._arrivals = arrivals
        self._holders: dict[str, ChangeVisibility] = {}
        self._dead_letters: dict[str, str] = {}

    def hold(self, queue: str, change: ChangeVisibility) -> None:
        """From now on `change` is asked about records of `queue`."""
        self._holders[queue] = change

    def serve_dead_letters(self, queue: str, dead_letters: str) -> None:
        """A receive from `queue` may move messages to `dead_letters`, unseen by the gate."""
        self._dead_letters[queue] = dead_letters

    def handle(self, operation: str, body: bytes, ask: Ask, is_there: Callable[[], bool]) -> Answer:
        """moto's answer, or our own where moto is not asked. `is_there`: whether the client still waits for it."""
        try:
            request: dict[str, Any] = json.loads(body)
        except ValueError:
            return ask(body)
        queue = str(request.get("QueueUrl", "")).rpartition("/")[2]
        match operation:
            case "SendMessage" | "SendMessageBatch":
                return self._send(queue, request, ask)
            case "ReceiveMessage":
                return self._receive(queue, request, ask, is_there)
            case "ChangeMessageVisibility" | "ChangeMessageVisibilityBatch" if queue in self._holders:
                return self._change_visibility(self._holders[queue], request, body, ask)
            case _:
                return ask(body)

    def _send(self, queue: str, request: dict[str, Any], ask: Ask) -> Answer:
        entries = request.get("Entries", [request])
        for entry in entries:
            self._stamp(entry)
        answer = ask(_encoded(request))
        self._arrivals.note(queue, len(entries))
        return answer

    def _stamp(self, entry: dict[str, Any]) -> None:
        """Note when it was sent and when it is due. An impossible delay is left for moto to refuse."""
        facts, now = Facts.of(entry.get("MessageAttributes")), self._clock.now()
        if facts.sent_at_ms is None:
            facts = replace(facts, sent_at_ms=epoch_ms(now))
        delay = entry.get("DelaySeconds")
        if isinstance(delay, int) and 0 < delay <= 900:
            del entry["DelaySeconds"]
            facts = replace(facts, due_at_ms=epoch_ms(now + timedelta(seconds=delay)))
        entry["MessageAttributes"] = {**entry.get("MessageAttributes", {}), **facts.attributes()}

    def _receive(self, queue: str, request: dict[str, Any], ask: Ask, is_there: Callable[[], bool]) -> Answer:
        """Nothing is taken out of the queue for a client that is gone."""
        wait_seconds = request.get("WaitTimeSeconds") or 0
        request["WaitTimeSeconds"] = 0
        give_up_at = monotonic() + min(float(wait_seconds), 20.0)
        while True:
            seen = self._arrivals.count(queue)
            answer = ask(_encoded(request))
            if dead_letters := self._dead_letters.get(queue):
                self._arrivals.note(dead_letters)
            left = give_up_at - monotonic()
            if b'"Messages"' in answer.body or left <= 0:
                return answer
            if not self._arrivals.wait(queue, seen, left) or not is_there():
                return answer

    def _change_visibility(
        self, change: ChangeVisibility, request: Mapping[str, Any], body: bytes, ask: Ask
    ) -> Answer:
        entries = request.get("Entries", [request])
        if not all(change(entry["ReceiptHandle"], entry["VisibilityTimeout"]) for entry in entries):
            return ask(body)
        if "Entries" not in request:
            return _ours({})
        return _ours({"Successful": [{"Id": entry["Id"]} for entry in entries], "Failed": []})


def _ours(value: Mapping[str, Any]) -> Answer:
    return Answer("200 OK", [("Content-Type", "application/x-amz-json-1.0")], _encoded(value))


def _encoded(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode()
