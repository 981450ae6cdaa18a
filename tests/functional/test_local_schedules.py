"""Schedules on the local stack: seen whoever makes them, fired by the local clock as EventBridge Scheduler would."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from core.delivery import DELAY
from core.slice.notices import SILENT
from infra.local.aws import Resources, client
from infra.local.clock import LocalClock
from infra.local.emulator import Emulator
from infra.local.live import LiveTorpor
from infra.local.resources import queues
from infra.local.schedules import ScheduleSource
from tests.functional.sleeper import MODEL, SPEC

START = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
HOUR_SECONDS = 3_600
PATIENCE_SECONDS = 20
WAKE = '{"type": "wake", "thread_id": "t1", "message_id": "m1"}'


@dataclass
class Rig:
    """Queues and schedules without functions."""

    sqs: Any
    scheduler: Any
    resources: Resources
    clock: LocalClock
    source: ScheduleSource

    def create(self, name: str, expression: str, queue: str = DELAY, **more: Any) -> None:
        found = self.resources.queues.get(queue)
        self.scheduler.create_schedule(
            Name=name,
            GroupName=self.resources.schedule_group,
            ScheduleExpression=expression,
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": found.arn if found else queue, "RoleArn": "arn:role", "Input": name},
            **more,
        )

    def names(self) -> list[str]:
        """Those that the emulator has."""
        listed = self.scheduler.list_schedules(GroupName=self.resources.schedule_group)
        return sorted(one["Name"] for one in listed["Schedules"])

    def sent(self) -> list[str]:
        """The bodies that came into the delay queue since the last time."""
        url = self.resources.queues[DELAY].url
        found = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        for message in found:
            self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return [message["Body"] for message in found]


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = LocalClock(START)
    emulator = Emulator(clock)
    made = [client(service, emulator.endpoint_url) for service in ("sqs", "dynamodb", "s3", "scheduler")]
    sqs, *_, scheduler = made
    resources = Resources("scheduled", *made)
    resources.create(queues({}), ())
    source = ScheduleSource(emulator.schedules, resources.queues, clock, sqs, scheduler)
    yield Rig(sqs, scheduler, resources, clock, source)
    resources.delete()
    for one in made:
        one.close()
    emulator.close()


def test_a_schedule_fires_once_at_its_instant_and_is_deleted(rig: Rig) -> None:
    rig.create("second", "at(2026-03-08T14:00:00)")
    rig.create("first", "at(2026-03-08T13:00:00)")
    assert rig.source.next_due_at() == datetime(2026, 3, 8, 13, tzinfo=UTC)
    rig.clock.advance(HOUR_SECONDS - 1)
    assert not rig.source.step()
    rig.clock.advance(1)
    assert rig.source.step()
    assert not rig.source.step()
    assert (rig.sent(), rig.names()) == (["first"], ["second"])
    rig.clock.advance(HOUR_SECONDS)
    assert rig.source.step()
    assert (rig.sent(), rig.names(), rig.source.next_due_at()) == (["second"], [], None)


def test_an_instant_may_be_in_another_zone(rig: Rig) -> None:
    rig.create("berlin", "at(2026-03-08T14:00:00)", ScheduleExpressionTimezone="Europe/Berlin")
    assert rig.source.next_due_at() == datetime(2026, 3, 8, 13, tzinfo=UTC)


def test_what_was_deleted_does_not_fire_and_what_was_refused_changes_nothing(rig: Rig) -> None:
    rig.create("kept", "at(2026-03-08T13:00:00)")
    rig.create("deleted", "at(2026-03-08T12:30:00)")
    rig.scheduler.delete_schedule(Name="deleted", GroupName=rig.resources.schedule_group)
    with pytest.raises(ClientError, match="already exists"):
        rig.create("kept", "at(2026-03-08T12:00:00)")
    assert rig.source.next_due_at() == datetime(2026, 3, 8, 13, tzinfo=UTC)


def test_what_is_recurring_or_sends_elsewhere_is_kept_and_not_fired(rig: Rig) -> None:
    rig.create("recurring", "rate(5 minutes)")
    rig.create("elsewhere", "at(2026-03-08T12:00:00)", queue="arn:aws:sqs:us-east-1:1:other")
    rig.clock.advance(HOUR_SECONDS)
    assert rig.source.next_due_at() is None
    assert not rig.source.step()
    assert rig.names() == ["elsewhere", "recurring"]


def test_the_live_stack_fires_what_is_due_by_itself() -> None:
    troubles: list[str] = []
    live = LiveTorpor(SPEC, MODEL, observer=SILENT, on_trouble=troubles.append)
    system = live._system
    delay = system.resources.queues[DELAY]
    with closing(client("scheduler", system.emulator.endpoint_url)) as scheduler:
        scheduler.create_schedule(
            Name="due",
            GroupName=system.resources.schedule_group,
            ScheduleExpression="at(2026-01-01T00:00:00)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": delay.arn, "RoleArn": "arn:role", "Input": WAKE},
        )
    assert system.emulator.arrivals.wait(delay.sqs_name, seen=0, seconds=PATIENCE_SECONDS)
    assert live.close()
    assert troubles == []
