"""The environment of each function, as `template.yaml` gives it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from core.delivery import DELAY, INPUT, OUTPUT, worker_queue
from infra.local.aws import Resources
from infra.local.records import REGION
from infra.local.resources import (
    THREAD_TABLE,
    WORK_TABLE,
    WorkerTimeouts,
    dead_letters_of,
    served_queues,
)

SCHEDULE_ROLE_ARN = "arn:aws:iam::123456789012:role/schedules"
"""The emulator lets any role do anything."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the functions of one stack are told."""

    app: str
    model: str | None
    workers: WorkerTimeouts
    resources: Resources

    def for_function(self, function: str) -> dict[str, str]:
        """Of `agent`, `relay`, `dead_letters` or `worker:<name>`. Each reads what it needs."""
        queues, tables = self.resources.queues, self.resources.tables
        dead = {queues[dead_letters_of(name)].arn: name for name in served_queues(self.workers)}
        return {
            "AWS_REGION": REGION,
            "TORPOR_APP": self.app,
            **({"TORPOR_MODEL": self.model} if self.model else {}),
            **({"TORPOR_WORKER": worker} if (worker := _worker(function, self.workers)) else {}),
            "TORPOR_INPUT_QUEUE_URL": queues[INPUT].url,
            "TORPOR_OUTPUT_QUEUE_URL": queues[OUTPUT].url,
            "TORPOR_DELAY_QUEUE_URL": queues[DELAY].url,
            "TORPOR_DELAY_QUEUE_ARN": queues[DELAY].arn,
            "TORPOR_DELAY_DEAD_LETTERS_ARN": queues[dead_letters_of(DELAY)].arn,
            "TORPOR_SCHEDULE_GROUP": self.resources.schedule_group,
            "TORPOR_SCHEDULE_ROLE_ARN": SCHEDULE_ROLE_ARN,
            "TORPOR_WORKER_QUEUES": json.dumps(
                {name: queues[worker_queue(name)].url for name in self.workers}
            ),
            "TORPOR_DEAD_LETTER_QUEUES": json.dumps(dead),
            "TORPOR_TABLE": tables[THREAD_TABLE.name],
            "TORPOR_WORK_TABLE": tables[WORK_TABLE.name],
            "TORPOR_BUCKET": self.resources.bucket,
            "TORPOR_SENDER_CHECK": "off",  # the emulator gives every sender the same id
        }


def _worker(function: str, workers: Iterable[str]) -> str | None:
    return next((worker for worker in workers if worker_queue(worker) == function), None)
