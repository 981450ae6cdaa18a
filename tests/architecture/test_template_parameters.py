"""Parameters arrive where they are meant for. What the template lets pass as one, functions can read: a wrong one fails
the deployment, not messages.
"""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

from core.errors import SettingsError
from examples.webhook import Receiver
from handlers.settings import AgentSettings
from infra.packaging.parameters import ARCHITECTURE, RUNTIME
from tests.architecture.sources import ROOT
from tests.architecture.template import TEMPLATE, functions, resources

VARIABLES = {
    "AgentApp": "TORPOR_APP",
    "ModelId": "TORPOR_MODEL",
    "RetentionDays": "TORPOR_RETENTION_DAYS",
    "SenderCheck": "TORPOR_SENDER_CHECK",
    "UserSenders": "TORPOR_USER_SENDERS",
    "ToolSenders": "TORPOR_TOOL_SENDERS",
    "WebhookUrl": "TORPOR_WEBHOOK_URL",
}
"""Parameters that are variables of each function that reads them."""
LAYERS = ("AgentLayer", "WorkerLayer")
PLACES = {
    "PythonRuntime": {"Globals.Runtime"}
    | {f"{layer}.{key}" for layer in LAYERS for key in ("BuildMethod", "CompatibleRuntimes")},
    "Architecture": {"Globals.Architectures", *(f"{layer}.BuildArchitecture" for layer in LAYERS)},
    "LogLevel": {"Globals.LOG_LEVEL"},
    "Tracing": {
        "Globals.Tracing",
        "AgentFunction.TORPOR_TRACING",
    },
    "MaximumConcurrency": {"AgentFunction.MaximumConcurrency"},
    "DeletionProtection": {f"{table}.DeletionProtectionEnabled" for table in resources("DynamoDB::Table")},
    "AlarmTopicArn": {f"{alarm}.AlarmActions" for alarm in resources("CloudWatch::Alarm")},
}
"""Those of all others."""
CONDITIONS = {
    "ModelId": "HasModelId",
    "WebhookUrl": "HasWebhook",
    "AlarmTopicArn": "HasAlarmTopic",
    "Tracing": "IsTraced",
}
SENDERS = {"UserSenders": "TORPOR_USER_SENDERS", "ToolSenders": "TORPOR_TOOL_SENDERS"}
"""Parameter and the variable that it becomes."""
SENDER_IDS = [
    json.loads(file.read_text())["Records"][0]["attributes"]["SenderId"]
    for file in (ROOT / "tests" / "events" / "from").iterdir()
]
"""One of each kind of principal."""


def named(value: Any, parameter: str, key: str) -> Iterator[str]:
    """The keys whose values name the parameter, somewhere in `value`, which is that of `key`."""
    match value:
        case {"Ref": name}:
            yield from [key] * (name == parameter)
        case {"Fn::Sub": text}:
            yield from [key] * (f"${{{parameter}}}" in text)
        case dict():
            for inner, item in value.items():
                yield from named(item, parameter, key if inner.startswith("Fn::") else inner)
        case list():
            for item in value:
                yield from named(item, parameter, key)


@pytest.mark.parametrize("parameter", TEMPLATE["Parameters"])
def test_a_parameter_arrives_where_it_is_meant_for_and_nowhere_else(parameter: str) -> None:
    variable = VARIABLES.get(parameter)
    readers = {f"{function.name}.{variable}" for function in functions() if variable in function.environment}
    places = {"Globals": TEMPLATE["Globals"], **TEMPLATE["Resources"]}
    found = {f"{place}.{key}" for place, body in places.items() for key in named(body, parameter, place)}
    assert found == PLACES.get(parameter, readers)
    assert found
    assert {*named(TEMPLATE["Conditions"], parameter, "")} == {*CONDITIONS.get(parameter, "").split()}


