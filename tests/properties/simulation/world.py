"""The world of one run: the clock, the queues, the functions that run, and what can be done to them.

It does things; what can be done when stands in `moves.py`, and what is done in `choosing.py`.
"""

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from infra.memory import MemoryStore
from infra.store_rules import RETENTION_DAYS
from infra.work.memory import MemoryWorkRecords

from .checker import Checker
from .facts import Facts
from .functions import Functions
from .loop import START, VirtualClock, VirtualLoop
from .points import CURRENT, Crash, Faults, Gate, Invocation, Schedule
from .queues import COMMANDS, VISIBILITY_SECONDS, Sent, SimulatedQueues
from .scenario import ERASE, EXPIRE, SWEEP, Scenario, Situation

FUNCTION_SECONDS = 30
DAYS_LATER = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Setup:
    """What holds for a whole run."""

    newest_first: bool = False
    """Which of several waiting points the calm schedule lets on: the newest, or the oldest."""
    eager_client: bool = True
    """Whether the calm client speaks as soon as it may, or when the functions rest."""
    batch: int = 1
    """Messages per event."""
    visibility_seconds: float = VISIBILITY_SECONDS
    """Less than FUNCTION_SECONDS is the wrong setting that lets two slices of a thread overlap."""
    days_later: bool = True
    """Whether everything comes once more at the end."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Every call of a port fails in the same way, for some time."""

    port: str
    """How the names of its calls begin: `store`, `model`, `work`, `send worker:alpha` …"""
    fault: str
    until: datetime


