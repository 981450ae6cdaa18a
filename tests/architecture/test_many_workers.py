"""How many workers a stack can have: what functions are told of them, and what roles may, has bounds on AWS."""

import json
import re
from typing import Any

import yaml  # type: ignore[import-untyped]

from infra.project.blocks import Worker, with_worker, workers
from tests.architecture.template import TEXT, TemplateLoader

WORKERS = 10
"""What the README promises."""
MOST_ENVIRONMENT_BYTES = 4096
"""Of a function's names and values (AWS Lambda Developer Guide, *quotas*)."""
MOST_INLINE_CHARACTERS = 10_240
"""Of all inline policies of a role, white space apart (IAM User Guide, *IAM and STS quotas*)."""
ACCOUNT, REGION, RANDOM = "123456789012", "ap-southeast-1", "AbCdEfGhIjKl"


def template() -> Any:
    text = TEXT
    for number in range(WORKERS - len(workers(TEXT))):
        text = with_worker(text, Worker(f"worker-no-{number}", 60), TEXT)
    return yaml.load(text, TemplateLoader)


def named(made: Any, name: str, attribute: str = "") -> str:
    """As AWS would call a resource, or a parameter's default."""
    if name not in made["Resources"]:
        return str(made["Parameters"].get(name, {}).get("Default", name))
    physical = f"torpor-{name}-{RANDOM}"
    if attribute == "RoleId":
        return "AROA" + "X" * 17
    if made["Resources"][name]["Type"] != "AWS::SQS::Queue":
        return f"arn:aws:iam::{ACCOUNT}:role/{physical}" if attribute else physical
    where = (
        f"arn:aws:sqs:{REGION}:{ACCOUNT}:" if attribute else f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/"
    )
    return f"{where}{physical}.fifo"


def resolved(made: Any, value: Any) -> Any:
    """Every intrinsic function as text; of an `!If`, what holds when the parameter is given."""
    match value:
        case {"Ref": name}:
            return named(made, name)
        case {"Fn::GetAtt": [name, attribute]}:
            return named(made, name, attribute)
        case {"Fn::Sub": text}:
            return re.sub(r"\$\{(\w+)\.?(\w*)\}", lambda found: named(made, found[1], found[2]), text)
        case {"Fn::If": [_, then, _]}:
            return resolved(made, then)
        case dict():
            return {key: resolved(made, item) for key, item in value.items()}
        case list():
            return [resolved(made, item) for item in value]
        case _:
            return value


def test_what_functions_are_told_of_ten_workers_fits_in_their_environment() -> None:
    made = template()
    for name in ("AgentFunction", "DeadLettersFunction"):
        variables = resolved(made, made["Resources"][name]["Properties"]["Environment"]["Variables"])
        told_all = resolved(made, made["Globals"]["Function"]["Environment"]["Variables"])
        size = sum(len(key) + len(str(value)) for key, value in (variables | told_all).items())
        assert size < MOST_ENVIRONMENT_BYTES, name


def test_what_roles_may_do_with_ten_workers_fits_in_their_policies() -> None:
    made = template()
    found = made["Resources"].values()
    for role in ("AgentRole", "DeadLettersRole", "OperatorRole"):
        own = made["Resources"][role]["Properties"]["Policies"]
        attached = [one["Properties"] for one in found if one["Type"] == "AWS::IAM::Policy"]
        policies = [*own, *(one for one in attached if {"Ref": role} in one["Roles"])]
        texts = [
            json.dumps(resolved(made, policy["PolicyDocument"]), separators=(",", ":")) for policy in policies
        ]
        assert sum(map(len, texts)) < MOST_INLINE_CHARACTERS, role
