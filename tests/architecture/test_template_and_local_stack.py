"""The local stack creates what the template deploys by default: resource by resource, number by number."""

import json
from typing import Any

from core.app import load_app
from core.delivery import DELAY, INPUT, OUTPUT, worker_queue
from infra.local import resources as local
from tests.architecture import template
from tests.architecture.template import dead_letters_of, rendered

FUNCTIONS = template.functions(default=True)
EVENT_SOURCES = template.event_sources(default=True)
QUEUES = template.queues(default=True)
WORKERS = local.worker_timeouts(load_app(rendered({"Ref": "AgentApp"})))
FUNCTION_NAMES = {
    "AgentFunction": local.AGENT,
    "TimerRelayFunction": local.RELAY,
    "DeadLettersFunction": local.DEAD_LETTERS,
    "SweeperFunction": local.SWEEPER,
    **{function.name: worker_queue(function.worker) for function in FUNCTIONS if function.worker},
}
"""The local stack's name of each function, by logical id."""


def queue_names() -> dict[str, str]:
    """The local stack's name of each queue, by logical id."""
    named = {"InputQueue": INPUT, "OutputQueue": OUTPUT, "DelayQueue": DELAY}
    named |= {source.failures: local.SWEEPER_FAILURES for source in template.stream_sources()}
    for source in EVENT_SOURCES:
        if FUNCTION_NAMES[source.function] in map(worker_queue, WORKERS):
            named[source.queue] = FUNCTION_NAMES[source.function]
    dead = {
        target: local.dead_letters_of(named[name])
        for name in named
        if (target := dead_letters_of(name, default=True))
    }
    return named | dead


def create_queue_attributes(properties: Any) -> dict[str, str]:
    """The template's queue as CreateQueue takes it, the redrive policy apart."""
    left_out = ("RedrivePolicy", "SqsManagedSseEnabled")
    values = {name: value for name, value in properties.items() if name not in left_out}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


def test_queues_are_the_same() -> None:
    names, specs = queue_names(), {spec.name: spec for spec in local.queues(WORKERS)}
    deployed = {names[name]: create_queue_attributes(properties) for name, properties in QUEUES.items()}
    assert deployed == {name: spec.attributes for name, spec in specs.items()}


def test_dead_letters_go_the_same_way() -> None:
    names = queue_names()
    deployed = {names[name]: dead_letters_of(name, default=True) for name in QUEUES}
    specs = local.queues(WORKERS)
    assert {name: names[dead] for name, dead in deployed.items() if dead} == {
        spec.name: spec.dead_letters for spec in specs if spec.dead_letters
    }
    counts = {q["RedrivePolicy"]["maxReceiveCount"] for q in QUEUES.values() if "RedrivePolicy" in q}
    assert counts == {local.MAX_RECEIVE_COUNT}


def test_functions_read_the_same_queues_and_run_as_long() -> None:
    names = queue_names()
    deployed = {
        local.EventSourceSpec(FUNCTION_NAMES[s.function], names[s.queue], s.properties["BatchSize"])
        for s in EVENT_SOURCES
    }
    assert deployed == set(local.event_sources(WORKERS))
    timeouts = {FUNCTION_NAMES[function.name]: function.properties["Timeout"] for function in FUNCTIONS}
    assert timeouts == local.function_timeouts(WORKERS)


def test_a_function_reads_the_same_of_the_stream() -> None:
    (source,) = template.stream_sources()
    (pattern,) = source.properties["FilterCriteria"]["Filters"]
    by_the_table_itself = {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}
    removed = {"eventName": ["REMOVE"], "userIdentity": by_the_table_itself}
    keys = {"Keys": {"sk": {"S": [local.STREAM.keys]}}}
    assert json.loads(pattern["Pattern"]) == {**removed, "dynamodb": keys}
    deployed = local.StreamSpec(
        FUNCTION_NAMES[source.function],
        {"ConversationTable": local.THREAD_TABLE.name}[source.table],
        queue_names()[source.failures],
        source.properties["BatchSize"],
        source.properties["MaximumRetryAttempts"],
        local.STREAM.keys,
    )
    assert deployed == local.STREAM


def test_tables_are_the_same() -> None:
    names = {"ConversationTable": local.THREAD_TABLE.name, "WorkTable": local.WORK_TABLE.name}
    deployed = {
        table_spec(names[name], table)
        for name, table in template.resources("DynamoDB::Table", default=True).items()
    }
    assert deployed == set(local.TABLES)


def test_there_is_one_group_of_schedules_and_it_is_nothing_special() -> None:
    deployed = template.resources("Scheduler::ScheduleGroup", default=True)
    assert deployed == {"ScheduleGroup": {}}


def table_spec(name: str, table: Any) -> local.TableSpec:
    keys = {key["KeyType"]: key["AttributeName"] for key in table["KeySchema"]}
    types = {
        attribute["AttributeName"]: attribute["AttributeType"] for attribute in table["AttributeDefinitions"]
    }
    assert types == dict.fromkeys(keys.values(), "S")
    return local.TableSpec(
        name,
        hash_key=keys["HASH"],
        range_key=keys.get("RANGE"),
        ttl_attribute=table["TimeToLiveSpecification"]["AttributeName"],
        stream=table.get("StreamSpecification", {}).get("StreamViewType"),
    )
