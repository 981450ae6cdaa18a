"""CloudFormation on the local stack, as far as commands ask it: what the stack is told and what it is made of.

So every command that takes a deployed stack's name takes a local stack's endpoint too. moto has a CloudFormation of
its own, which imports every service of moto's and knows nothing of this stack.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from core.clock import Clock, iso
from infra.local.aws import Resources
from infra.local.gate import Answer
from infra.local.records import REGION
from infra.local.resources import THREAD_TABLE, WORK_TABLE
from infra.project.blocks import logical_prefix
from infra.store_rules import RETENTION_DAYS

STACK_ARN = f"arn:aws:cloudformation:{REGION}:123456789012:stack/local/1"
SCHEDULE_ROLE = "schedules"
_NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"
_WORKER = "worker:"


@dataclass(frozen=True, slots=True)
class StackFacts:
    """What is said of a stack: its outputs, and its resources as physical id by logical id."""

    outputs: Mapping[str, str]
    resources: Mapping[str, str]


def facts_of(resources: Resources) -> StackFacts:
    """As the template names them."""
    queues = {_logical(name): queue.url for name, queue in resources.queues.items()}
    tables = {"ConversationTable": resources.tables[THREAD_TABLE.name]}
    tables["WorkTable"] = resources.tables[WORK_TABLE.name]
    outputs = {
        "InputQueueUrl": queues["InputQueue"],
        "OutputQueueUrl": queues["OutputQueue"],
        "TableName": tables["ConversationTable"],
        "WorkTableName": tables["WorkTable"],
        "PayloadBucketName": resources.bucket,
        "AgentFunctionName": "agent",
    }
    others = {"ScheduleGroup": resources.schedule_group, "ScheduleRole": SCHEDULE_ROLE}
    return StackFacts(outputs, {**queues, **tables, "PayloadBucket": resources.bucket, **others})


def _logical(queue: str) -> str:
    """The logical id that the template gives a queue."""
    served, dead = queue.removesuffix("-dead"), queue.endswith("-dead")
    prefix = logical_prefix(served.removeprefix(_WORKER))
    return f"{prefix}DeadLetterQueue" if dead else f"{prefix}Queue"


@dataclass(slots=True)
class FormationGate:
    """Answers `DescribeStacks` and `ListStackResources`, whatever stack is asked for: there is one."""

    clock: Clock
    facts: StackFacts = field(default_factory=lambda: StackFacts({}, {}))
    """Known once the resources are made."""

    def handle(self, body: bytes) -> Answer:
        """The answer to a request in the query protocol."""
        asked = parse_qs(body.decode())
        operation, name = asked.get("Action", [""])[0], asked.get("StackName", ["local"])[0]
        match operation:
            case "DescribeStacks":
                result = f"<Stacks>{self._stack(name)}</Stacks>"
            case "ListStackResources":
                result = f"<StackResourceSummaries>{self._resources()}</StackResourceSummaries>"
            case _:
                error = f"<Code>InvalidAction</Code><Message>no {escape(operation)} here</Message>"
                return _answer("400 Bad Request", "ErrorResponse", f"<Error>{error}</Error>")
        return _answer("200 OK", f"{operation}Response", f"<{operation}Result>{result}</{operation}Result>")

    def _stack(self, name: str) -> str:
        outputs = "".join(
            _member(OutputKey=key, OutputValue=value) for key, value in self.facts.outputs.items()
        )
        parameters = _member(ParameterKey="RetentionDays", ParameterValue=str(RETENTION_DAYS))
        head = _tags(
            StackName=name,
            StackId=STACK_ARN,
            CreationTime=iso(self.clock.now()),
            StackStatus="CREATE_COMPLETE",
        )
        return f"<member>{head}<Outputs>{outputs}</Outputs><Parameters>{parameters}</Parameters></member>"

    def _resources(self) -> str:
        now = iso(self.clock.now())
        return "".join(
            _member(
                LogicalResourceId=logical,
                PhysicalResourceId=physical,
                ResourceType="Custom::Local",
                LastUpdatedTimestamp=now,
                ResourceStatus="CREATE_COMPLETE",
            )
            for logical, physical in self.facts.resources.items()
        )


def _member(**values: str) -> str:
    return f"<member>{_tags(**values)}</member>"


def _tags(**values: str) -> str:
    return "".join(f"<{name}>{escape(value)}</{name}>" for name, value in values.items())


def _answer(status: str, root: str, inner: str) -> Answer:
    text = f'<{root} xmlns="{_NAMESPACE}">{inner}</{root}>'
    return Answer(status, [("Content-Type", "text/xml")], text.encode())
