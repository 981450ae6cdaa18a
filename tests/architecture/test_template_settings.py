"""What the template gives each function is what its handler reads, and points where the name says."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.app import load_app
from core.delivery import DELAY, INPUT, OUTPUT, worker_queue
from core.senders import Enforced
from examples.webhook import WebhookSettings
from handlers.settings import (
    AgentSettings,
    DeadLetterSettings,
    RelaySettings,
    SweeperSettings,
    WorkerSettings,
)
from infra.scheduler.requests import ScheduleTarget
from infra.store_rules import RETENTION_DAYS
from tests.architecture.sources import ROOT
from tests.architecture.template import TEMPLATE, Function, dead_letters_of, event_sources, functions

READS: dict[str, Callable[[Mapping[str, str]], Any]] = {
    "handlers.agent": AgentSettings.read,
    "handlers.tool_worker": WorkerSettings.read,
    "handlers.timer_relay": RelaySettings.read,
    "handlers.dead_letters": DeadLetterSettings.read,
    "handlers.sweeper": SweeperSettings.read,
    "examples.webhook": WebhookSettings.read,
}
each_function = pytest.mark.parametrize("function", functions(), ids=lambda function: function.name)


class Watched(Mapping[str, str]):
    """An environment that remembers which variables were asked for."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def module_of(function: Function) -> str:
    module, _, attribute = str(function.properties["Handler"]).rpartition(".")
    assert attribute == "handler"
    return module


def settings_of(handler: str) -> Any:
    (function,) = (function for function in functions() if module_of(function) == handler)
    return READS[handler](function.environment)


def role_of(handler: str) -> str:
    (function,) = (function for function in functions() if module_of(function) == handler)
    return f"{function.role}.RoleId"


def queue_read_by(function: Function) -> str:
    (queue,) = (source.queue for source in event_sources() if source.function == function.name)
    return queue


def expected_urls() -> dict[str, str]:
    """Logical id by queue name. What a worker's function reads is that worker's queue."""
    workers = {worker_queue(f.worker): queue_read_by(f) for f in functions() if f.worker}
    return {INPUT: "InputQueue", OUTPUT: "OutputQueue", DELAY: "DelayQueue", **workers}


@each_function
def test_a_handler_can_be_imported_and_called(function: Function) -> None:
    assert callable(importlib.import_module(module_of(function)).handler)


@each_function
def test_a_function_is_given_exactly_the_variables_that_it_reads(function: Function) -> None:
    environment = Watched(function.environment)
    READS[module_of(function)](environment)
    assert environment.asked == set(function.environment)


def test_every_function_has_a_log_level_and_a_namespace_for_its_metrics() -> None:
    assert TEMPLATE["Globals"]["Function"]["Environment"]["Variables"] == {
        "LOG_LEVEL": {"Ref": "LogLevel"},
        "TORPOR_STACK": {"Ref": "AWS::StackName"},
    }


def test_the_agents_slices_are_traced_where_functions_are() -> None:
    assert settings_of("handlers.agent").traced


def test_the_agent_and_the_dead_letters_reach_every_queue() -> None:
    agent, dead_letters = settings_of("handlers.agent"), settings_of("handlers.dead_letters")
    assert agent.queue_urls == expected_urls()
    assert dead_letters.agent == replace(agent, traced=False)
    assert settings_of("handlers.timer_relay").queue_urls == {
        name: url for name, url in expected_urls().items() if name in (INPUT, DELAY)
    }


def test_each_dead_letter_queue_is_known_by_the_queue_it_serves() -> None:
    served = {f"{dead_letters_of(url)}.Arn": name for name, url in expected_urls().items() if name != OUTPUT}
    assert settings_of("handlers.dead_letters").sources == served


def test_schedules_send_to_the_delay_queue_in_the_group_and_by_the_role_that_are_theirs() -> None:
    assert settings_of("handlers.agent").schedules == ScheduleTarget(
        group="ScheduleGroup",
        role_arn="ScheduleRole.Arn",
        queue_arn="DelayQueue.Arn",
        dead_letters_arn=f"{dead_letters_of('DelayQueue')}.Arn",
    )


def test_stores_are_the_ones_that_functions_share() -> None:
    agent, dead_letters = settings_of("handlers.agent"), settings_of("handlers.dead_letters")
    assert (agent.table, agent.bucket) == ("ConversationTable", "PayloadBucket")
    workers = [READS["handlers.tool_worker"](f.environment) for f in functions() if f.worker]
    assert {dead_letters.work_table, *(worker.work_table for worker in workers)} == {"WorkTable"}
    assert {worker.input_queue_url for worker in workers} == {"InputQueue"}


def test_who_may_say_what_is_enforced_by_the_roles_that_functions_and_operators_have() -> None:
    assert settings_of("handlers.agent").senders == Enforced(
        agent=role_of("handlers.agent"),
        relay=role_of("handlers.timer_relay"),
        dead_letters=role_of("handlers.dead_letters"),
        operator="OperatorRole.RoleId",
        workers={function.worker: f"{function.role}.RoleId" for function in functions() if function.worker},
    )


def test_the_default_app_runs_on_the_workers_there_are() -> None:
    agent = settings_of("handlers.agent")
    workers = load_app(agent.app).workers()
    assert set(workers) == {function.worker for function in functions() if function.worker}
    assert agent.model is None
    assert agent.retention_days == RETENTION_DAYS


def test_a_layer_takes_its_versions_from_the_lock() -> None:
    for layer in ("agent", "worker"):
        lines = (ROOT / "layers" / layer / "requirements.txt").read_text("utf-8").splitlines()
        lock = (ROOT / "requirements.lock").read_text("utf-8")
        comment, constraint, *names = lines
        assert comment.startswith("# ")
        assert constraint == "-c ../../requirements.lock"
        assert [name for name in names if f"\n{name}==" not in lock] == []