def told_by_the_readme() -> Iterator[tuple[str, str]]:
    """Each parameter in the table of the section on deploying, and its default; words instead of one are for people."""
    deploy = (ROOT / "README.md").read_text("utf-8").partition("\n## Deploy\n")[2]
    for row in re.findall(r"^\| (`.*)$", deploy.partition("\n### ")[0], re.MULTILINE):
        names, defaults, *_ = row.split("|")
        shown = re.findall(r"[\w.:]+", "" if "agent's own" in defaults else defaults)
        yield from zip_longest(re.findall(r"\w+", names), shown, fillvalue="")


def test_the_readme_tells_every_parameter_that_a_person_chooses_with_its_default() -> None:
    defaults = {name: str(parameter["Default"]) for name, parameter in TEMPLATE["Parameters"].items()}
    chosen = {name: default for name, default in defaults.items() if name not in (RUNTIME, ARCHITECTURE)}
    assert dict(told_by_the_readme()) == chosen


def passes(parameter: str, value: str) -> bool:
    """Whether CloudFormation would take it."""
    return re.fullmatch(TEMPLATE["Parameters"][parameter]["AllowedPattern"], value) is not None


def senders_read(variable: str, value: str) -> tuple[str, ...]:
    """What the agent makes of it. Raises SettingsError."""
    (agent,) = (function for function in functions() if function.name == "AgentFunction")
    senders = AgentSettings.read({**agent.environment, variable: value}).senders
    return tuple(getattr(senders, variable.removeprefix("TORPOR_").lower()))


@pytest.mark.parametrize("parameter", SENDERS)
def test_senders_may_be_every_kind_of_principal_in_lists_with_and_without_spaces(parameter: str) -> None:
    for text in (", ".join(SENDER_IDS), ",".join(SENDER_IDS), f" {SENDER_IDS[0]} ", f"{SENDER_IDS[0]},", ""):
        assert passes(parameter, text)
        expected = tuple(word.strip() for word in text.split(",") if word.strip())
        assert senders_read(SENDERS[parameter], text) == expected


@pytest.mark.parametrize("text", ["arn:aws:iam::123456789012:role/web", "AROAONE AROATWO", "AROAONE;AROATWO"])
@pytest.mark.parametrize("parameter", SENDERS)
def test_what_names_no_principal_is_refused_when_it_is_deployed(parameter: str, text: str) -> None:
    assert not passes(parameter, text)
    assert not passes(parameter, f"AIDAONE, {text}")


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("https://hooks.example/a?b=c,d;e='f'&g=%20#h", True),
        ("https://hooks.example:8443", True),
        ("https://hooks.example?a@b", True),
        ("https://[2001:db8::1]:8443/", True),
        ("http://127.0.0.1:8000/hook", True),
        ("http://localhost", True),
        ("http://hooks.example/", False),
        ("http://localhost.hooks.example/", False),
        ("http://localhost@hooks.example/", False),
        ("https://user:secret@hooks.example/", False),
        ("https:///hook", False),
        ("https://hooks.example:port/", False),
        ("https://hooks.example/a b", False),
        ("https://hooks.example/é", False),
        ("hooks.example", False),
    ],
)
def test_a_webhooks_url_is_taken_by_the_template_if_its_function_takes_it(url: str, is_one: bool) -> None:
    assert passes("WebhookUrl", url) is is_one
    try:
        Receiver.of(url)
    except SettingsError:
        assert not is_one
    else:
        assert is_one


def test_without_a_url_there_is_no_webhook() -> None:
    assert passes("WebhookUrl", TEMPLATE["Parameters"]["WebhookUrl"]["Default"])


@pytest.mark.parametrize(
    ("app", "is_one"), [("a.b_c:app", True), ("a.b", False), ("a:b:c", False), ("a-b:c", False)]
)
def test_an_app_is_a_module_and_its_attribute(app: str, is_one: bool) -> None:
    assert passes("AgentApp", app) is is_one
