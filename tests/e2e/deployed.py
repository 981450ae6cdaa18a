"""A deployment with everything around it: emulator, model, mailbox."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.e2e.mailbox import Mailbox
from tests.e2e.ministack import LOG, PID, running
from tests.e2e.openai_server import ModelServer, model_server
from tests.e2e.processes import environment
from tests.e2e.project import Project
from tests.e2e.stack import Stack, root_client

MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a test of the deployed system has."""

    stack: Stack
    model: ModelServer
    mailbox: Mailbox
    emulator: int
    """Its process id: the functions' processes are its children."""


SCHEDULING = ("AgentRole", "DeadLettersRole")
EMULATED_SCHEDULES = "emulated-schedules"


@contextmanager
def deployed_to(project: Project, enforced: bool) -> Iterator[Deployed]:
    """An emulator of its own with the stack in it, whose agent asks `model` by Bedrock's protocol."""
    with TemporaryDirectory(prefix="torpor-e2e-") as name, model_server() as model:
        folder = Path(name)
        auth = {"AUTH": "true"} if enforced else {}
        with running(folder, MINISTACK_BEDROCK_PROXY_URL=model.url, **auth) as url:
            stack = Stack(project, url, environment(folder, url))
            stack.deploy(ModelId=f"bedrock:{MODEL}")
            let_schedule(url, [stack.resource(role) for role in SCHEDULING])
            mailbox = Mailbox(
                stack.client("sqs"),
                stack.output("InputQueueUrl"),
                stack.output("OutputQueueUrl"),
                why=lambda: (folder / LOG).read_text(errors="replace")[-6000:],
            )
            yield Deployed(stack, model, mailbox, int((folder / PID).read_text()))


def let_schedule(url: str, roles: Iterable[str]) -> None:
    """The emulator takes every schedule for one of the default group, which our roles may not touch."""
    statement = {
        "Effect": "Allow",
        "Action": ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"],
        "Resource": "arn:aws:scheduler:*:*:schedule/default/*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    for role in roles:
        root_client("iam", url).put_role_policy(
            RoleName=role, PolicyName=EMULATED_SCHEDULES, PolicyDocument=policy
        )
