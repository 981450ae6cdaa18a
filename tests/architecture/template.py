"""`template.yaml` as values that tests compare: functions with their globals, event sources, queues, grants.

Intrinsic functions are rendered, not evaluated: a parameter becomes its default, a resource its logical id, an
attribute of one `Id.Attribute`. So two places that name the same resource render alike. Conditions hold: what the
template can deploy is held to the rules. `default=True` gives what it deploys by default instead, where none does.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml  # type: ignore[import-untyped]

from tests.architecture.sources import ROOT

Properties = Mapping[str, Any]
TEXT = (ROOT / "template.yaml").read_text("utf-8")
GIVEN = {
    "WebhookUrl": "https://receiver.example/hook",
    "AlarmTopicArn": "AlarmTopic.Arn",
    "Tracing": "Active",
}
"""Parameters whose defaults would leave something out. ModelId, empty, renders what reads it all the same."""


class TemplateLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads the short forms, `!Ref X`, as the long ones."""


def _intrinsic(loader: TemplateLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    match node:
        case yaml.ScalarNode():
            value: Any = loader.construct_scalar(node)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case _:
            raise TypeError(f"!{suffix} with a mapping is not used here")
    if suffix == "GetAtt":
        value = value.split(".", 1)
    return {suffix if suffix == "Ref" else f"Fn::{suffix}": value}


TemplateLoader.add_multi_constructor("!", _intrinsic)
TEMPLATE: Any = yaml.load(TEXT, TemplateLoader)


def rendered(value: Any, *, default: bool = False) -> Any:
    """The value with every intrinsic function rendered; of an `!If`, what holds when the parameter is given."""
    match value:
        case {"Ref": str(name)}:
            return _parameter(name, default) if name in TEMPLATE["Parameters"] else name
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"{name}.{attribute}"
        case {"Fn::Sub": str(text)}:
            return re.sub(r"\$\{([\w.]+)\}", lambda found: str(rendered({"Ref": found[1]})), text)
        case {"Fn::If": [_, then, otherwise]}:
            return rendered(otherwise if default else then, default=default)
        case dict():
            items = {key: rendered(item, default=default) for key, item in value.items()}
            return {key: item for key, item in items.items() if item != "AWS::NoValue"}
        case list():
            return [rendered(item, default=default) for item in value]
        case _:
            return value


def _parameter(name: str, default: bool) -> Any:
    value = TEMPLATE["Parameters"][name]["Default"]
    return value if default else GIVEN.get(name, value)


@cache
def resources(kind: str, *, default: bool = False) -> dict[str, Any]:
    """Rendered properties by logical id of the resources of one type."""
    return {
        name: rendered(resource.get("Properties", {}), default=default)
        for name, resource in TEMPLATE["Resources"].items()
        if resource["Type"] == f"AWS::{kind}" and not (default and "Condition" in resource)
    }


@dataclass(frozen=True)
class Function:
    """A function with what it has from the globals."""

    name: str
    properties: Properties
    environment: Mapping[str, str]
    """All variables but those which every function has."""

    @property
    def role(self) -> str:
        """Its role's logical id."""
        return str(self.properties["Role"]).removesuffix(".Arn")

    @property
    def worker(self) -> str | None:
        """The name of the worker it is; None if it is none."""
        return self.environment.get("TORPOR_WORKER")


@cache
def functions(*, default: bool = False) -> tuple[Function, ...]:
    shared = rendered(TEMPLATE["Globals"]["Function"], default=default)
    common = shared["Environment"]["Variables"]
    return tuple(
        Function(
            name,
            {**shared, **properties},
            {
                key: str(value)
                for key, value in properties["Environment"]["Variables"].items()
                if key not in common
            },
        )
        for name, properties in resources("Serverless::Function", default=default).items()
    )


@dataclass(frozen=True)
class EventSource:
    """A queue that a function reads."""

    function: str
    queue: str
    properties: Properties


@cache
def event_sources(*, default: bool = False) -> tuple[EventSource, ...]:
    """Those of SAM's `Events`, and those that stand alone."""
    return tuple(_event_sources(default))


def _event_sources(default: bool) -> Iterator[EventSource]:
    for function in functions(default=default):
        for event in _events(function, "SQS"):
            yield EventSource(function.name, event["Queue"].removesuffix(".Arn"), event)
    for source in resources("Lambda::EventSourceMapping", default=default).values():
        yield EventSource(source["FunctionName"], source["EventSourceArn"].removesuffix(".Arn"), source)


def _events(function: Function, kind: str) -> list[Properties]:
    events = function.properties["Events"].values()
    assert {event["Type"] for event in events} <= {"SQS", "DynamoDB"}
    return [event["Properties"] for event in events if event["Type"] == kind]


@dataclass(frozen=True)
class StreamSource:
    """A table whose stream a function reads."""

    function: str
    table: str
    failures: str
    """The queue that is told what could not be handled."""
    properties: Properties


@cache
def stream_sources() -> tuple[StreamSource, ...]:
    return tuple(
        StreamSource(
            function.name,
            stream["Stream"].removesuffix(".StreamArn"),
            stream["DestinationConfig"]["OnFailure"]["Destination"].removesuffix(".Arn"),
            stream,
        )
        for function in functions()
        for stream in _events(function, "DynamoDB")
    )


def kept_for_people() -> set[str]:
    """Queues that nothing reads: what could not be handled of a stream."""
    return {source.failures for source in stream_sources()}


def queues(*, default: bool = False) -> dict[str, Any]:
    """Properties of every queue by logical id."""
    return resources("SQS::Queue", default=default)


def dead_letters_of(queue: str, *, default: bool = False) -> str | None:
    """The logical id of a queue's dead-letter queue."""
    policy = queues(default=default)[queue].get("RedrivePolicy")
    return policy["deadLetterTargetArn"].removesuffix(".Arn") if policy else None


def statements_of(role: str) -> list[Any]:
    """What a role may do: its own statements and those of the policies that are attached to it."""
    properties = resources("IAM::Role")[role]
    managed = [resources("IAM::ManagedPolicy")[name] for name in properties.get("ManagedPolicyArns", ())]
    attached = [policy for policy in resources("IAM::Policy").values() if role in policy["Roles"]]
    policies = [*properties["Policies"], *managed, *attached]
    return [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]


def grants_of(role: str) -> dict[str, set[str]]:
    """The actions a role is allowed, by resource."""
    found: dict[str, set[str]] = {}
    for statement in statements_of(role):
        for resource in _listed(statement["Resource"]):
            found.setdefault(resource, set()).update(_listed(statement["Action"]))
    return found


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
