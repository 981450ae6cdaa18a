"""`System`: everything of one local stack, put together and taken apart again. What drives it, a test's `drain` or
`torpor chat`'s threads, is not its concern.
"""

import json
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from typing import Any

from core.app import load_app
from core.delivery import INPUT, OUTPUT, worker_queue
from core.entries import entry_dict
from core.ids import digest
from core.parsing import thread_of
from infra.local.aws import Resources, client
from infra.local.clock import LocalClock
from infra.local.emulator import Emulator
from infra.local.environ import Environment
from infra.local.expiry import ExpirySource
from infra.local.formation import facts_of
from infra.local.functions import Function, WrapPorts, entry_point
from infra.local.logs import DEFAULT_LEVEL, logs_to_stderr
from infra.local.records import Facts
from infra.local.resources import (
    AGENT,
    STREAM,
    TABLES,
    event_sources,
    function_timeouts,
    queues,
    worker_timeouts,
)
from infra.local.resting import TreeSeen, look
from infra.local.schedules import ScheduleSource
from infra.local.source import RECEIVE_BATCH, EventSource, Invoke, Queue, Source
from infra.models import app_root, model_for
from infra.queue_errors import Unsendable
from infra.sqs.limits import body_fault, fifo_fault

PAGE = 1000
NOBODY = "nobody"
"""The group of a message that names no thread."""
_NUMBERS = count(1)


