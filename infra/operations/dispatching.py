"""A stack's dispatcher for people: the one that slices use, over the queues and schedules that CloudFormation names."""

import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from infra.operations.access import Access
from infra.scheduler.requests import ScheduleTarget
from infra.scheduler.schedules import Schedules
from infra.sqs.dispatcher import SqsDispatcher
from infra.stack import StackResources, resources_of


@asynccontextmanager
async def dispatcher_of(access: Access) -> AsyncIterator[SqsDispatcher]:
    """Raises SettingsError for a stack that lacks a part."""
    resources = resources_of(access.stack)
    async with AsyncExitStack() as opened:

        async def opened_client(service: str) -> Any:
            return await opened.enter_async_context(
                access.session.client(service, **access.stack.client_arguments)
            )

        async def scheduler() -> Any:
            return await opened_client("scheduler")

        yield SqsDispatcher(
            await opened_client("sqs"),
            resources,
            access.clock,
            lambda: math.inf,
            Schedules(scheduler, _target(resources)),
        )


def _target(resources: StackResources) -> ScheduleTarget:
    return ScheduleTarget(
        group=resources.named("ScheduleGroup"),
        role_arn=resources.arn("iam", f"role/{resources.named('ScheduleRole')}"),
        queue_arn=_queue_arn(resources, "DelayQueue"),
        dead_letters_arn=_queue_arn(resources, "DelayDeadLetterQueue"),
    )


def _queue_arn(resources: StackResources, logical_id: str) -> str:
    return resources.arn("sqs", resources.named(logical_id).rpartition("/")[2])
