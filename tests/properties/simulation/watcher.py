"""What the simulated ports tell of: every effect in the moment it happens, and who caused it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from core.commit import Commit
from core.ports import Outgoing, ParkedBody
from core.request import ModelRequest
from core.work import Asked, Begun, Ended

from .points import Invocation


class Watcher(Protocol):
    """Hears of everything that outlives an invocation, and of what a model is asked."""

    def loaded(self, who: Invocation, thread_id: str, number: int) -> None:
        """A slice begins: the log was read up to commit `number`."""
        ...

    def committed(self, who: Invocation, commit: Commit) -> None:
        """The store took this commit, or had it already."""
        ...

    def marked(self, who: Invocation, commit: Commit) -> None:
        """The commit's markers and metadata are written."""
        ...

    def settled(self, who: Invocation, commit: Commit) -> None:
        """The tip was moved to this commit."""
        ...

    def parked(self, who: Invocation, parked: ParkedBody) -> None:
        """A body is kept for people."""
        ...

    def sent(self, who: Invocation, message: Outgoing) -> None:
        """A queue has the message."""
        ...

    def refused(self, who: Invocation, message: Outgoing) -> None:
        """A queue will never take the message."""
        ...

    def requested(self, who: Invocation, request: ModelRequest) -> None:
        """A model is asked."""
        ...

    def completed(self, who: Invocation, request: ModelRequest, tokens: int) -> None:
        """The answer to the request is whole, and cost this much."""
        ...

    def begun(self, who: Invocation, call_id: str, lease_until: datetime, begun: Begun) -> None:
        """A worker asked for a call, and got this answer."""
        ...

    def finished(self, who: Invocation, call_id: str, ended: Ended) -> None:
        """A worker recorded a result; `ended` is what stands."""
        ...

    def asked(self, who: Invocation, call_id: str, asked: Asked) -> None:
        """A worker recorded a question; `asked` is what stands."""
        ...

    def answered(self, who: Invocation, call_id: str, *, goes_on: bool) -> None:
        """A person's answer came to the worker, and the call may go on with it, or nobody waits."""
        ...

    def cancelled(self, who: Invocation, call_id: str) -> None:
        """A call has a tombstone, unless it has a result."""
        ...

    def ran(self, call_id: str) -> None:
        """A tool's own code began to run for this call."""
        ...

    def acknowledged(self, who: Invocation, queue: str, record: Mapping[str, Any], *, alone: bool) -> None:
        """The record of a Lambda event was deleted from its queue; `alone`: no other of the event failed."""
        ...
