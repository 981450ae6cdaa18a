"""Each function may do what it uses, on what its environment and event sources name, and nothing else."""

import ast
import json

import pytest

from tests.architecture.sources import sources
from tests.architecture.template import (
    Function,
    event_sources,
    functions,
    grants_of,
    queues,
    resources,
    statements_of,
)

RECEIVE = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
SEND = {"sqs:SendMessage"}
SEND_FROM_A_SLICE = {"sqs:SendMessage", "sqs:SendMessageBatch"}
BRING_BACK = {"sqs:ChangeMessageVisibility", "sqs:ChangeMessageVisibilityBatch"}
COMPLETE = {"bedrock:InvokeModelWithResponseStream", "bedrock:ConverseStream"}
MODELS = (
    "arn:${AWS::Partition}:bedrock:*::foundation-model/*",
    "arn:${AWS::Partition}:bedrock:*:${AWS::AccountId}:inference-profile/*",
)
"""Any model: which one is the app's, or ModelId's, to say."""
LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
each_function = pytest.mark.parametrize("function", functions(), ids=lambda function: function.name)


def operations(folder: str) -> set[str]:
    """The AWS operations that the adapters of a folder ask their client for, as the service spells them."""
    found = set()
    for source in sources("infra"):
        if not source.path.startswith(f"infra/{folder}/"):
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self.client", "self._client"):
                found.add("".join(word.capitalize() for word in node.attr.split("_")))
    return found


def store_actions(service: str) -> set[str]:
    """Of the thread store: an operation on objects is S3's, any other DynamoDB's."""
    of_s3 = {name for name in operations("dynamodb") if name.endswith("Object")}
    mine = of_s3 if service == "s3" else operations("dynamodb") - of_s3
    return {f"{service}:{name}" for name in mine}


def queues_named_by(function: Function) -> set[str]:
    """The queues whose URLs its environment holds: those it sends to."""
    texts = {value for name, value in function.environment.items() if name.endswith("_URL")}
    texts |= set(json.loads(function.environment.get("TORPOR_WORKER_QUEUES", "{}")).values())
    return texts & set(queues())


def uses_of(function: Function) -> dict[str, set[str]]:
    """The actions that a function needs, by resource, from its environment and its event sources."""
    uses: dict[str, set[str]] = {f"{function.properties['LoggingConfig']['LogGroup']}.Arn": LOG}
    for queue in queues_named_by(function):
        uses[f"{queue}.Arn"] = set(SEND_FROM_A_SLICE if "TORPOR_TABLE" in function.environment else SEND)
    for source in event_sources():
        if source.function == function.name:
            uses.setdefault(f"{source.queue}.Arn", set()).update(RECEIVE)
    if function.name == "AgentFunction":
        uses["InputQueue.Arn"] |= BRING_BACK
        uses |= {models: COMPLETE for models in MODELS}
    if table := function.environment.get("TORPOR_TABLE"):
        uses[f"{table}.Arn"] = store_actions("dynamodb")
    if bucket := function.environment.get("TORPOR_BUCKET"):
        uses[f"{bucket}.Arn/payloads/*"] = store_actions("s3")
        uses[f"{bucket}.Arn"] = {"s3:ListBucket"}
    if table := function.environment.get("TORPOR_WORK_TABLE"):
        uses[f"{table}.Arn"] = {f"dynamodb:{name}" for name in operations("work")}
    return uses


@each_function
def test_a_function_may_do_exactly_what_it_uses(function: Function) -> None:
    assert grants_of(function.role) == uses_of(function)


@each_function
def test_a_function_has_a_role_of_its_own_without_managed_policies(function: Function) -> None:
    assert [other.name for other in functions() if other.role == function.role] == [function.name]
    role = resources("IAM::Role")[function.role]
    assert "ManagedPolicyArns" not in role
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


def test_adapters_were_found() -> None:
    assert {"PutItem", "Query"} <= operations("dynamodb")
    assert "UpdateItem" in operations("work")
