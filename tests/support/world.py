"""Everything a slice needs, in memory, with one thread in view: ports to watch and break, and a way to run slices."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from core.agent import Agent
from core.app import App
from core.facts import Fact
from core.history import HistoryManager
from core.messages import Input
from core.ports import ThreadStore
from core.settings import Limits
from core.slice import SlicePorts, SliceReport, run_slice
from core.supervisor import Player
from core.thread import ThreadState
from core.tools import tool
from infra.memory import MemoryClock, MemoryStore
from tests.support.inputs import THREAD
from tests.support.lines import lines
from tests.support.played import PlayedModel, Turn
from tests.support.recording import RecordingDispatcher

F = TypeVar("F", bound=Fact)
START = datetime(2025, 1, 1, tzinfo=UTC)
WEB = "worker:web"
"""The queue of `fetch` and `dig`."""


@tool(inline=True)
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool(worker="web", deadline_seconds=600)
def fetch(url: str) -> str:
    """Fetch a page."""
    return url


@tool(worker="web", deadline_seconds=60)
def dig(depth: int) -> int:
    """Dig."""
    return depth


TOOLS = (echo, fetch, dig)


def agent(name: str = "helper", **fields: Any) -> Agent:
    """An agent with the three tools, unless told otherwise."""
    return Agent(**{"name": name, "model": "test:model", "tools": TOOLS, **fields})


class Observing:
    """Keeps everything an observer is told."""

    def __init__(self) -> None:
        self.events: list[object] = []

    def notice(self, event: object) -> None:
        self.events.append(event)


class Hearing:
    """Keeps everything a witness is told."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []

    def hear(self, fact: Fact) -> None:
        self.facts.append(fact)

    def of(self, kind: type[F]) -> list[F]:
        """Facts of one kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]


@dataclass
class World:
    """One deployment with one thread. `model` plays; `dispatcher` records; time moves only with `clock`."""

    app: App
    model: PlayedModel
    clock: MemoryClock
    store: ThreadStore
    dispatcher: RecordingDispatcher
    observer: Observing = field(default_factory=Observing)
    witness: Hearing = field(default_factory=Hearing)
    thread_id: str = THREAD

    @property
    def ports(self) -> SlicePorts:
        return SlicePorts(self.store, self.dispatcher, lambda name: self.model, self.clock, self.witness)

    async def run(self, *inputs: Input, completing: bool = True, seconds_left: float = 900.0) -> SliceReport:
        """One slice over these inputs."""
        return await run_slice(
            self.app,
            self.ports,
            self.thread_id,
            inputs,
            seconds_left=lambda: seconds_left,
            observer=self.observer,
            completing=completing,
        )

    async def manager(self) -> HistoryManager:
        """The thread, loaded anew."""
        return await HistoryManager.new_with_history(self.store, self.thread_id, clock=self.clock)

    async def state(self) -> ThreadState:
        return (await self.manager()).state

    async def lines(self) -> list[str]:
        """The committed history."""
        return lines(await self.store.entries(self.thread_id))

    async def live(self) -> list[str]:
        """Ids of the live calls."""
        return list((await self.manager()).live_calls)

    def limit(self, **limits: Any) -> None:
        """Change limits of every agent."""
        agents = [
            replace(one, limits=replace(one.limits, **limits))
            for one in self.app.agents
            if isinstance(one, Agent)
        ]
        self.app = App(agents=agents)


def world(*turns: Turn, store: ThreadStore | None = None, app: App | Player | None = None) -> World:
    """A new deployment whose model will play these turns; over a memory store unless one is given."""
    clock = MemoryClock(START)
    return World(
        app=App.of(app or agent(limits=Limits())),
        model=PlayedModel(*turns),
        clock=clock,
        store=store or MemoryStore(clock),
        dispatcher=RecordingDispatcher(clock),
    )
