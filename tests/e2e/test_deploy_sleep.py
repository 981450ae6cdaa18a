"""A sleeping thread of the deployed system is a schedule of the stack, which comes to it through queue and relay.

The emulator's time cannot be moved: what the end of a sleep does, tests/functional shows on the local stack.
"""

import json
from contextlib import suppress
from typing import Any

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import calls, says

WEEK_SECONDS = 7 * 86_400
PAST = "2026-01-01T00:00:00"


def schedules_of(deployed: Deployed, thread_id: str) -> list[dict[str, Any]]:
    """Those in the stack's group that send something to the thread."""
    scheduler, group = deployed.stack.client("scheduler"), deployed.stack.resource("ScheduleGroup")
    found = []
    for name in [one["Name"] for one in scheduler.list_schedules(GroupName=group)["Schedules"]]:
        with suppress(scheduler.exceptions.ResourceNotFoundException):  # it went while the others were read
            found.append(scheduler.get_schedule(GroupName=group, Name=name))
    return [one for one in found if json.loads(one["Target"]["Input"])["thread_id"] == thread_id]


def arn_of(deployed: Deployed, logical_id: str) -> str:
    url = deployed.stack.resource(logical_id)
    found = deployed.stack.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return str(found["Attributes"]["QueueArn"])


def test_a_sleep_is_a_schedule_that_comes_back_to_its_thread_and_goes_with_it(deployed: Deployed) -> None:
    deployed.model.play("Sleep.", calls(("sleep", {"seconds": WEEK_SECONDS})), says("Good morning."))
    deployed.mailbox.say("sleeper", "Sleep.")
    deployed.mailbox.wait_until(lambda: bool(schedules_of(deployed, "sleeper")), "schedule of a week")
    (schedule,) = schedules_of(deployed, "sleeper")
    target = schedule["Target"]
    assert target["Arn"] == arn_of(deployed, "DelayQueue")
    assert target["DeadLetterConfig"]["Arn"] == arn_of(deployed, "DelayDeadLetterQueue")
    assert target["RoleArn"].endswith(f"/{deployed.stack.resource('ScheduleRole')}")
    assert schedule["ActionAfterCompletion"] == "DELETE"
    early = json.dumps(json.loads(target["Input"]) | {"due_at": f"{PAST}Z"})
    deployed.stack.client("scheduler").create_schedule(
        Name="early",
        GroupName=schedule["GroupName"],
        ScheduleExpression=f"at({PAST})",
        FlexibleTimeWindow={"Mode": "OFF"},
        ActionAfterCompletion="DELETE",
        Target=target | {"Input": early},
    )

    def is_armed_again() -> bool:
        names = [one["Name"] for one in schedules_of(deployed, "sleeper")]
        return len(names) == 1 and names[0] not in ("early", schedule["Name"])

    deployed.mailbox.wait_until(is_armed_again, "schedule in the place of the one that came early")
    deployed.mailbox.send(json.dumps({"type": "close", "thread_id": "sleeper"}), "sleeper")
    deployed.mailbox.wait_until(lambda: not schedules_of(deployed, "sleeper"), "end of the schedule")
    assert deployed.mailbox.answers("sleeper") == []
