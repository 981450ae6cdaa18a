"""`torpor fork` against a stack, and what it says when something is not there."""

from collections.abc import Iterator

import boto3
import pytest

from core.clock import SYSTEM_CLOCK
from infra.cli import main
from infra.dynamodb.codec import pack
from infra.dynamodb.keys import item_key
from tests.contract.commits import THREAD, turn
from tests.contract.formation import Described, formation

STACK, TABLE, BUCKET = "forks", "forks-table", "forks-bucket"
KEYS = {"pk": "HASH", "sk": "RANGE"}
STACKS: dict[str, Described] = {
    STACK: {
        "Output": {"TableName": TABLE, "PayloadBucketName": BUCKET},
        "Parameter": {"RetentionDays": "7"},
    },
    "another": {"Output": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:topic"}},
}


@pytest.fixture
def stack(aws_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A stack with what the store needs, in the environment that the command finds."""
    with formation(STACKS) as formation_url:
        there = {"AWS_ENDPOINT_URL": aws_endpoint, "AWS_ENDPOINT_URL_CLOUDFORMATION": formation_url}
        keys = {"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        for name, value in (there | keys).items():
            monkeypatch.setenv(name, value)
        dynamodb, s3 = (boto3.client(service, region_name="us-east-1") for service in ("dynamodb", "s3"))
        s3.create_bucket(Bucket=BUCKET)
        dynamodb.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in KEYS.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in KEYS],
        )
        yield STACK
        dynamodb.delete_table(TableName=TABLE)
        s3.delete_bucket(Bucket=BUCKET)


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


def test_a_stack_that_is_not_torpors_is_named(stack: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(forking("another")) == 1
    assert "no output TableName" in capsys.readouterr().err
