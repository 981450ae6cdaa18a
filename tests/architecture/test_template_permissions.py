"""Each function may do what it uses, on what its environment and event sources name, and nothing else.

The roles that no function has, of schedules and of people, are held to what is written here.
"""

import ast
import json
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

import pytest

from core.changes import MetadataSet
from core.clock import SYSTEM_CLOCK
from core.worker import Answering
from infra.dynamodb.codec import pack
from infra.dynamodb.keys import PARKED
from infra.dynamodb.requests import Patience
from infra.dynamodb.settle import mark, move_tip
from infra.memory import MemoryClock
from infra.memory.dispatcher import MemorySender
from infra.memory.queues import MemoryQueues
from infra.operations.table import OperatorTable
from infra.work.memory import MemoryWorkRecords
from tests.architecture.sources import sources
from tests.architecture.template import (
    TEMPLATE,
    Function,
    dead_letters_of,
    event_sources,
    functions,
    grants_of,
    queues,
    resources,
    statements_of,
    stream_sources,
)
from tests.contract.commits import key, made, user, with_base

RECEIVE = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
SEND = {"sqs:SendMessage"}
SEND_SEVERAL = {"sqs:SendMessage", "sqs:SendMessageBatch"}
BRING_BACK = {"sqs:ChangeMessageVisibility", "sqs:ChangeMessageVisibilityBatch"}
COMPLETE = {"bedrock:InvokeModelWithResponseStream", "bedrock:ConverseStream"}
BEDROCK = "arn:${AWS::Partition}:bedrock:*:"
MODELS = (
    f"{BEDROCK}:foundation-model/*",
    f"{BEDROCK}${{AWS::AccountId}}:inference-profile/*",
    f"{BEDROCK}${{AWS::AccountId}}:application-inference-profile/*",
)
"""Any model: which one is the app's, or ModelId's, to say."""
GUARD = {"bedrock:ApplyGuardrail"}
GUARDRAILS = (
    f"{BEDROCK}${{AWS::AccountId}}:guardrail/*",
    f"{BEDROCK}${{AWS::AccountId}}:guardrail-profile/*",
)
"""Those that settings name: asked for apart (Bedrock User Guide, *Set up permissions to use Guardrails*)."""
LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACE = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
SCHEDULES = "arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule/ScheduleGroup/*"
SCHEDULE = {"scheduler:CreateSchedule", "scheduler:DeleteSchedule"}
READ_STREAM = {"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}
KEEPING_ON_S3 = {"ListObjectsV2": "s3:ListBucket", "DeleteObjects": "s3:DeleteObject"}
SWEEPER = "SweeperFunction"
READ_THREADS = {"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"}
SETTLE_THREADS = {"dynamodb:UpdateItem"}
OPERATOR_ON_PAYLOADS = {
    "": "s3:ListBucket",
    "/payloads/*": "s3:GetObject",
    "/payloads/parked/*": "s3:DeleteObject",
}
THE_STACK = "arn:${AWS::Partition}:cloudformation:${AWS::Region}:${AWS::AccountId}:stack/${AWS::StackName}/*"
FIND_STACK = {"cloudformation:DescribeStacks", "cloudformation:ListStackResources"}
each_function = pytest.mark.parametrize("function", functions(), ids=lambda function: function.name)


def operations(place: str, *clients: str) -> set[str]:
    """The AWS operations that the code in a folder or file asks these clients for, as the service spells them."""
    found = set()
    for source in sources("infra", "examples"):
        if not source.path.startswith(place):
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in clients:
                found.add("".join(word.capitalize() for word in node.attr.split("_")))
    return found


def store_actions(service: str) -> set[str]:
    """Of the thread store: an operation on objects is S3's, any other DynamoDB's."""
    found = operations("infra/dynamodb/", "self._client")
    of_s3 = {name for name in found if name.endswith("Object")}
    return {f"{service}:{name}" for name in (of_s3 if service == "s3" else found - of_s3)}


def keeping_actions(service: str) -> set[str]:
    """Of what takes threads away. S3 authorises the calls for many objects by other names."""
    found = operations("infra/keeping/", "self._client")
    of_s3 = {KEEPING_ON_S3[name] for name in found if name in KEEPING_ON_S3}
    return of_s3 if service == "s3" else {f"dynamodb:{name}" for name in found - set(KEEPING_ON_S3)}


def work_actions() -> set[str]:
    return {f"dynamodb:{name}" for name in operations("infra/work/", "self.client")}


def webhook_actions() -> set[str]:
    return {f"dynamodb:{name}" for name in operations("examples/webhook.py", "self.dynamodb") - {"Close"}}


def queues_named_by(function: Function) -> set[str]:
    """The queues whose URLs its environment holds: those it sends to."""
    texts = {value for name, value in function.environment.items() if name.endswith("_URL")}
    texts |= set(json.loads(function.environment.get("TORPOR_WORKER_QUEUES", "{}")).values())
    return texts & set(queues())


def uses_of(function: Function) -> dict[str, set[str]]:
    """The actions that a function needs, by resource, from its environment and its event sources."""
    uses = {f"{function.properties['LoggingConfig']['LogGroup']}.Arn": LOG, "*": TRACE}
    for queue in queues_named_by(function):
        uses[f"{queue}.Arn"] = set(SEND_SEVERAL if "TORPOR_TABLE" in function.environment else SEND)
    for source in event_sources():
        if source.function == function.name:
            uses.setdefault(f"{source.queue}.Arn", set()).update(RECEIVE)
    for stream in stream_sources():
        if stream.function == function.name:
            uses[f"{stream.table}.StreamArn"] = READ_STREAM
            uses[f"{stream.table}.Arn/stream/*"] = {"dynamodb:ListStreams"}
            uses[f"{stream.failures}.Arn"] = SEND
    if function.name == "AgentFunction":
        uses["InputQueue.Arn"] |= BRING_BACK
        uses |= dict.fromkeys(MODELS, COMPLETE) | dict.fromkeys(GUARDRAILS, GUARD)
    if table := function.environment.get("TORPOR_TABLE"):
        uses[f"{table}.Arn"] = store_actions("dynamodb")
    if function.name == SWEEPER:
        uses[f"{table}.Arn"] |= keeping_actions("dynamodb")
    elif table:
        uses |= {SCHEDULES: SCHEDULE, "ScheduleRole.Arn": {"iam:PassRole"}}
    if bucket := function.environment.get("TORPOR_BUCKET"):
        deleting = keeping_actions("s3") - {"s3:ListBucket"} if function.name == SWEEPER else set()
        uses[f"{bucket}.Arn/payloads/*"] = store_actions("s3") | deleting
        uses[f"{bucket}.Arn"] = {"s3:ListBucket"}
    if table := function.environment.get("TORPOR_WORK_TABLE"):
        uses[f"{table}.Arn"] = work_actions()
    if table := function.environment.get("TORPOR_WEBHOOK_TABLE"):
        uses[f"{table}.Arn"] = webhook_actions()
    return uses


@each_function
def test_a_function_may_do_exactly_what_it_uses(function: Function) -> None:
    assert grants_of(function.role) == uses_of(function)


@each_function
def test_a_function_has_a_role_of_its_own_without_managed_policies(function: Function) -> None:
    assert [other.name for other in functions() if other.role == function.role] == [function.name]
    role = resources("IAM::Role")[function.role]
    assert role["ManagedPolicyArns"] == ["TracingPolicy"]
    assert "Policies" not in function.properties, "SAM would ignore them beside a role"
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "lambda.amazonaws.com"}
    assert all(statement["Effect"] == "Allow" for statement in statements_of(function.role))