class World:
    """Everything there is, at one moment."""

    def __init__(self, scenario: Scenario, setup: Setup, schedule: Schedule) -> None:
        self.scenario, self.setup, self._schedule = scenario, setup, schedule
        self.loop = VirtualLoop()
        self.clock = VirtualClock(self.loop)
        self.checker = Checker(self.clock, Facts(scenario.app.agent(None).limits.tokens))
        self.queues = SimulatedQueues(
            self.clock,
            scenario.workers,
            scenario.silent,
            setup.visibility_seconds,
            commands=any(say.is_command or say.body["type"] == EXPIRE for say in scenario.says),
        )
        self.store = MemoryStore(self.clock)
        self.functions = Functions(
            app=scenario.app,
            script=scenario.script,
            deadly=scenario.deadly,
            clock=self.clock,
            queues=self.queues,
            store=self.store,
            records=MemoryWorkRecords(),
            watcher=self.checker,
        )
        self.gates: list[Gate] = []
        self.running: dict[Invocation, asyncio.Task[None]] = {}
        self.ends: dict[Invocation, datetime] = {}
        self.outages: list[Outage] = []
        self.said = 0
        self.deployment = 0
        self.repeats = 0
        self.old = 0
        """So many of the messages that were sent are too old to come again."""
        self.is_days_later = False
        self._started: dict[str, int] = {}

    # ---- what the client does

    def situation(self, quiet: bool) -> Situation:
        facts = self.checker.facts
        begun = frozenset(thread.thread_id for thread in facts.threads.values() if thread.commits)
        rests = quiet and self.next_instant() is None and not self.running
        return Situation(tuple(facts.outputs.values()), quiet, begun, rests)

    def say(self) -> None:
        """The client sends its next message."""
        message = self.scenario.says[self.said]
        self.said += 1
        dedup_id = f"said-{self.said}"
        if message.is_deployment:
            self.deployment = 1
            self.functions = replace(self.functions, app=self.scenario.deployed(1))
        elif message.body["type"] == EXPIRE:
            self._expire()
        elif message.is_command:
            self.queues.send(COMMANDS, message.text)
        else:
            self.queues.send("input", message.text, group=message.body["thread_id"], dedup_id=dedup_id)

    def _expire(self) -> None:
        """Time goes by, longer than anything that was sent by now can come again."""
        self.old = len(self.queues.sent)
        self.clock.move_to(self.clock.now() + timedelta(days=RETENTION_DAYS, seconds=2))
        for thread_id in self.store.expire(self.clock.now()):
            self.queues.send(COMMANDS, json.dumps({"type": SWEEP, "thread_id": thread_id}))

    # ---- functions

    def deliver(self, queue: str, most: int) -> None:
        """Invoke the function of a queue with what is waiting in it."""
        records = self.queues.receive(queue, most)
        if not records:
            return
        function = function_of(queue)
        number = self._started[function] = self._started.get(function, 0) + 1
        ends_at = self.clock.now() + timedelta(seconds=FUNCTION_SECONDS)
        who = Invocation(f"{function}#{number}", function, self._schedule)
        who.left_seconds = lambda: max(0.0, (ends_at - self.clock.now()).total_seconds())
        who.given = tuple(record["body"] for record in records)
        who.deployment = self.deployment
        self.ends[who] = ends_at
        self.running[who] = self.loop.create_task(self._invoke(who, queue, records))

    async def _invoke(self, who: Invocation, queue: str, records: list[dict[str, Any]]) -> None:
        CURRENT.set(who)
        response = await self.functions.run(who, {"Records": records})
        failed = {failure["itemIdentifier"] for failure in response["batchItemFailures"]}
        done = [record for record in records if record["messageId"] not in failed]

        async def acknowledge() -> None:
            for record in done:
                self.queues.delete(queue, record["receiptHandle"])
                self.checker.acknowledged(who, queue, record, alone=len(done) == len(records))

        if done:
            await who.call("acknowledge", acknowledge)

    def reap(self) -> None:
        """Take note of invocations that have ended."""
        for who, task in list(self.running.items()):
            if not task.done():
                continue
            del self.running[who]
            match task.exception():
                case None:
                    who.life = "done"
                case Crash():
                    self.kill(who)
                case error:
                    self.checker.failed(who, repr(error))
                    who.life = "done"

    def kill(self, who: Invocation) -> None:
        """The invocation is gone; nothing of it ever goes on."""
        who.life = "dead"
        self.running.pop(who, None)
        self.gates = [gate for gate in self.gates if gate.who is not who]

    def stall(self, who: Invocation) -> None:
        """The invocation freezes, longer than anybody waits for it."""
        who.life = "stalled"

    def wake(self, who: Invocation) -> None:
        """It goes on as if nothing had happened."""
        who.life = "running" if who in self.running else "done"

    def open(self, gate: Gate) -> None:
        """Let an invocation on."""
        self.gates.remove(gate)
        gate.opened.set_result(None)

    def fail(self, gate: Gate, fault: str) -> None:
        """Let a port call fail."""
        self.gates.remove(gate)
        gate.opened.set_exception(gate.faults[fault]())

    def break_down(self, port: str, fault: str, seconds: float) -> None:
        """From now on the port's calls fail, until it is mended."""
        self.outages.append(Outage(port, fault, self.clock.now() + timedelta(seconds=seconds)))

    def outage(self, call: str, faults: Faults) -> Callable[[], Exception] | None:
        """What an outage makes of this call."""
        for outage in self.outages:
            if outage.until > self.clock.now() and call.startswith(outage.port) and outage.fault in faults:
                return faults[outage.fault]
        return None

    # ---- time

    def next_instant(self) -> datetime | None:
        """The next instant at which something can happen that cannot now."""
        now = self.clock.now()
        instants = [self.queues.next_visible_at(name) for name in self.queues.sources]
        instants += [self.ends[who] for who in self.running if who.life == "running"]
        if self.loop.wait_seconds is not None:
            microseconds = math.ceil(1e6 * (self.loop.elapsed_seconds + self.loop.wait_seconds))
            instants.append(START + timedelta(microseconds=microseconds))
        return min((at for at in instants if at is not None and at > now), default=None)

    def advance(self) -> None:
        """Let time pass until then. Who runs out of it is killed, unless it is frozen."""
        instant = self.next_instant()
        assert instant is not None
        self.clock.move_to(instant)
        for who in list(self.running):
            if who.life == "running" and self.ends[who] <= instant:
                self.kill(who)

    def can_come_again(self, message: Sent) -> bool:
        """Whether a function gets it, and it is no command that means something else another time."""
        return message.queue in self.queues.sources and message.kind != ERASE

    def repeat_everything(self) -> None:
        """Days later, whatever was ever taken in or sent on comes once more. None of it may change a thread."""
        self.is_days_later = True
        self.checker.facts.closed = True
        self.clock.move_to(self.clock.now() + DAYS_LATER)
        for message in self.queues.sent[self.old :]:
            if self.can_come_again(message) and not self.checker.facts.was_refused(message.body):
                self.repeats += 1
                self.queues.repeat(message, self.repeats)

    def dispose(self) -> None:
        """Nothing goes on after this."""
        for who in list(self.running):
            self.kill(who)
        self.loop.dispose()


def function_of(queue: str) -> str:
    """Which function a queue invokes."""
    match queue.removesuffix("-dead"), queue.endswith("-dead"):
        case _, True:
            return "dead"
        case "input", _:
            return "agent"
        case "delay", _:
            return "relay"
        case "commands", _:
            return "command"
        case worker, _:
            return worker
