"""Threads taken along, erased and brought back with the rights of the keeper's role; and the sweeper's rights, used.

The emulator removes nothing by TTL, so the sweeper is given the record of a stream that such a removal would leave.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from infra.cli import main
from infra.local.expiry import removal_record
from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import says

THREAD = "kept"
pytestmark = pytest.mark.parametrize("deployed", ["enforced"], indirect=True)


@pytest.fixture
def as_keeper(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of somebody who has taken the role on."""
    bucket = deployed.stack.output("PayloadBucketName")
    deployed.stack.client("s3").delete_bucket_policy(Bucket=bucket)  # it takes HTTPS only, the emulator HTTP
    for name, value in deployed.stack.environ_of("KeeperRole").items():
        monkeypatch.setenv(name, value)


def payloads(deployed: Deployed, thread_id: str) -> int:
    bucket = deployed.stack.output("PayloadBucketName")
    found: dict[str, Any] = deployed.stack.client("s3").list_objects_v2(
        Bucket=bucket, Prefix=f"payloads/t-{thread_id}/"
    )
    return len(found.get("Contents", ()))


def rows(deployed: Deployed, thread_id: str) -> set[str]:
    """Kinds of rows with anything in them."""
    found = deployed.stack.client("dynamodb").query(
        TableName=deployed.stack.output("TableName"),
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"T#{thread_id}"}},
    )
    return {item["sk"]["S"].partition("#")[0] for item in found["Items"]}


@pytest.mark.usefixtures("as_keeper")
def test_a_keeper_exports_erases_and_imports_a_thread(
    deployed: Deployed, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def told(*arguments: str) -> str:
        code = main([*arguments, "--stack", deployed.stack.name])
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    long = "Remember this: " + "x" * 70_000
    deployed.model.play(long, says("I do."))
    deployed.mailbox.say(THREAD, long)
    assert deployed.mailbox.wait_for_answers(THREAD) == ["I do."]
    assert payloads(deployed, THREAD) == 1
    file = tmp_path / "kept.jsonl"
    told("export", THREAD, "--to", str(file))
    told("fork", THREAD, "--at", "2", "--to", "kept-too")
    assert main(["erase", THREAD, "--stack", deployed.stack.name]) == 1, "the fork reads it"
    told("erase", "kept-too")
    assert "1 payloads" in told("erase", THREAD)
    assert payloads(deployed, THREAD) == 0
    assert main(["import", str(file), "--stack", deployed.stack.name]) == 2, "its numbers are taken for now"


def test_the_sweeper_takes_away_what_has_expired_and_lets_others_live(deployed: Deployed) -> None:
    deployed.model.play("Forget me.", says("Done."))
    deployed.mailbox.say("expired", "Forget me.")
    assert deployed.mailbox.wait_for_answers("expired") == ["Done."]
    key = {"pk": {"S": "T#expired"}, "sk": {"S": "TIP"}}
    event = {"Records": [removal_record(key, 1)]}
    assert _swept(deployed, event) == {"batchItemFailures": []}
    assert rows(deployed, "expired") == {"C", "MSG", "TIP"}, "its tip is there: it lives"


def _swept(deployed: Deployed, event: dict[str, Any]) -> Any:
    answer = deployed.stack.client("lambda").invoke(
        FunctionName=deployed.stack.resource("SweeperFunction"), Payload=json.dumps(event).encode()
    )
    return json.loads(answer["Payload"].read())
