"""The template where people get it wrong: nothing here fails a deployment, all of it loses messages or data later."""

import re
from typing import Any

import pytest

from infra.project.blocks import block_of, workers
from tests.architecture.template import (
    GIVEN,
    TEMPLATE,
    TEXT,
    Function,
    dead_letters_of,
    event_sources,
    functions,
    kept_for_people,
    queues,
    resources,
    stream_sources,
)

FIFO_ATTRIBUTES = {
    "FifoQueue": True,
    "DeduplicationScope": "messageGroup",
    "FifoThroughputLimit": "perMessageGroupId",
}
LOGICAL_ID = re.compile(r"^  (\w+):$", re.MULTILINE)
OUTPUT = "OutputQueue"
FOURTEEN_DAYS = 14 * 24 * 3600
CONTRACT_OUTPUTS = {
    "InputQueueUrl": "InputQueue",
    "OutputQueueUrl": "OutputQueue",
    "TableName": "ConversationTable",
    "WorkTableName": "WorkTable",
    "PayloadBucketName": "PayloadBucket",
    "AgentFunctionName": "AgentFunction",
}
"""And whose `Ref` each is."""
OURS = {"AlarmTopicArn"}
"""Parameters beyond the contract's."""
CONTRACT_PARAMETERS = {
    *("AgentApp", "ModelId", "PythonRuntime", "Architecture", "LogLevel", "RetentionDays", "SenderCheck"),
    *("UserSenders", "ToolSenders", "MaximumConcurrency", "DeletionProtection", "Tracing", "WebhookUrl"),
}


@pytest.mark.parametrize("name", queues())
def test_a_queue_keeps_for_14_days_encrypted(name: str) -> None:
    assert queues()[name]["MessageRetentionPeriod"] == FOURTEEN_DAYS
    assert queues()[name]["SqsManagedSseEnabled"] is True


@pytest.mark.parametrize("name", queues())
def test_a_fifo_queue_has_high_throughput_per_thread_and_a_standard_one_has_none_of_it(name: str) -> None:
    found = {key: queues()[name][key] for key in FIFO_ATTRIBUTES if key in queues()[name]}
    assert found in (FIFO_ATTRIBUTES, {})


def test_every_queue_but_the_output_queue_has_a_dead_letter_queue_that_is_read() -> None:
    dead = {name: dead_letters_of(name, default=True) for name in queues(default=True)}
    ends = set(dead.values()) - {None}
    assert {name for name, target in dead.items() if target is None} == ends | {OUTPUT} | kept_for_people()
    assert {source.queue for source in event_sources() if source.function == "DeadLettersFunction"} == ends


def test_a_dead_letter_queue_is_of_the_kind_of_its_queue_which_tries_a_few_times() -> None:
    pairs = [(queues()[name], dead_letters_of(name)) for name in queues() if dead_letters_of(name)]
    for queue, target in pairs:
        assert queue.get("FifoQueue") == queues()[str(target)].get("FifoQueue")
        assert queue["RedrivePolicy"]["maxReceiveCount"] >= 5


def test_every_queue_but_the_output_queue_is_read_by_one_function() -> None:
    read = sorted(source.queue for source in event_sources(default=True))
    assert read == sorted(set(queues(default=True)) - {OUTPUT} - kept_for_people())


def test_the_webhook_reads_the_output_queue_and_does_not_let_one_output_block_its_thread_for_long() -> None:
    (source,) = (source for source in event_sources() if source.function == "WebhookFunction")
    queue, dead = queues()[source.queue], dead_letters_of(source.queue)
    assert (source.queue, dead) == (OUTPUT, "WebhookDeadLetterQueue")
    assert queue["VisibilityTimeout"] * queue["RedrivePolicy"]["maxReceiveCount"] == 3600
    assert dead not in {source.queue for source in event_sources()}, "it is kept for people"


def test_all_of_the_webhook_is_there_with_its_url_only() -> None:
    conditions = {name: resource.get("Condition") for name, resource in TEMPLATE["Resources"].items()}
    expected = {name: "HasWebhook" for name in conditions if name.startswith("Webhook")}
    assert conditions == dict.fromkeys(conditions) | expected | {"TracingPolicy": "IsTraced"}


def test_where_outputs_are_posted_is_shown_to_nobody() -> None:
    assert TEMPLATE["Parameters"]["WebhookUrl"]["NoEcho"] is True


def test_a_source_queue_stays_invisible_for_six_times_its_functions_timeout() -> None:
    timeout_seconds = {function.name: function.properties["Timeout"] for function in functions()}
    wrong = [
        source.queue
        for source in event_sources()
        if queues()[source.queue]["VisibilityTimeout"] != 6 * timeout_seconds[source.function]
    ]
    assert wrong == []


