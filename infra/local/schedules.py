"""One-time schedules of the local stack: moto keeps them and never fires them, so they are seen on their way to it, and
fired here by the local clock.

Nothing is polled: what the emulator was asked is all there is to know. Only schedules that send to a queue of the stack
fire; recurring ones, and other targets, Torpor has not.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from infra.local.arrivals import Arrivals
from infra.local.source import Queue

ARRIVALS = "schedules"
"""What waits for them goes by this name."""
_ONCE = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")


@dataclass(frozen=True, slots=True)
class LocalSchedule:
    """A one-time schedule that moto has."""

    group: str
    name: str
    fires_at: datetime
    target_arn: str
    body: str


class ScheduleGate:
    """Sees the requests to EventBridge Scheduler that moto granted; the server's threads call it."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._lock = Lock()
        self._there: dict[tuple[str, str], LocalSchedule] = {}

    def note(self, method: str, name: str, query: Mapping[str, list[str]], body: bytes) -> None:
        """Schedule `name` was created, or deleted. What is not a one-time schedule is not kept."""
        if method == "DELETE":
            with self._lock:
                self._there.pop((query.get("groupName", ["default"])[0], name), None)
        elif method == "POST" and (made := _once(name, json.loads(body))) is not None:
            with self._lock:
                self._there[made.group, name] = made
        self._arrivals.note(ARRIVALS)

    def there(self) -> list[LocalSchedule]:
        """What has neither fired nor been deleted, in the order of firing."""
        with self._lock:
            return sorted(self._there.values(), key=lambda one: (one.fires_at, one.name))


class ScheduleSource:
    """Fires the schedules that send to `queues`, as an event source runs what is due."""

    name = arrivals_name = ARRIVALS

    def __init__(
        self, gate: ScheduleGate, queues: Mapping[str, Queue], clock: Clock, sqs: Any, scheduler: Any
    ) -> None:
        self._gate = gate
        self._urls = {queue.arn: queue.url for queue in queues.values()}
        self._clock = clock
        self._sqs, self._scheduler = sqs, scheduler

    def step(self) -> bool:
        """Fire everything that is due, each by a message, then delete it. False: nothing was due."""
        due = [one for one in self._mine() if one.fires_at <= self._clock.now()]
        for one in due:
            self._sqs.send_message(QueueUrl=self._urls[one.target_arn], MessageBody=one.body)
            self._scheduler.delete_schedule(Name=one.name, GroupName=one.group)
        return bool(due)

    def next_due_at(self) -> datetime | None:
        """When the next one fires, the past included; None if there is none."""
        return next((one.fires_at for one in self._mine()), None)

    def awaits_retry(self) -> bool:
        """Never: sending to a local queue does not fail."""
        return False

    def _mine(self) -> list[LocalSchedule]:
        return [one for one in self._gate.there() if one.target_arn in self._urls]


def _once(name: str, asked: Mapping[str, Any]) -> LocalSchedule | None:
    found = _ONCE.fullmatch(asked["ScheduleExpression"])
    if found is None:
        return None
    zone = ZoneInfo(asked.get("ScheduleExpressionTimezone", "UTC"))
    at = datetime.fromisoformat(found[1]).replace(tzinfo=zone).astimezone(UTC)
    target = asked["Target"]
    return LocalSchedule(asked.get("GroupName", "default"), name, at, target["Arn"], target.get("Input", ""))