@pytest.mark.parametrize("worker", [f for f in functions() if f.worker], ids=lambda function: function.name)
def test_a_worker_has_nothing_on_the_conversation_nor_on_another_workers_queue(worker: Function) -> None:
    reached = {resource.partition(".")[0] for resource in grants_of(worker.role)}
    (own,) = (source.queue for source in event_sources() if source.function == worker.name)
    assert reached & (set(queues()) | {"ConversationTable", "PayloadBucket"}) == {own, "InputQueue"}
    assert grants_of(worker.role)["InputQueue.Arn"] == SEND


@pytest.mark.parametrize("worker", [f for f in functions() if f.worker], ids=lambda function: function.name)
def test_a_worker_reaches_the_records_of_its_own_calls_only(worker: Function) -> None:
    (working,) = (s for s in statements_of(worker.role) if s["Resource"] == "WorkTable.Arn")
    (reached,) = working["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    clock = MemoryClock(datetime(2026, 1, 1, tzinfo=UTC))
    for name in (*(f.worker for f in functions() if f.worker), f"{worker.worker}-2", "", "x"):
        sender = MemorySender(MemoryQueues(clock), clock)
        key = Answering(MemoryWorkRecords(), sender, clock, str(name)).record_of("call_x")
        assert fnmatchcase(key, reached) == (name == worker.worker)


def test_a_role_may_send_traces_only_when_functions_are_traced() -> None:
    for name in resources("IAM::Role", default=True):
        properties = TEMPLATE["Resources"][name]["Properties"]
        managed = properties.get("ManagedPolicyArns", {"Fn::If": ["IsTraced"]})
        assert managed["Fn::If"][0] == "IsTraced"
    assert TEMPLATE["Resources"]["TracingPolicy"]["Condition"] == "IsTraced"


def test_a_slice_hands_one_role_to_the_scheduler_and_to_nobody_else() -> None:
    (passing,) = (s for s in statements_of("AgentRole") if s["Action"] == "iam:PassRole")
    assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}


