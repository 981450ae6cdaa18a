"""The deployed functions: the production handlers with containers whose ports are in memory, one set per invocation."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import handlers.agent
import handlers.dead_letters
import handlers.timer_relay
import handlers.tool_worker
from core.app import App
from core.delivery import INPUT
from core.erasing import erase_tree, sweep
from core.errors import NotSettled, RetryableError
from core.fork import fork
from core.keeping import Kept
from core.ports import Model, Outgoing
from core.slice import SlicePorts
from core.worker import Answering, Worker
from handlers.agent_container import AgentContainer, DeadLetterContainer
from handlers.bootstrap import EventLoop, RelayContainer, TimeLeft, WorkerContainer
from handlers.clients import AsyncClients, AwsAccess
from handlers.telemetry import Telemetry
from infra.memory import MemoryStore
from infra.memory.dispatcher import MemorySender
from infra.memory.queues import queue_arn
from infra.operations.parked import KeptBody
from infra.operations.redrive import redriven
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.scripted.model import ScriptedModel
from infra.scripted.script import Script
from infra.sqs.visibility import RecordVisibility
from infra.store_rules import RETENTION_DAYS
from infra.work.memory import MemoryWorkRecords

from .loop import VirtualClock
from .points import Invocation
from .ports import SEND, HeldClock, HeldDispatcher, HeldModel, HeldStore, HeldVisibility
from .queues import SimulatedQueues, dead
from .scenario import SWEEP
from .sync_ports import HeldRecords, HeldSender
from .watcher import Watcher


@dataclass(frozen=True, slots=True)
class Functions:
    """What every invocation shares: the durable world, and the application."""

    app: App
    script: Script
    deadly: str | None
    """In the text that a request ends with: then its completion kills the function."""
    clock: VirtualClock
    queues: SimulatedQueues
    store: MemoryStore
    records: MemoryWorkRecords
    watcher: Watcher

    async def run(self, who: Invocation, event: dict[str, Any]) -> dict[str, Any]:
        """The function's response to one event."""
        match who.function.split(":"):
            case ["agent"]:
                return await handlers.agent.handle_event(event, self._agent(who))
            case ["dead"]:
                return await handlers.dead_letters.handle_event(event, self._dead_letters(who))
            case ["relay"]:
                relay = RelayContainer(self._sender(who), self._clock(who), EventLoop(), ())
                return await handlers.timer_relay.handle_event(event, relay)
            case ["worker", name]:
                worker = Worker(name, self.app.workers().get(name, {}), self._answering(who))
                container = WorkerContainer(worker, EventLoop(), (), Telemetry())
                return await handlers.tool_worker.handle_event(
                    event, container, lambda: 1000 * who.left_seconds()
                )
            case ["command"]:
                return await self._command(who, event)
            case _:
                raise AssertionError(who.function)

    async def _command(self, who: Invocation, event: dict[str, Any]) -> dict[str, Any]:
        """What the command line does; a person gives a command again if it fails for now."""
        failures = []
        for record in event["Records"]:
            told = json.loads(record["body"])
            try:
                match told["type"]:
                    case "redrive":
                        await self._redrive(who)
                    case "fork":
                        await self._fork(who, told)
                    case _:
                        await self._take_away(who, told["thread_id"], expired=told["type"] == SWEEP)
            except (RetryableError, QueueUnavailable, Unsendable):
                failures.append({"itemIdentifier": record["messageId"]})
        return {"batchItemFailures": failures}

    async def _fork(self, who: Invocation, told: dict[str, Any]) -> None:
        store = HeldStore(who, self.store, self.watcher)
        await fork(store, told["thread_id"], told["at_seq"], told["new_thread_id"], clock=self._clock(who))

    async def _take_away(self, who: Invocation, thread_id: str, *, expired: bool) -> None:
        store, clock = HeldStore(who, self.store, self.watcher), self._clock(who)
        if expired:
            await sweep(store, thread_id, clock, timedelta(days=RETENTION_DAYS))
            return
        *_, last = await erase_tree(store, thread_id, clock)
        if isinstance(last, Kept):
            raise NotSettled(f"{thread_id} stays: {last.reason}")

    async def _redrive(self, who: Invocation) -> None:
        """Everything that is parked is sent again. It stays parked: dropping it is another act."""
        for number, parked in enumerate(await self.store.parked()):
            kept = KeptBody(f"kept-{number}", parked, {})
            message = redriven(kept, self._clock(who).now(), vouched=False).message

            async def send(message: Outgoing = message) -> None:
                self.queues.send(message.queue, message.body, group=message.group, dedup_id=message.id)

            await who.call(f"redrive {message.queue}", send, SEND)

    def _agent(self, who: Invocation) -> AgentContainer:
        time_left = TimeLeft()
        time_left.starts(lambda: 1000 * who.left_seconds())
        return AgentContainer(
            app=self.app,
            ports=self._ports(who),
            records=RecordVisibility(HeldVisibility(who, self.queues.change_visibility), INPUT),
            loop=EventLoop(),
            clients=AsyncClients(AwsAccess()),
            time_left=time_left,
        )

    def _dead_letters(self, who: Invocation) -> DeadLetterContainer:
        served = [name for name in self.queues.sources if dead(name) in self.queues.sources]
        sources = {queue_arn(dead(name)): name for name in served}
        return DeadLetterContainer(sources, self._answering(who), self._agent(who), ())

    def _ports(self, who: Invocation) -> SlicePorts:
        own = HeldClock(who, self.clock, by_slice=False)
        return SlicePorts(
            store=HeldStore(who, self.store, self.watcher),
            dispatcher=HeldDispatcher(who, MemorySender(self.queues, self.clock), own, self.watcher),
            models=lambda _: self._model(who),
            clock=self._clock(who),
        )

    def _model(self, who: Invocation) -> Model:
        return HeldModel(who, ScriptedModel(self.script, self._clock(who)), self.watcher, self.deadly)

    def _clock(self, who: Invocation) -> HeldClock:
        return HeldClock(who, self.clock)

    def _sender(self, who: Invocation) -> HeldSender:
        return HeldSender(who, MemorySender(self.queues, self.clock), self.watcher)

    def _answering(self, who: Invocation) -> Answering:
        return Answering(HeldRecords(who, self.records, self.watcher), self._sender(who), self._clock(who))
