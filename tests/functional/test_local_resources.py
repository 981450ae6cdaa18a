"""What `resources.py` says is what the emulator has. That it is what the template says, tests/architecture holds."""

import json
from collections.abc import Iterator

import pytest

from infra.local.aws import Resources, client
from infra.local.clock import LocalClock
from infra.local.emulator import Emulator
from infra.local.resources import MAX_RECEIVE_COUNT, TABLES, QueueSpec, TableSpec, queues

WORKERS = {"library": 90, "a-name-as-long-as-names-may-be-" + "x" * 33: 300}


@pytest.fixture(scope="module")
def resources() -> Iterator[Resources]:
    """Created, and deleted again."""
    emulator = Emulator(LocalClock())
    clients = [client(service, emulator.endpoint_url) for service in ("sqs", "dynamodb", "s3", "scheduler")]
    created = Resources("compared", *clients)
    created.create(queues(WORKERS), TABLES)
    yield created
    created.delete()
    assert not clients[0].list_queues(QueueNamePrefix="compared").get("QueueUrls")
    assert not clients[3].list_schedule_groups(NamePrefix="compared")["ScheduleGroups"]
    for made in clients:
        made.close()
    emulator.close()


@pytest.mark.parametrize("spec", queues(WORKERS), ids=lambda spec: spec.name)
def test_every_queue_is_as_it_is_said(resources: Resources, spec: QueueSpec) -> None:
    there = resources.describe_queue(spec.name)
    assert spec.attributes.items() <= there.items()
    if spec.dead_letters is None:
        assert "RedrivePolicy" not in there
        return
    policy = json.loads(there["RedrivePolicy"])
    dead = resources.queues[spec.dead_letters].arn
    assert policy == {"deadLetterTargetArn": dead, "maxReceiveCount": MAX_RECEIVE_COUNT}


@pytest.mark.parametrize("spec", TABLES, ids=lambda spec: spec.name)
def test_every_table_is_as_it_is_said(resources: Resources, spec: TableSpec) -> None:
    there = resources.describe_table(spec.name)
    keys = {key["KeyType"]: key["AttributeName"] for key in there["KeySchema"]}
    assert (keys["HASH"], keys.get("RANGE")) == (spec.hash_key, spec.range_key)
    assert there["TimeToLive"] == spec.ttl_attribute
    assert there.get("StreamSpecification", {}).get("StreamViewType") == spec.stream


def test_the_group_of_schedules_is_there(resources: Resources) -> None:
    assert resources.describe_schedule_group()["State"] == "ACTIVE"