def test_a_schedule_of_the_group_may_send_to_the_delay_queue_or_else_where_its_dead_letters_are_read() -> (
    None
):
    (statement,) = resources("IAM::Role")["ScheduleRole"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
    expected = {"aws:SourceAccount": "AWS::AccountId", "aws:SourceArn": "ScheduleGroup.Arn"}
    assert statement["Condition"] == {"StringEquals": expected}
    assert grants_of("ScheduleRole") == {"DelayQueue.Arn": SEND, "DelayDeadLetterQueue.Arn": SEND}


def test_an_operator_reads_threads_sends_where_a_slice_does_and_drops_parked_bodies() -> None:
    (statement,) = resources("IAM::Role")["OperatorRole"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"AWS": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
    sources_of_parked = {f"{s.queue}.Arn" for s in event_sources(default=True) if dead_letters_of(s.queue)}
    assert grants_of("OperatorRole") == {
        **dict.fromkeys(sources_of_parked | {"OutputQueue.Arn"}, SEND_SEVERAL),
        "ConversationTable.Arn": READ_THREADS | SETTLE_THREADS | {"dynamodb:DeleteItem"},
        **{f"PayloadBucket.Arn{what}": {action} for what, action in OPERATOR_ON_PAYLOADS.items()},
        SCHEDULES: SCHEDULE,
        "ScheduleRole.Arn": {"iam:PassRole"},
        THE_STACK: FIND_STACK,
    }
    (deleting,) = (s for s in statements_of("OperatorRole") if s["Action"] == "dynamodb:DeleteItem")
    assert deleting["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [PARKED]}}
    (passing,) = (s for s in statements_of("OperatorRole") if s["Action"] == "iam:PassRole")
    assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}


async def test_an_operator_can_write_what_settles_a_commit_and_no_commit() -> None:
    (settling,) = (s for s in statements_of("OperatorRole") if s["Action"] == "dynamodb:UpdateItem")
    may_write = settling["Condition"]["ForAllValues:StringLike"]["dynamodb:Attributes"]
    commit = made(1, [user("hi")], consumed=[key(1)], changes=[MetadataSet(values={"user_id": "ada"})])
    assert {name for name in pack(commit, "bucket").item if not _matches(name, may_write)}
    requests = Requests()
    table = OperatorTable(requests, "table", Patience(SYSTEM_CLOCK, lambda: 1.0))
    for settled in (commit, with_base(2, [commit], up_to_seq=1, from_number=2)):
        await mark(table, settled)
        await move_tip(table, settled, expires_at=settled.at)
    assert {name for name in requests.attributes if not _matches(name, may_write)} == set()
    assert {"pk", "sk", "n", "from", "digest", "expires_at", "m:user_id"} <= requests.attributes


class Requests:
    """A client that notes which attributes of items it is asked to write."""

    def __init__(self) -> None:
        self.attributes: set[str] = set()

    async def update_item(self, **request: Any) -> dict[str, Any]:
        self.attributes |= set(request["Key"]) | set(request.get("ExpressionAttributeNames", {}).values())
        return {}


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def test_a_keeper_does_to_threads_what_the_sweeper_does_and_nothing_else() -> None:
    (statement,) = resources("IAM::Role")["KeeperRole"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"AWS": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
    (sweeper,) = (function for function in functions() if function.name == SWEEPER)
    stored = ("ConversationTable.Arn", "PayloadBucket.Arn", "PayloadBucket.Arn/payloads/*")
    found = {THE_STACK: {"cloudformation:DescribeStacks"}}
    assert grants_of("KeeperRole") == {where: uses_of(sweeper)[where] for where in stored} | found


def test_adapters_were_found() -> None:
    assert {"dynamodb:PutItem", "dynamodb:Query"} <= store_actions("dynamodb")
    assert "dynamodb:UpdateItem" in work_actions()
    assert "dynamodb:PutItem" in webhook_actions()
