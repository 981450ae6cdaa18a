"""A stack of the built project: created and updated with sam's own command, seen with the root user's clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3

from tests.e2e.processes import REGION, SAM, run
from tests.e2e.project import APP, MACHINE, Project

ANSWERS = ("--no-confirm-changeset", "--no-fail-on-empty-changeset", "--capabilities", "CAPABILITY_IAM")
PARAMETERS = MACHINE | {"AgentApp": APP, "SenderCheck": "off"}
"""The emulator names no principals: every message is from the account."""


def root_client(service: str, endpoint_url: str) -> Any:
    """Of the emulator's root user."""
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=endpoint_url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


@dataclass(slots=True)
class Stack:
    """One on the emulator at `endpoint_url`, once it is deployed."""

    project: Project
    endpoint_url: str
    environ: Mapping[str, str]
    name: str = "torpor"
    parameters: dict[str, str] = field(default_factory=lambda: dict(PARAMETERS))

    def client(self, service: str) -> Any:
        """Of the root user."""
        return root_client(service, self.endpoint_url)

    def environ_of(self, role: str) -> dict[str, str]:
        """The environment of somebody who has taken on this role of the stack."""
        arn = self.client("iam").get_role(RoleName=self.resource(role))["Role"]["Arn"]
        keys = self.client("sts").assume_role(RoleArn=arn, RoleSessionName="ada")["Credentials"]
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
            "AWS_SESSION_TOKEN": keys["SessionToken"],
        }

    def deploy(self, **changed: str) -> None:
        """Create or update. Parameters that are not changed stay as they are."""
        self.parameters |= changed
        target = ("--stack-name", self.name, "--resolve-s3")
        told = ("--parameter-overrides", *(f'{name}="{value}"' for name, value in self.parameters.items()))
        run(SAM, "deploy", *target, *ANSWERS, *told, cwd=self.project.folder, environ=self.environ)

    def output(self, name: str) -> str:
        """One of the stack's outputs."""
        (stack,) = self.client("cloudformation").describe_stacks(StackName=self.name)["Stacks"]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        return str(outputs[name])

    def resource(self, logical_id: str) -> str:
        """What CloudFormation calls it: a queue's URL, a table's or role's name."""
        found = self.client("cloudformation").describe_stack_resource(
            StackName=self.name, LogicalResourceId=logical_id
        )
        return str(found["StackResourceDetail"]["PhysicalResourceId"])
