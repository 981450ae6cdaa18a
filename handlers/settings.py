"""What each function reads from its environment. Reading fails at once and names everything that is missing or wrong.

One class per function, so that none asks for what it does not use.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from core.delivery import DELAY, INPUT, OUTPUT, worker_queue
from core.errors import SettingsError
from core.senders import UNCHECKED, Enforced, SenderPolicy
from infra.scheduler.requests import ScheduleTarget
from infra.store_rules import RETENTION_DAYS

Environ = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Of `handlers.agent`."""

    app: str
    """TORPOR_APP, `module:attribute`."""
    model: str | None
    """TORPOR_MODEL: overrides every agent's; empty and absent mean it does not."""
    queue_urls: Mapping[str, str]
    """By name (`input`, `output`, `delay`, `worker:<name>`): TORPOR_INPUT_QUEUE_URL, TORPOR_OUTPUT_QUEUE_URL,
    TORPOR_DELAY_QUEUE_URL, and TORPOR_WORKER_QUEUES, a JSON object from worker name to URL."""
    table: str
    """TORPOR_TABLE."""
    bucket: str
    """TORPOR_BUCKET, for payloads."""
    retention_days: int
    """TORPOR_RETENTION_DAYS, default 90."""
    schedules: ScheduleTarget
    """TORPOR_SCHEDULE_GROUP, TORPOR_SCHEDULE_ROLE_ARN, TORPOR_DELAY_QUEUE_ARN and TORPOR_DELAY_DEAD_LETTERS_ARN."""
    senders: SenderPolicy
    """TORPOR_SENDER_CHECK: `enforce` (the default) or `off`. Who is who, as unique ids: TORPOR_SENDERS, a JSON object
    of `agent`, `relay`, `dead_letters`, `operator` (may be missing) and `worker:<name>`; TORPOR_USER_SENDERS and
    TORPOR_TOOL_SENDERS, comma-separated, may be empty."""
    traced: bool = False
    """TORPOR_TRACING: `Active`, or `PassThrough` (the default). Of the agent only."""

    @classmethod
    def read(cls, environ: Environ) -> Self:
        """Raises SettingsError."""
        with _Reading(environ) as reading:
            traced = reading.choice("TORPOR_TRACING", ("PassThrough", "Active")) == "Active"
            return cls(**_agent_fields(reading), traced=traced)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Of `handlers.tool_worker`."""

    app: str
    """TORPOR_APP."""
    worker: str
    """TORPOR_WORKER: whose tools this function runs."""
    work_table: str
    """TORPOR_WORK_TABLE."""
    input_queue_url: str
    """TORPOR_INPUT_QUEUE_URL: where answers go."""

    @classmethod
    def read(cls, environ: Environ) -> Self:
        """Raises SettingsError."""
        with _Reading(environ) as reading:
            return cls(
                app=reading.text("TORPOR_APP"),
                worker=reading.text("TORPOR_WORKER"),
                work_table=reading.text("TORPOR_WORK_TABLE"),
                input_queue_url=reading.text("TORPOR_INPUT_QUEUE_URL"),
            )


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """Of `handlers.timer_relay`."""

    queue_urls: Mapping[str, str]
    """`input` and `delay`."""

    @classmethod
    def read(cls, environ: Environ) -> Self:
        """Raises SettingsError."""
        with _Reading(environ) as reading:
            return cls(
                {INPUT: reading.text("TORPOR_INPUT_QUEUE_URL"), DELAY: reading.text("TORPOR_DELAY_QUEUE_URL")}
            )


@dataclass(frozen=True, slots=True)
class DeadLetterSettings:
    """Of `handlers.dead_letters`: everything of the agent's, since it runs the same slice, and the work table."""

    agent: AgentSettings
    work_table: str
    """TORPOR_WORK_TABLE."""
    sources: Mapping[str, str]
    """TORPOR_DEAD_LETTER_QUEUES: a JSON object from the ARN of a dead-letter queue to the queue it serves (`input`,
    `delay`, `worker:<name>`)."""

    @classmethod
    def read(cls, environ: Environ) -> Self:
        """Raises SettingsError."""
        with _Reading(environ) as reading:
            return cls(
                agent=AgentSettings(**_agent_fields(reading)),
                work_table=reading.text("TORPOR_WORK_TABLE"),
                sources=reading.text_map("TORPOR_DEAD_LETTER_QUEUES"),
            )


