"""A whole tree of threads in memory: each test says what the model does, by rules as data, and what happens outside.

Apart from `World` because several threads write to each other here: what one sends on the input queue is delivered to
the other, in the order of its group.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from core.delivery import DELAY, INPUT
from core.entries import Entry
from core.history import HistoryManager
from core.messages import Envelope, Input
from core.parsing import parse_input
from core.ports import Outgoing
from core.slice import SliceReport, run_slice
from core.text import wire_json
from core.thread import ThreadState
from tests.support.lines import lines
from tests.support.rules import RecordingScript, Rules
from tests.support.world import World, world

ROOT = "t1"


@dataclass
class Tree:
    """One deployment, seen from its root thread. Time moves only with `advance`."""

    world: World
    model: RecordingScript
    held: set[str] = field(default_factory=set)
    """Threads whose messages wait until they are taken out."""
    reports: list[tuple[str, SliceReport]] = field(default_factory=list)
    """What each slice did, with its thread."""
    _delivered: set[str] = field(default_factory=set)
    _numbers: int = 0

    # ---- what happens

    async def say(self, text: str, thread_id: str = ROOT, **fields: Any) -> None:
        """A person says something, and everything goes on until it rests."""
        await self.tell("user_message", thread_id, content=text, **fields)

    async def tell(self, kind: str, /, thread_id: str = ROOT, **fields: Any) -> SliceReport:
        """A message from outside arrives, and everything goes on until it rests; returns what its own slice did."""
        report = await self.visit(self.message(kind, thread_id, **fields))
        await self.rest()
        return report

    async def answer(self, thread_id: str = ROOT, content: Any = "page", **fields: Any) -> None:
        """The worker of the thread's oldest live call answers."""
        call_id = (await self.live(thread_id))[0]
        await self.tell("tool_result", thread_id, call_id=call_id, content=content, **fields)

    async def rest(self) -> None:
        """Deliver what threads send each other, oldest first, until nothing is left that is not held."""
        while (message := next(iter(self.waiting()), None)) is not None:
            await self.deliver(message)

    async def deliver(self, message: Outgoing, *, completing: bool = True) -> SliceReport:
        """Deliver one message, again if it was delivered before. Not `completing`: to the dead-letter handler."""
        self._delivered.add(message.id)
        beside = Envelope(message.id, message.group, correlation_id=message.correlation_id)
        taken = parse_input(message.body, beside)
        return await self.visit(taken, completing=completing)

    async def advance(self, seconds: float) -> None:
        """Time passes; what becomes due is delivered."""
        self.world.clock.advance(seconds)
        for message in self.world.dispatcher.once(DELAY):
            due = message.due_at is not None and message.due_at <= self.world.clock.now()
            if due and message.id not in self._delivered:
                await self.deliver(message)
        await self.rest()

    async def visit(self, *inputs: Input, completing: bool = True) -> SliceReport:
        """One slice of the inputs' thread, and nothing else."""
        thread_id = inputs[0].message.thread_id
        ports = replace(self.world.ports, models=lambda name: self.model)
        report = await run_slice(
            self.world.app, ports, thread_id, inputs, seconds_left=lambda: 900.0, completing=completing
        )
        self.reports.append((thread_id, report))
        return report

    def message(self, kind: str, /, thread_id: str = ROOT, **fields: Any) -> Input:
        """A message from outside, under an id of its own unless one is given."""
        self._numbers += 1
        body = {"type": kind, "thread_id": thread_id, "message_id": f"m{self._numbers}", **fields}
        return parse_input(wire_json(body), Envelope(f"sqs-{self._numbers}", thread_id))

    # ---- what there is

    def waiting(self) -> list[Outgoing]:
        """What is sent and not delivered, of threads that are not held."""
        sent = self.world.dispatcher.once(INPUT)
        return [one for one in sent if one.id not in self._delivered and one.group not in self.held]

    def sent(self, kind: str) -> list[Outgoing]:
        """Messages of that type between the threads, each once."""
        return [one for one in self.world.dispatcher.once(INPUT) if f'"type":"{kind}"' in one.body]

    def told(self, queue: str) -> list[tuple[str, str]]:
        """Type and thread of what a worker was told."""
        return [(body["type"], body["thread_id"]) for body in self.world.dispatcher.bodies(queue)]

    @property
    def children(self) -> list[str]:
        """Ids of every child spawned so far, in the order of spawning."""
        return list(dict.fromkeys(str(one.group) for one in self.sent("spawn")))

    async def manager(self, thread_id: str = ROOT) -> HistoryManager:
        """The thread, loaded anew."""
        return await HistoryManager.new_with_history(self.world.store, thread_id, clock=self.world.clock)

    async def state(self, thread_id: str = ROOT) -> ThreadState:
        return (await self.manager(thread_id)).state

    async def live(self, thread_id: str = ROOT) -> list[str]:
        """Ids of the thread's live calls."""
        return list((await self.manager(thread_id)).live_calls)

    async def entries(self, thread_id: str = ROOT) -> tuple[Entry, ...]:
        return await self.world.store.entries(thread_id)

    async def lines(self, thread_id: str = ROOT) -> list[str]:
        """The thread's own history, one line per entry."""
        return lines(await self.entries(thread_id))

    def outputs(self, *kinds: str) -> list[dict[str, Any]]:
        """Output messages of these types; of all types, if none is given."""
        return [body for body in self.world.dispatcher.outputs if not kinds or body["type"] in kinds]


def tree(rules: Rules, **fields: Any) -> Tree:
    """A new deployment whose model plays by these rules. `fields` as for `world`."""
    one = world(**fields)
    return Tree(one, RecordingScript(rules, one.clock))