def test_every_event_source_declares_partial_batch_responses_and_waits_for_no_batch() -> None:
    for source in event_sources():
        assert source.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"], source
        assert "MaximumBatchingWindowInSeconds" not in source.properties, source


def test_what_is_read_of_a_stream_is_tried_for_a_day_and_then_told_and_one_record_fails_alone() -> None:
    (source,) = stream_sources()
    assert (source.function, source.table) == ("SweeperFunction", "ConversationTable")
    assert source.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source.properties["BisectBatchOnFunctionError"] is True
    assert source.properties["MaximumRecordAgeInSeconds"] == 24 * 3600, "as long as a stream keeps anything"
    assert source.properties["StartingPosition"] == "TRIM_HORIZON", (
        "or what expires while it is made is missed"
    )


def test_the_agent_takes_one_record_at_a_time_and_has_a_brake() -> None:
    (source,) = (source for source in event_sources() if source.function == "AgentFunction")
    assert source.properties["BatchSize"] == 1
    assert source.properties["ScalingConfig"]["MaximumConcurrency"] >= 2


@pytest.mark.parametrize("function", functions(), ids=lambda function: function.name)
def test_a_function_may_loop_is_traced_by_parameter_and_logs_to_a_group_that_forgets(
    function: Function,
) -> None:
    assert function.properties["RecursiveLoop"] == "Allow"
    assert function.properties["Tracing"] == GIVEN["Tracing"]
    group = resources("Logs::LogGroup")[function.properties["LoggingConfig"]["LogGroup"]]
    assert group["RetentionInDays"] > 0


@pytest.mark.parametrize("function", functions(), ids=lambda function: function.name)
def test_a_functions_code_is_copied_by_the_makefile(function: Function) -> None:
    """Whose target and the report of sizes go by how names end."""
    assert function.name.endswith("Function")
    assert function.properties["CodeUri"] == "."
    assert TEMPLATE["Resources"][function.name]["Metadata"] == {"BuildMethod": "makefile"}


def test_a_source_that_stands_alone_waits_until_its_queue_may_be_read() -> None:
    for name, source in resources("Lambda::EventSourceMapping").items():
        policy = resources("IAM::Policy")[TEMPLATE["Resources"][name]["DependsOn"]]
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert statement["Resource"] == source["EventSourceArn"]
        assert f"{policy['Roles'][0]}.Arn" in {function.properties["Role"] for function in functions()}


@pytest.mark.parametrize("table", resources("DynamoDB::Table").values(), ids=[*resources("DynamoDB::Table")])
def test_a_table_is_on_demand_forgets_and_can_be_restored(table: Any) -> None:
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert "DeletionProtectionEnabled" in table


def test_what_holds_data_survives_its_replacement_and_goes_with_the_stack() -> None:
    for resource in TEMPLATE["Resources"].values():
        if resource["Type"] in ("AWS::DynamoDB::Table", "AWS::S3::Bucket"):
            assert (resource["UpdateReplacePolicy"], resource["DeletionPolicy"]) == ("Retain", "Delete")


def test_the_bucket_is_private_encrypted_and_reached_over_tls_only() -> None:
    ((name, bucket),) = resources("S3::Bucket").items()
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert all(value is True for value in bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    (policy,) = resources("S3::BucketPolicy").values()
    assert policy["Bucket"] == name
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Resource"] == [f"{name}.Arn", f"{name}.Arn/*"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_parameters_and_outputs_are_the_contracts() -> None:
    assert {name: output["Value"]["Ref"] for name, output in TEMPLATE["Outputs"].items()} == CONTRACT_OUTPUTS
    assert set(TEMPLATE["Parameters"]) == CONTRACT_PARAMETERS | OURS
    assert all("Default" in parameter for parameter in TEMPLATE["Parameters"].values())


def test_a_worker_is_one_marked_block() -> None:
    """What one worker has, all have, in the same order, and nothing of it lies elsewhere."""
    blocks = {name: block_of(TEXT, name) for name in workers(TEXT)}
    assert set(blocks) == {function.worker for function in functions() if function.worker}
    prefixes = {name: worker.prefix for name, worker in workers(TEXT).items()}
    inside = {name: LOGICAL_ID.findall(block) for name, block in blocks.items()}
    ends = {
        name: [one.removeprefix(prefixes[name]) for one in found if one.startswith(prefixes[name])]
        for name, found in inside.items()
    }
    assert {name: len(found) for name, found in ends.items()} == {n: len(f) for n, f in inside.items()}
    assert len(set(map(tuple, ends.values()))) == 1
    outside = set(TEMPLATE["Resources"]) - {one for found in inside.values() for one in found}
    assert [
        one for one in outside if any(re.match(rf"{prefix}[A-Z]", one) for prefix in prefixes.values())
    ] == []
