"""The sweeper's container. Apart from the others: nothing else may delete, and it runs no slices."""

from dataclasses import dataclass
from datetime import timedelta

from core.clock import Clock
from core.keeping import KeepingStore
from handlers.bootstrap import EventLoop, TimeLeft
from handlers.clients import AsyncClients, AwsAccess
from handlers.settings import Environ, SweeperSettings
from infra.keeping import DynamoKeeper


@dataclass(frozen=True, slots=True)
class SweeperContainer:
    """Of `handlers.sweeper`."""

    store: KeepingStore
    retention: timedelta
    """After a thread's last commit."""
    clock: Clock
    loop: EventLoop
    clients: AsyncClients
    time_left: TimeLeft

    def close(self) -> None:
        """A Lambda container never does."""
        self.loop.run(self.clients.close())
        self.loop.close()


def build_sweeper_container(
    environ: Environ, clock: Clock, endpoint_url: str | None = None
) -> SweeperContainer:
    """Raises SettingsError."""
    settings = SweeperSettings.read(environ)
    loop, clients = EventLoop(), AsyncClients(AwsAccess.of(environ, endpoint_url))
    time_left = TimeLeft()
    dynamodb, s3 = loop.run(clients.open_all("dynamodb", "s3"))
    store = DynamoKeeper(
        dynamodb,
        s3,
        table=settings.table,
        bucket=settings.bucket,
        clock=clock,
        seconds_left=time_left.seconds,
        retention_days=settings.retention_days,
    )
    retention = timedelta(days=settings.retention_days)
    return SweeperContainer(store, retention, clock, loop, clients, time_left)