class System:
    """A running emulator with an app's resources, functions and event sources.

    Raises DefinitionError for an app or a model that cannot be had.
    """

    def __init__(
        self,
        app: str,
        model: str | None,
        clock: LocalClock,
        *,
        batch_size: int = 1,
        wrap_ports: WrapPorts | None = None,
        workers_elsewhere: bool = False,
        observer: object | None = None,
        log_level: str = DEFAULT_LEVEL,
        via: Callable[[str], str] = str,
    ) -> None:
        """`workers_elsewhere`: somebody else reads the workers' queues. `observer` watches the agent's slices. `via`:
        from the emulator's URL to the one that functions are told, such as a proxy's.
        """
        self._sent = count(1)
        with ExitStack() as opened:
            opened.enter_context(logs_to_stderr(log_level))
            loaded = load_app(app)
            model_for(model or loaded.agent().model, app_root(app), clock)
            self.workers = worker_timeouts(loaded)
            self.clock = clock
            self.emulator = Emulator(clock)
            opened.callback(self.emulator.close)
            self._functions_url = via(self.emulator.endpoint_url)
            self.sqs, self._scheduler = (self._client(name, opened) for name in ("sqs", "scheduler"))
            self.resources = self._create(opened)
            self.environment = Environment(app, model, self.workers, self.resources)
            watch = {} if observer is None else {"observer": observer}
            self.functions: dict[str, Function] = {}
            self.sources: list[EventSource] = []
            self._add_functions(workers_elsewhere, wrap_ports, watch, opened)
            self._add_sources(batch_size)
            self._clockwork = self._with_the_clock(opened)
            self._received: list[str] = []
            self._output = self._reader(self.resources.queues[OUTPUT], self._collect, RECEIVE_BATCH)
            self.functions[AGENT].ask(lambda _: None)  # built now: the first turn should not have to wait
            self._closing = opened.pop_all()

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """What sets functions going, schedules first: at one instant, what they send is due too."""
        return (*self._clockwork, *self.sources)

    def send(self, message: dict[str, Any] | str, *, thread_id: str | None, sender: str | None) -> str:
        """Put a message on the input queue; returns its SQS id. Raises Unsendable for what AWS would not take."""
        body = message if isinstance(message, str) else json.dumps(message)
        queue, group = self.resources.queues[INPUT], thread_id or _group_of(message)
        if fault := body_fault(body) or fifo_fault(group, "any"):
            raise Unsendable(f"to the input queue: {fault}")
        sent = self.sqs.send_message(
            QueueUrl=queue.url,
            MessageBody=body,
            MessageGroupId=group,
            MessageDeduplicationId=digest("send", queue.arn, next(self._sent)),
            MessageAttributes=Facts(sender=sender).attributes(),
        )
        message_id: str = sent["MessageId"]
        return message_id

    def outputs(self, thread_id: str | None = None) -> list[dict[str, Any]]:
        """Every output message so far, in order: of one thread, or of all."""
        while self._output.step():
            pass
        found = [json.loads(body) for body in self._received]
        return [output for output in found if thread_id in (None, output["thread_id"])]

    def history(self, thread_id: str) -> list[dict[str, Any]]:
        """The thread's own committed entries."""

        def read(container: Any) -> list[dict[str, Any]]:
            store, found = container.ports.store, list[dict[str, Any]]()
            while page := container.loop.run(
                store.entries(thread_id, after_seq=found[-1]["seq"] if found else 0, limit=PAGE)
            ):
                found += map(entry_dict, page)
            return found

        return self.functions[AGENT].ask(read)

    def look(self, thread_id: str) -> TreeSeen:
        """What is seen of the tree below a thread, between two slices."""

        def read(container: Any) -> TreeSeen:
            seen: TreeSeen = container.loop.run(look(container.ports.store, thread_id))
            return seen

        return self.functions[AGENT].ask(read)

    def parked(self) -> list[dict[str, Any]]:
        """Bodies that no thread could take."""

        def read(container: Any) -> list[dict[str, Any]]:
            return [
                {
                    "source": parked.source,
                    "reason": parked.reason,
                    "first_seen": parked.first_seen,
                    "message_id": parked.message_id,
                    "body": parked.body,
                }
                for parked in container.loop.run(container.ports.store.parked(PAGE))
            ]

        return self.functions[AGENT].ask(read)

    def close(self) -> None:
        """End everything that was started; again does nothing."""
        self._closing.close()

    def _client(self, service: str, opened: ExitStack) -> Any:
        made = client(service, self.emulator.endpoint_url)
        opened.callback(made.close)
        return made

    def _create(self, opened: ExitStack) -> Resources:
        prefix = f"t{next(_NUMBERS)}"
        dynamodb, s3 = (self._client(service, opened) for service in ("dynamodb", "s3"))
        resources = Resources(prefix, self.sqs, dynamodb, s3, self._scheduler)
        opened.callback(resources.delete)
        resources.create(queues(self.workers), TABLES)
        self.emulator.formation.facts = facts_of(resources)
        return resources

    def _function(
        self, name: str, seconds: float, wrap: WrapPorts | None, more: dict[str, object], opened: ExitStack
    ) -> Function:
        def build() -> Any:
            environ = self.environment.for_function(name)
            return entry_point(name).build()(environ, self.clock, self._functions_url, **more)

        function = Function(name, build, timeout_seconds=seconds, clock=self.clock, wrap_ports=wrap)
        opened.callback(function.close)
        return function

    def _add_functions(
        self, workers_elsewhere: bool, wrap: WrapPorts | None, watch: dict[str, object], opened: ExitStack
    ) -> None:
        elsewhere = set(map(worker_queue, self.workers)) if workers_elsewhere else set()
        for name, seconds in function_timeouts(self.workers).items():
            if name not in elsewhere:
                more = watch if name == AGENT else {}
                self.functions[name] = self._function(name, seconds, wrap, more, opened)

    def _add_sources(self, batch_size: int) -> None:
        for spec in event_sources(self.workers, batch_size=batch_size):
            if spec.function in self.functions:
                self.sources.append(self._source(spec.function, spec.queue, spec.batch_size))

    def _with_the_clock(self, opened: ExitStack) -> tuple[Source, ...]:
        """What AWS does by itself when its time comes."""
        queues, clock = self.resources.queues, self.clock
        schedules = ScheduleSource(self.emulator.schedules, queues, clock, self.sqs, self._scheduler)
        expiry = ExpirySource(
            self._client("dynamodb", opened),
            self.sqs,
            self.resources.tables,
            clock,
            self.functions[STREAM.function].invoke,
            queues[STREAM.failures].url,
        )
        return (schedules, expiry)

    def _source(self, function: str, queue_name: str, batch_size: int) -> EventSource:
        queue = self.resources.queues[queue_name]
        source = self._reader(queue, self.functions[function].invoke, batch_size)
        self.emulator.gate.hold(queue.sqs_name, source.change_visibility)
        return source

    def _reader(self, queue: Queue, invoke: Invoke, batch_size: int) -> EventSource:
        return EventSource(queue, self.sqs, self.clock, self.emulator.arrivals, invoke, batch_size)

    def _collect(self, event: dict[str, Any]) -> tuple[None, None]:
        """The user's consumer of the output queue."""
        self._received += [record["body"] for record in event["Records"]]
        return None, None


def _group_of(message: dict[str, Any] | str) -> str:
    """The thread a message names, if it can be a group."""
    thread_id = message.get("thread_id") if isinstance(message, dict) else thread_of(message)[0]
    usable = isinstance(thread_id, str) and fifo_fault(thread_id, "any") is None
    return str(thread_id) if usable else NOBODY
