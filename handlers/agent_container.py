"""The containers that run slices: the agent's and the dead-letter handler's. Apart from `bootstrap` because workers
and the relay have no use for what these import.
"""

from dataclasses import dataclass, replace
from typing import Any

from core.app import App, load_app
from core.clock import Clock
from core.delivery import INPUT
from core.ports import Observer
from core.senders import UNCHECKED, SenderPolicy
from core.slice import SlicePorts
from core.slice.notices import SILENT
from core.worker import Answering
from handlers.bootstrap import EventLoop, TimeLeft, close_clients
from handlers.clients import AsyncClients, AwsAccess, sync_clients
from handlers.settings import AgentSettings, DeadLetterSettings, Environ
from handlers.telemetry import Telemetry
from handlers.tracing import x_ray
from infra.dynamodb.store import DynamoStore
from infra.models import app_root, model_for
from infra.scheduler.schedules import Schedules
from infra.sqs.dispatcher import SqsDispatcher
from infra.sqs.sync_sender import SqsSender
from infra.sqs.visibility import RecordVisibility
from infra.work.dynamodb import DynamoDbWorkRecords

MODEL_SILENCE_SECONDS = 90.0
"""Read timeout of a model's client: the longest a stream may be silent. A model that reasons may need most of it before
its first word. The time left, mostly shorter, bounds each call beside it."""


@dataclass(frozen=True, slots=True)
class AgentContainer:
    """Of `handlers.agent`, and of the dead-letter handler, which runs the same slice."""

    app: App
    ports: SlicePorts
    records: RecordVisibility
    loop: EventLoop
    clients: AsyncClients
    time_left: TimeLeft
    observer: Observer = SILENT
    senders: SenderPolicy = UNCHECKED
    telemetry: Telemetry = Telemetry()

    def close(self) -> None:
        """A Lambda container never does."""
        self.loop.run(self.clients.close())
        self.loop.close()


@dataclass(frozen=True, slots=True)
class DeadLetterContainer:
    """Of `handlers.dead_letters`."""

    sources: dict[str, str]
    """Queue served, by the ARN of its dead-letter queue."""
    answering: Answering
    agent: AgentContainer
    clients: tuple[Any, ...]

    def close(self) -> None:
        """A Lambda container never does."""
        self.agent.close()
        close_clients(self.clients)


def build_agent_container(
    environ: Environ, clock: Clock, endpoint_url: str | None = None, observer: Observer = SILENT
) -> AgentContainer:
    """Raises SettingsError, and DefinitionError for an app that cannot be loaded."""
    settings, access = AgentSettings.read(environ), AwsAccess.of(environ, endpoint_url)
    container = _agent_container(settings, access, clock, observer)
    return _measured(container, environ, "agent", settings.traced)


def build_dead_letter_container(
    environ: Environ, clock: Clock, endpoint_url: str | None = None
) -> DeadLetterContainer:
    """Raises SettingsError, and DefinitionError for an app that cannot be loaded."""
    settings, access = DeadLetterSettings.read(environ), AwsAccess.of(environ, endpoint_url)
    sqs, dynamodb = sync_clients(access, "sqs", "dynamodb")
    answering = Answering(
        DynamoDbWorkRecords(dynamodb, settings.work_table),
        SqsSender(sqs, settings.agent.queue_urls, clock),
        clock,
    )
    agent = _agent_container(settings.agent, access, clock, SILENT)
    measured = _measured(agent, environ, "dead_letters")
    return DeadLetterContainer(dict(settings.sources), answering, measured, (sqs, dynamodb))


def _measured(
    container: AgentContainer, environ: Environ, function: str, traced: bool = False
) -> AgentContainer:
    trace = x_ray(container.ports.clock) if traced else None
    return replace(container, telemetry=Telemetry.read(environ, function, container.app.prices, trace))


def _agent_container(
    settings: AgentSettings, access: AwsAccess, clock: Clock, observer: Observer
) -> AgentContainer:
    app = load_app(settings.app)
    root = app_root(settings.app)
    loop, clients, time_left = EventLoop(), AsyncClients(access), TimeLeft()
    dynamodb, s3, sqs = loop.run(clients.open_all("dynamodb", "s3", "sqs"))
    model_clients = clients.lazily(access.of_models(), MODEL_SILENCE_SECONDS)
    schedules = Schedules(clients.when_needed("scheduler"), settings.schedules)
    store = DynamoStore(
        dynamodb,
        s3,
        table=settings.table,
        bucket=settings.bucket,
        clock=clock,
        seconds_left=time_left.seconds,
        retention_days=settings.retention_days,
    )
    ports = SlicePorts(
        store=store,
        dispatcher=SqsDispatcher(sqs, settings.queue_urls, clock, time_left.seconds, schedules),
        models=lambda name: model_for(name, root, clock, model_clients.of),
        clock=clock,
    )
    return AgentContainer(
        app=app.with_model(settings.model) if settings.model else app,
        ports=ports,
        records=RecordVisibility(sqs, settings.queue_urls[INPUT]),
        loop=loop,
        clients=clients,
        time_left=time_left,
        observer=observer,
        senders=settings.senders,
    )
