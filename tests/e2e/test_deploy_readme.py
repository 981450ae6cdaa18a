"""The README's section on deploying, run as it stands: from `make deploy`, over a worker that is added, to a deleted
stack that leaves nothing.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.e2e.deployed import EMULATED_SCHEDULES, SCHEDULING, let_schedule
from tests.e2e.ministack import running
from tests.e2e.processes import ROOT, environment, run, with_aws_cli
from tests.e2e.project import copy_project
from tests.e2e.stack import root_client

SECTION = re.compile(r"^## Deploy\n(.*?)^## ", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r"^\w+\(\) \{\n.*?^\}\n", re.DOTALL | re.MULTILINE)
FIRST = re.compile(r"^make deploy$", re.MULTILINE)
RECEIVED = re.compile(r'\\"thread_id\\": ?\\"t1\\"')
"""In a body within the command line's JSON."""
DEPLOYED = "Successfully created/updated stack - torpor"
OF_SAM = "aws-sam-cli-managed-default"
"""The stack with the bucket that sam itself makes once per account, and empties of what it deletes."""

Names = Callable[[Any], list[str]]
LEFT: dict[str, tuple[str, Names]] = {
    "queues": ("sqs", lambda sqs: sqs.list_queues().get("QueueUrls", [])),
    "tables": ("dynamodb", lambda dynamodb: dynamodb.list_tables()["TableNames"]),
    "functions": (
        "lambda",
        lambda lambda_: [f["FunctionName"] for f in lambda_.list_functions()["Functions"]],
    ),
    "layers": ("lambda", lambda lambda_: [one["LayerName"] for one in lambda_.list_layers()["Layers"]]),
    "sources": ("lambda", lambda lambda_: lambda_.list_event_source_mappings()["EventSourceMappings"]),
    "roles": ("iam", lambda iam: [role["RoleName"] for role in iam.list_roles()["Roles"]]),
    "log groups": ("logs", lambda logs: [g["logGroupName"] for g in logs.describe_log_groups()["logGroups"]]),
    "alarms": (
        "cloudwatch",
        lambda watch: [one["AlarmName"] for one in watch.describe_alarms()["MetricAlarms"]],
    ),
    "schedule groups": (
        "scheduler",
        lambda scheduler: [group["Name"] for group in scheduler.list_schedule_groups()["ScheduleGroups"]],
    ),
    "buckets": ("s3", lambda s3: [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]),
}
"""What a stack is made of: which service lists it, and how."""


def there_is(url: str) -> dict[str, list[str]]:
    """Everything of those kinds on the emulator, but what is sam's own."""
    found = {kind: names(root_client(service, url)) for kind, (service, names) in LEFT.items()}
    return {kind: [name for name in names if OF_SAM not in str(name)] for kind, names in found.items()}


@pytest.fixture
def reader() -> Iterator[tuple[Path, dict[str, str]]]:
    """The folder and the environment of somebody who reads it. The emulator enforces permissions; it names no
    principals, so what the commands do not set is set for them.
    """
    with TemporaryDirectory(prefix="torpor-e2e-") as name, running(Path(name), AUTH="true") as url:
        environ = with_aws_cli(environment(Path(name), url), Path(name))
        yield copy_project(Path(name, "project")), environ | {"PARAMETERS": "SenderCheck=off"}


def section(folder: Path) -> tuple[str, str]:
    """What is typed up to the last block, which deletes, and that block. Files are saved in the folder."""
    found = SECTION.search((ROOT / "README.md").read_text())
    assert found is not None
    blocks = BLOCK.findall(found[1])
    file = folder
    for language, body in blocks:
        if language == "python":
            file = folder / body.splitlines()[0].removeprefix("# ")
            file.write_text(body)
        elif language == "json":  # the script of the agent before it
            file.with_suffix(".json").write_text(body)
    *commands, remove = [body for language, body in blocks if language == "sh"]
    typed = "\n".join(commands)
    return typed, "".join(FUNCTION.findall(typed)) + remove


@contextmanager
def schedules_let(url: str) -> Iterator[None]:
    """The stack's roles may schedule on this emulator; by the end they are as they were."""
    summaries = root_client("cloudformation", url).list_stack_resources(StackName="torpor")
    names = {
        one["LogicalResourceId"]: one["PhysicalResourceId"] for one in summaries["StackResourceSummaries"]
    }
    roles = [names[role] for role in SCHEDULING]
    let_schedule(url, roles)
    yield
    for role in roles:
        root_client("iam", url).delete_role_policy(RoleName=role, PolicyName=EMULATED_SCHEDULES)


def shell(typed: str, folder: Path, environ: dict[str, str]) -> str:
    """What it prints. Its first failure ends it."""
    return run("bash", "-euo", "pipefail", "-c", typed, cwd=folder, environ=environ)


def test_what_the_readme_says_on_deploying_works_from_deploy_to_delete(
    reader: tuple[Path, dict[str, str]],
) -> None:
    folder, environ = reader
    url = environ["AWS_ENDPOINT_URL"]
    typed, remove = section(folder)
    before = there_is(url)
    before_it, then = FIRST.split(typed, maxsplit=1)
    deployed = shell(f"{before_it}make deploy", folder, environ)
    with schedules_let(url):
        answers, answers_of_the_new_worker = shell(
            "".join(FUNCTION.findall(before_it)) + then, folder, environ
        ).split(DEPLOYED)
    assert "The largest function with its layer" in deployed
    assert RECEIVED.search(answers)
    assert "t2 # What makes spring tides so high?" in answers
    assert "t3 I count 5." in answers_of_the_new_worker
    made = there_is(url)
    assert [kind for kind in LEFT if made[kind] == before[kind]] == []
    (bucket,) = made["buckets"]
    root_client("s3", url).put_object(Bucket=bucket, Key="payloads/large", Body=b"large")
    shell(remove, folder, environ)
    assert there_is(url) == before
