"""`LiveTorpor`: the local stack of `torpor chat`. It runs by itself, in real time, its workers in processes."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from core.delivery import INPUT, OUTPUT, worker_queue
from core.ports import Observer
from infra.local.clock import LocalClock
from infra.local.resources import dead_letters_of
from infra.local.resting import TreeSeen
from infra.local.source import EventSource, Invoke, LocalStackError, Source
from infra.local.system import System
from infra.local.worker_processes import WorkerProcess

LOG_LEVEL = "CRITICAL"
"""The log would stand between the lines of the conversation; LOG_LEVEL=INFO brings it back."""
RETRY_SECONDS = 5.0
"""A person waits: nobody sits out a visibility timeout made for whole invocations."""
STOP_SECONDS = 2.0
"""A slice that runs longer than this after the end is left to its fate: the process ends with it."""


class LiveTorpor:
    """Runs from the start until it is closed. `observer` watches the agent's slices.

    `on_trouble` gets a line for a person when something cannot go on. Both are called from other threads. Raises
    DefinitionError for an app or a model that cannot be had.
    """

    def __init__(
        self, app: str, model: str | None, *, observer: Observer, on_trouble: Callable[[str], None]
    ) -> None:
        self.broken = False
        """Whether a part of the stack has stopped for good."""
        self._observer = observer
        self._on_trouble = on_trouble
        self._stopping = Event()
        self._system = System(
            app,
            model,
            LocalClock(real_time=True),
            workers_elsewhere=True,
            observer=observer,
            log_level=LOG_LEVEL,
        )
        self._output = self._system.resources.queues[OUTPUT].sqs_name
        self._workers = [self._start_worker(worker) for worker in self._system.workers]
        for source in self._system.sources:
            self._set_up(source)
        self._pumps = [self._start_pump(source) for source in self._system.all_sources]

    @property
    def endpoint_url(self) -> str:
        """For any AWS client; region us-east-1, any credentials."""
        return self._system.emulator.endpoint_url

    def send(self, message: dict[str, Any]) -> str:
        """Put a message on the input queue; returns its SQS message id."""
        return self._system.send(message, thread_id=None, sender=None)

    def outputs(self) -> list[dict[str, Any]]:
        """The output messages so far, in order."""
        return self._system.outputs()

    def wait_for_outputs(self, seen: int, seconds: float | None = None) -> list[dict[str, Any]]:
        """The output messages, as soon as they are more than `seen`, or the stack broke, or `seconds` have passed."""
        while True:
            noted = self._system.emulator.arrivals.count(self._output)
            found = self.outputs()
            if len(found) > seen or self.broken:
                return found
            if not self._system.emulator.arrivals.wait(self._output, noted, seconds):
                return self.outputs()

    def look(self, thread_id: str) -> TreeSeen:
        """What is seen of the tree below a thread; waits for the slice that runs."""
        return self._system.look(thread_id)

    def close(self) -> bool:
        """End the workers and everything else. False if a slice still runs: only the end of the process ends that."""
        for worker in self._workers:
            worker.close()
        self._stopping.set()
        self._system.emulator.arrivals.close()
        for pump in self._pumps:
            pump.join(STOP_SECONDS)
        if any(pump.is_alive() for pump in self._pumps):
            return False
        self._system.close()
        return True

    def _start_worker(self, worker: str) -> WorkerProcess:
        system, queue = self._system, self._system.resources.queues[worker_queue(worker)]
        dead_letters = system.resources.queues[dead_letters_of(worker_queue(worker))]
        system.emulator.gate.serve_dead_letters(queue.sqs_name, dead_letters.sqs_name)
        return WorkerProcess(
            worker,
            [system.emulator.endpoint_url, queue.url, queue.arn, str(system.workers[worker])],
            system.environment.for_function(worker_queue(worker)),
            self._on_trouble,
        )

    def _set_up(self, source: EventSource) -> None:
        if source.queue.name == INPUT:
            source.invoke = self._telling(source.invoke)
        source.retry_seconds = RETRY_SECONDS

    def _start_pump(self, source: Source) -> Thread:
        pump = Thread(target=self._pump, args=(source,), name=f"torpor-{source.name}", daemon=True)
        pump.start()
        return pump

    def _pump(self, source: Source) -> None:
        arrivals, clock = self._system.emulator.arrivals, self._system.clock
        while not self._stopping.is_set():
            noted = arrivals.count(source.arrivals_name)
            try:
                ran = source.step()
            except LocalStackError as error:
                self._break(str(error))
                return
            if not ran:
                due_at = source.next_due_at()
                seconds = None if due_at is None else max(0.0, (due_at - clock.now()).total_seconds())
                arrivals.wait(source.arrivals_name, noted, seconds)

    def _break(self, reason: str) -> None:
        self.broken = True
        self._on_trouble(reason)
        self._system.emulator.arrivals.note(self._output)

    def _telling(self, invoke: Invoke) -> Invoke:
        """Tell of slices that fail."""

        def invoke_and_tell(event: dict[str, Any]) -> tuple[Any, BaseException | None]:
            response, death = invoke(event)
            if death is not None or response["batchItemFailures"]:
                why = f" ({type(death).__name__}: {death})" if death is not None else ""
                self._on_trouble(f"(The agent failed{why} and tries again. LOG_LEVEL=INFO shows more.)")
            return response, death

        return invoke_and_tell