@dataclass(frozen=True, slots=True)
class SweeperSettings:
    """Of `handlers.sweeper`."""

    table: str
    """TORPOR_TABLE."""
    bucket: str
    """TORPOR_BUCKET, for payloads."""
    retention_days: int
    """TORPOR_RETENTION_DAYS, default 90."""

    @classmethod
    def read(cls, environ: Environ) -> Self:
        """Raises SettingsError."""
        with _Reading(environ) as reading:
            return cls(
                table=reading.text("TORPOR_TABLE"),
                bucket=reading.text("TORPOR_BUCKET"),
                retention_days=reading.number("TORPOR_RETENTION_DAYS", RETENTION_DAYS),
            )


@dataclass(slots=True)
class _Reading:
    """Collects faults while settings are read, and raises them all together."""

    environ: Environ
    faults: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self.faults:
            raise SettingsError("the environment is incomplete: " + "; ".join(self.faults))

    def text(self, name: str) -> str:
        value = self.environ.get(name, "").strip()
        if not value:
            self.faults.append(f"{name} is not set")
        return value

    def number(self, name: str, default: int) -> int:
        value = self.environ.get(name, "").strip()
        if not value:
            return default
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            self.faults.append(f"{name} must be a whole number above 0")
            return default
        return int(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """The first is the default."""
        value = self.environ.get(name, "").strip() or choices[0]
        if value not in choices:
            self.faults.append(f"{name} must be one of {', '.join(choices)}")
        return value

    def principals(self, name: str) -> tuple[str, ...]:
        found = tuple(word.strip() for word in self.environ.get(name, "").split(",") if word.strip())
        if not all(map(_is_principal, found)):
            self.faults.append(f"{name} must be {_PRINCIPALS}")
        return found

    def text_map(self, name: str) -> dict[str, str]:
        value = self.text(name)
        if not value:
            return {}
        try:
            found = json.loads(value)
        except ValueError:
            found = None
        if not (isinstance(found, dict) and all(isinstance(item, str) for item in found.values())):
            self.faults.append(f"{name} must be a JSON object of strings")
            return {}
        return found


_OWN_ROLES = ("agent", "relay", "dead_letters")
_OPERATOR = "operator"
_WORKER = worker_queue("")
_PRINCIPALS = "unique ids, no ARNs: `aws iam get-role` shows one as RoleId, `aws iam get-user` as UserId"


def _is_principal(value: str) -> bool:
    return bool(value) and not value.startswith("arn:") and not any(map(str.isspace, value))


def _senders(reading: _Reading) -> SenderPolicy:
    check = reading.choice("TORPOR_SENDER_CHECK", ("enforce", "off"))
    users, tools = reading.principals("TORPOR_USER_SENDERS"), reading.principals("TORPOR_TOOL_SENDERS")
    if check == "off":
        return UNCHECKED
    roles = reading.text_map("TORPOR_SENDERS")
    workers = {name.removeprefix(_WORKER): role for name, role in roles.items() if name.startswith(_WORKER)}
    others = {name: role for name, role in roles.items() if not name.startswith(_WORKER)}
    if not set(_OWN_ROLES) <= set(others) <= {*_OWN_ROLES, _OPERATOR}:
        expected = f"{', '.join(_OWN_ROLES)}, perhaps {_OPERATOR}, and {_WORKER}<name> of each worker"
        reading.faults.append(f"TORPOR_SENDERS must name {expected}")
    if not all(map(_is_principal, roles.values())):
        reading.faults.append(f"TORPOR_SENDERS must hold {_PRINCIPALS}")
    agent, relay, dead_letters = (others.get(name, "") for name in _OWN_ROLES)
    return Enforced(agent, relay, dead_letters, others.get(_OPERATOR), workers, users, tools)


def _agent_fields(reading: _Reading) -> dict[str, Any]:
    workers = reading.text_map("TORPOR_WORKER_QUEUES")
    return {
        "app": reading.text("TORPOR_APP"),
        "model": reading.environ.get("TORPOR_MODEL", "").strip() or None,
        "queue_urls": {
            INPUT: reading.text("TORPOR_INPUT_QUEUE_URL"),
            OUTPUT: reading.text("TORPOR_OUTPUT_QUEUE_URL"),
            DELAY: reading.text("TORPOR_DELAY_QUEUE_URL"),
            **{worker_queue(name): url for name, url in workers.items()},
        },
        "table": reading.text("TORPOR_TABLE"),
        "bucket": reading.text("TORPOR_BUCKET"),
        "retention_days": reading.number("TORPOR_RETENTION_DAYS", RETENTION_DAYS),
        "schedules": ScheduleTarget(
            group=reading.text("TORPOR_SCHEDULE_GROUP"),
            role_arn=reading.text("TORPOR_SCHEDULE_ROLE_ARN"),
            queue_arn=reading.text("TORPOR_DELAY_QUEUE_ARN"),
            dead_letters_arn=reading.text("TORPOR_DELAY_DEAD_LETTERS_ARN"),
        ),
        "senders": _senders(reading),
    }
