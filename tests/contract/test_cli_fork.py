"""`torpor fork` against a stack, and what it says when something is not there."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from core.clock import SYSTEM_CLOCK
from infra.cli import main
from infra.dynamodb.codec import pack
from infra.dynamodb.keys import item_key
from tests.contract.commits import THREAD, turn

STACK, TABLE, BUCKET = "forks", "forks-table", "forks-bucket"
KEYS = {"pk": "HASH", "sk": "RANGE"}
TEMPLATE: dict[str, Any] = {
    "Parameters": {"RetentionDays": {"Type": "Number", "Default": 7}},
    "Resources": {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": BUCKET}},
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": TABLE,
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in KEYS.items()],
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in KEYS],
            },
        },
    },
    "Outputs": {"TableName": {"Value": TABLE}, "PayloadBucketName": {"Value": BUCKET}},
}


@pytest.fixture
def stack(aws_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A stack with what the store needs, in the environment that the command finds."""
    there = {"AWS_ENDPOINT_URL": aws_endpoint, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test"}
    for name, value in (there | {"AWS_SECRET_ACCESS_KEY": "test"}).items():
        monkeypatch.setenv(name, value)
    formation = boto3.client("cloudformation", region_name="us-east-1")
    formation.create_stack(StackName=STACK, TemplateBody=json.dumps(TEMPLATE))
    yield STACK
    formation.delete_stack(StackName=STACK)


def forking(stack: str, *more: str) -> list[str]:
    return ["fork", THREAD, "--at", "3", "--to", "new", "--stack", stack, *more]


def test_a_thread_of_a_stack_is_forked_and_kept_as_long_as_the_stack_keeps_threads(
    stack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dynamodb = boto3.client("dynamodb", region_name="us-east-1")
    for number in (1, 2):
        dynamodb.put_item(TableName=TABLE, Item=pack(turn(number), BUCKET).item)
    assert main(forking(stack, "--region", "us-east-1")) == 0
    assert capsys.readouterr().out == f"new shares {THREAD} up to entry 3\n"
    tip = dynamodb.get_item(TableName=TABLE, Key=item_key("T#new", "TIP"))["Item"]
    kept_seconds = int(tip["expires_at"]["N"]) - SYSTEM_CLOCK.now().timestamp()
    assert kept_seconds == pytest.approx(7 * 86_400, abs=60)
    reader = dynamodb.get_item(TableName=TABLE, Key=item_key(f"T#{THREAD}", "READER#new"))
    assert "Item" in reader


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["fork", "nobody", "--at", "1", "--to", "new", "--stack", STACK], 2, "no thread 'nobody'"),
        (["fork", "nobody", "--at", "1", "--to", "a~b", "--stack", STACK], 2, "cannot name a root"),
        (
            ["fork", "nobody", "--at", "1", "--to", "new", "--stack", "other"],
            1,
            "'other' cannot be looked up",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    stack: str, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert main(arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_stack_that_is_not_torpors_is_named(
    stack: str, aws_endpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    formation = boto3.client("cloudformation", region_name="us-east-1")
    other = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    formation.create_stack(StackName="another", TemplateBody=json.dumps(other))
    assert main(forking("another")) == 1
    assert "no output TableName" in capsys.readouterr().err
