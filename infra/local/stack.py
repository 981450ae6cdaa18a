"""`LocalTorpor`: a whole Torpor in this process, for tests and for trying things out (contract.md, "Local")."""

from datetime import datetime, timedelta
from typing import Any, Self

from core.app import App
from core.errors import MisuseError
from core.supervisor import Player
from infra.local.clock import LocalClock
from infra.local.functions import WrapPorts
from infra.local.given import model_of, spec_of
from infra.local.source import LocalStackError
from infra.local.system import System

MOST_INVOCATIONS = 10_000
"""Of one `drain`: what does not come to rest by then never will."""


class LocalTorpor:
    """Real handlers over real AWS calls to an emulator on 127.0.0.1, driven by `drain` and by a clock that you move.

    `app`: `module:attribute`, an App or an Agent. `model` takes the place of every agent's own. `start`: the clock
    stands at this aware instant until it is moved; without it, it runs with the real time. `batch_size`: inputs the
    agent function takes at a time, 1–10. `wrap_ports`: see `infra.local.functions.WrapPorts`.

    Use it as a context manager, or `close` it. Several at a time do not disturb each other. Raises DefinitionError for
    an app or a model that cannot be had.
    """

    def __init__(
        self,
        app: str | App | Player,
        model: str | None = None,
        *,
        start: datetime | None = None,
        batch_size: int = 1,
        wrap_ports: WrapPorts | None = None,
    ) -> None:
        self.clock = LocalClock(start)
        self._closed = False
        spec = spec_of(app)
        self._system = System(
            spec, model_of(spec, model), self.clock, batch_size=batch_size, wrap_ports=wrap_ports
        )

    @property
    def endpoint_url(self) -> str:
        """For any AWS client; region us-east-1, any credentials."""
        return self._open().emulator.endpoint_url

    def send(
        self, message: dict[str, Any] | str, *, thread_id: str | None = None, sender: str | None = None
    ) -> str:
        """Put a message on the input queue; returns its SQS message id.

        A dict is sent as ASCII-escaped JSON, text as it is. The group is `thread_id`, else the thread the message
        names. `sender` is the `SenderId` that handlers see. Raises Unsendable for what AWS would not take.
        """
        return self._open().send(message, thread_id=thread_id, sender=sender)

    def drain(self, *, most_invocations: int = MOST_INVOCATIONS) -> None:
        """Run queues, workers and due timers until nothing is left to do.

        What failed comes again as on AWS: when nothing else is left, the clock moves to the end of its visibility
        timeout. Raises LocalStackError if it never comes to rest, or a dead-letter handler keeps failing.
        """
        with self.clock.held():
            self._run(self.clock.now(), most_invocations)

    def advance(self, seconds: float = 0, *, days: float = 0) -> None:
        """Move the clock and drain. Timers fire in order, each at its instant, those they lead to as well; what has
        expired goes.
        """
        with self.clock.held():
            until = self.clock.now() + timedelta(days=days, seconds=seconds)
            self._run(until)
            self.clock.move_to(until)
            self._run(until)

    def outputs(self, thread_id: str | None = None) -> list[dict[str, Any]]:
        """The output messages so far, in order: of one thread, or of all. Empty for an unknown one."""
        return self._open().outputs(thread_id)

    def history(self, thread_id: str) -> list[dict[str, Any]]:
        """The thread's own committed entries, values from S3 filled in. Empty for an unknown one."""
        return self._open().history(thread_id)

    def parked(self) -> list[dict[str, Any]]:
        """Bodies that no thread could take, oldest first: `source`, `reason`, `first_seen`, `message_id`, `body`."""
        return self._open().parked()

    def close(self) -> None:
        """End everything this has started. Closing again does nothing."""
        if not self._closed:
            self._closed = True
            self._system.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> System:
        if self._closed:
            raise MisuseError("this LocalTorpor is closed: make another")
        return self._system

    def _run(self, until: datetime, most_invocations: int = MOST_INVOCATIONS) -> None:
        """Everything that is due up to `until`, and every retry however late; the clock moves from one to the next."""
        sources, invocations = self._open().all_sources, 0
        while True:
            ran = [source.step() for source in sources]
            invocations += sum(ran)
            if invocations > most_invocations:
                busy = [source.name for source, did in zip(sources, ran, strict=True) if did]
                raise LocalStackError(
                    f"no rest after {most_invocations} invocations; still busy: {', '.join(busy)}"
                )
            if any(ran):
                continue
            due_at = min((due for source in sources if (due := source.next_due_at())), default=None)
            if due_at is None or (due_at > until and not any(s.awaits_retry() for s in sources)):
                return
            self.clock.move_to(due_at)
