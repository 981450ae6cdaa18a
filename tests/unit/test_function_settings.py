"""Settings of the functions: each reads what it uses, and one error names everything that is missing or wrong."""

from dataclasses import replace

import pytest

from core.errors import SettingsError
from core.senders import UNCHECKED, Enforced
from handlers.settings import AgentSettings, DeadLetterSettings, RelaySettings, WorkerSettings
from infra.scheduler.requests import ScheduleTarget

ENVIRON = {
    "TORPOR_APP": "a:app",
    "TORPOR_MODEL": "",
    "TORPOR_WORKER": "research",
    "TORPOR_WORKER_QUEUES": '{"research": "https://r"}',
    "TORPOR_INPUT_QUEUE_URL": "https://i",
    "TORPOR_OUTPUT_QUEUE_URL": "https://o",
    "TORPOR_DELAY_QUEUE_URL": "https://d",
    "TORPOR_DELAY_QUEUE_ARN": "arn:d",
    "TORPOR_DELAY_DEAD_LETTERS_ARN": "arn:d-dead",
    "TORPOR_SCHEDULE_GROUP": "group",
    "TORPOR_SCHEDULE_ROLE_ARN": "arn:role",
    "TORPOR_TABLE": "threads",
    "TORPOR_WORK_TABLE": "work",
    "TORPOR_BUCKET": "payloads",
    "TORPOR_DEAD_LETTER_QUEUES": '{"arn:1": "input"}',
    "TORPOR_SENDER_CHECK": "enforce",
    "TORPOR_SENDERS": '{"agent": "AROAA", "relay": "AROAR", "dead_letters": "AROAD", "worker:research": "AROAW"}',
    "TORPOR_USER_SENDERS": "",
    "TORPOR_TOOL_SENDERS": "",
}
SENDERS = Enforced("AROAA", "AROAR", "AROAD", workers={"research": "AROAW"})
URLS = {"input": "https://i", "output": "https://o", "delay": "https://d", "worker:research": "https://r"}
SCHEDULES = ScheduleTarget("group", "arn:role", "arn:d", "arn:d-dead")


def test_settings_are_read() -> None:
    agent = AgentSettings("a:app", None, URLS, "threads", "payloads", 90, SCHEDULES, SENDERS)
    assert AgentSettings.read(ENVIRON) == agent
    assert WorkerSettings.read(ENVIRON) == WorkerSettings("a:app", "research", "work", "https://i")
    assert RelaySettings.read(ENVIRON) == RelaySettings({"input": "https://i", "delay": "https://d"})
    assert DeadLetterSettings.read(ENVIRON) == DeadLetterSettings(agent, "work", {"arn:1": "input"})


def test_a_model_and_the_retention_can_be_given() -> None:
    settings = AgentSettings.read(ENVIRON | {"TORPOR_MODEL": "script:a.json", "TORPOR_RETENTION_DAYS": "7"})
    assert (settings.model, settings.retention_days) == ("script:a.json", 7)


def test_who_may_send_what_is_enforced_unless_it_is_turned_off() -> None:
    absent = {name: value for name, value in ENVIRON.items() if name != "TORPOR_SENDER_CHECK"}
    assert AgentSettings.read(absent).senders == SENDERS
    off = {"TORPOR_SENDER_CHECK": "off", "TORPOR_SENDERS": ""}
    assert AgentSettings.read(ENVIRON | off).senders == UNCHECKED


def test_the_operator_and_senders_from_elsewhere_can_be_given() -> None:
    more = {
        "TORPOR_SENDERS": ENVIRON["TORPOR_SENDERS"].replace("{", '{"operator": "AROAO", '),
        "TORPOR_USER_SENDERS": " AIDAUSER, AROAGATE:web ,",
        "TORPOR_TOOL_SENDERS": "AROAHOOK",
    }
    assert AgentSettings.read(ENVIRON | more).senders == replace(
        SENDERS, operator="AROAO", user_senders=("AIDAUSER", "AROAGATE:web"), tool_senders=("AROAHOOK",)
    )


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (
            AgentSettings,
            {
                "APP",
                "WORKER_QUEUES",
                "INPUT_QUEUE_URL",
                "OUTPUT_QUEUE_URL",
                "DELAY_QUEUE_URL",
                "DELAY_QUEUE_ARN",
                "DELAY_DEAD_LETTERS_ARN",
                "SCHEDULE_GROUP",
                "SCHEDULE_ROLE_ARN",
                "TABLE",
                "BUCKET",
                "SENDERS",
            },
        ),
        (WorkerSettings, {"APP", "WORKER", "WORK_TABLE", "INPUT_QUEUE_URL"}),
        (RelaySettings, {"INPUT_QUEUE_URL", "DELAY_QUEUE_URL"}),
    ],
)
def test_everything_missing_is_named_at_once(
    settings: type[AgentSettings | WorkerSettings | RelaySettings], missing: set[str]
) -> None:
    with pytest.raises(SettingsError) as raised:
        settings.read({"TORPOR_APP": " "})
    named = {word.removeprefix("TORPOR_") for word in str(raised.value).split() if word.startswith("TORPOR_")}
    assert named == missing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TORPOR_WORKER_QUEUES", "{"),
        ("TORPOR_WORKER_QUEUES", "[]"),
        ("TORPOR_WORKER_QUEUES", '{"a": 1}'),
        ("TORPOR_RETENTION_DAYS", "0"),
        ("TORPOR_RETENTION_DAYS", "-1"),
        ("TORPOR_RETENTION_DAYS", "ten"),
        ("TORPOR_SENDER_CHECK", "on"),
        ("TORPOR_SENDERS", "{"),
        ("TORPOR_SENDERS", "{}"),
        ("TORPOR_SENDERS", '{"agent": "AROAA", "relay": "AROAR"}'),
        ("TORPOR_SENDERS", '{"agent": "", "relay": "AROAR", "dead_letters": "AROAD"}'),
        (
            "TORPOR_SENDERS",
            '{"agent": "AROAA", "relay": "AROAR", "dead_letters": "AROAD", "research": "AROAW"}',
        ),
        ("TORPOR_SENDERS", '{"agent": "arn:aws:iam::1:role/a", "relay": "AROAR", "dead_letters": "AROAD"}'),
        ("TORPOR_USER_SENDERS", "AIDAONE,arn:aws:iam::123456789012:user/two"),
        ("TORPOR_TOOL_SENDERS", "AIDAONE AIDATWO"),
    ],
)
def test_what_is_written_wrongly_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        AgentSettings.read(ENVIRON | {name: value})
