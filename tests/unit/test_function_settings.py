"""Settings of the functions: each reads what it uses, and one error names everything that is missing or wrong."""

import pytest

from core.errors import SettingsError
from handlers.settings import AgentSettings, DeadLetterSettings, RelaySettings, WorkerSettings

ENVIRON = {
    "TORPOR_APP": "a:app",
    "TORPOR_MODEL": "",
    "TORPOR_WORKER": "research",
    "TORPOR_WORKER_QUEUES": '{"research": "https://r"}',
    "TORPOR_INPUT_QUEUE_URL": "https://i",
    "TORPOR_OUTPUT_QUEUE_URL": "https://o",
    "TORPOR_DELAY_QUEUE_URL": "https://d",
    "TORPOR_TABLE": "threads",
    "TORPOR_WORK_TABLE": "work",
    "TORPOR_BUCKET": "payloads",
    "TORPOR_DEAD_LETTER_QUEUES": '{"arn:1": "input"}',
}
URLS = {"input": "https://i", "output": "https://o", "delay": "https://d", "worker:research": "https://r"}


def test_settings_are_read() -> None:
    agent = AgentSettings("a:app", None, URLS, "threads", "payloads", 90)
    assert AgentSettings.read(ENVIRON) == agent
    assert WorkerSettings.read(ENVIRON) == WorkerSettings("a:app", "research", "work", "https://i")
    assert RelaySettings.read(ENVIRON) == RelaySettings({"input": "https://i", "delay": "https://d"})
    assert DeadLetterSettings.read(ENVIRON) == DeadLetterSettings(agent, "work", {"arn:1": "input"})


def test_a_model_and_the_retention_can_be_given() -> None:
    settings = AgentSettings.read(ENVIRON | {"TORPOR_MODEL": "script:a.json", "TORPOR_RETENTION_DAYS": "7"})
    assert (settings.model, settings.retention_days) == ("script:a.json", 7)


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
                "TABLE",
                "BUCKET",
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
    ],
)
def test_what_is_written_wrongly_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        AgentSettings.read(ENVIRON | {name: value})
