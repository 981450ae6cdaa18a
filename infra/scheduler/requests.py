"""From an `Outgoing` to the parameters of a schedule: which messages need one, when it fires, what it sends. Pure.

A schedule fires within the minute after its instant, so it is made for a little earlier: it puts the message into the
delay queue, and the relay keeps it there until the very instant. Early is harmless, late would be late.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from core.delivery import DELAY, UNSCHEDULE
from core.outbox import LONGEST_DELAY
from core.ports import Outgoing

EARLY = timedelta(seconds=120)
"""Before the message is due: a minute for the scheduler, the rest for the queue and the relay."""
MAX_EVENT_AGE_SECONDS = 86_400
MAX_RETRIES = 185
"""The most that schedules may try to reach their queue; then the message goes to that queue's dead letters."""


@dataclass(frozen=True, slots=True)
class ScheduleTarget:
    """Where a stack's schedules are and what they may do."""

    group: str
    """Schedules of one stack; deleted with it."""
    role_arn: str
    """May send to the two queues, and only schedules of the group may take it."""
    queue_arn: str
    """Of the delay queue."""
    dead_letters_arn: str
    """Of its dead-letter queue."""


def is_for_scheduler(message: Outgoing, now: datetime) -> bool:
    """Whether the message is due later than a queue can delay it, or takes back one that was."""
    if message.queue == UNSCHEDULE:
        return True
    return message.queue == DELAY and message.due_at is not None and message.due_at - now > LONGEST_DELAY


def fires_at(due_at: datetime) -> datetime:
    """The whole second at which the schedule of a message due then fires."""
    return (due_at - EARLY).replace(microsecond=0)


def create_parameters(name: str, body: str, at: datetime, target: ScheduleTarget) -> dict[str, Any]:
    """As CreateSchedule takes them. The same message gives the same, the client token included."""
    return {
        "Name": name,
        "GroupName": target.group,
        "ClientToken": name,
        "ScheduleExpression": f"at({at:%Y-%m-%dT%H:%M:%S})",
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "Target": {
            "Arn": target.queue_arn,
            "RoleArn": target.role_arn,
            "Input": body,
            "DeadLetterConfig": {"Arn": target.dead_letters_arn},
            "RetryPolicy": {
                "MaximumEventAgeInSeconds": MAX_EVENT_AGE_SECONDS,
                "MaximumRetryAttempts": MAX_RETRIES,
            },
        },
    }


def delete_parameters(name: str, token: str, target: ScheduleTarget) -> dict[str, Any]:
    """As DeleteSchedule takes them."""
    return {"Name": name, "GroupName": target.group, "ClientToken": token}
