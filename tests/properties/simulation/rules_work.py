"""Rules of workers and models: a call runs only for whoever holds it, a model is asked only what it may be asked."""

from collections.abc import Iterator
from datetime import datetime

from core.errors import MalformedRequest
from core.request import ModelRequest, ResultPart
from core.strict import check_request
from core.work import Begun, Started

from .facts import ThreadFacts, WorkFacts

Broken = Iterator[str]


def broken_by_beginning(
    work: WorkFacts, who: str, attempt_lease: datetime, begun: Begun, now: datetime
) -> Broken:
    """Who may start a call: nobody after its end, one at a time before it."""
    if not isinstance(begun, Started):
        return
    if work.state in ("finished", "cancelled"):
        yield f"once: {who} was told to run a call that is {work.state}"
    held = work.state == "running" and work.lease_until is not None and work.lease_until > now
    if held and work.holder != who:
        yield f"once: {who} was told to run a call that {work.holder} holds until {work.lease_until}"
    if attempt_lease <= now:
        yield f"once: {who} was given a lease that is over"


def broken_by_running(work: WorkFacts, who: str, now: datetime, deadline: datetime | None) -> Broken:
    """A tool's own code ran."""
    if who not in work.starters:
        yield f"once: {who} runs a call that it was not told to run ({work.state})"
    if deadline is not None and now > deadline:
        yield f"never stuck: {who} starts a call after its deadline"


def broken_by_asking(thread: ThreadFacts, number: int, request: ModelRequest) -> Broken:
    """The request is well-formed, and every call of the log as it was read, up to `number`, is answered in it."""
    try:
        check_request(request)
    except MalformedRequest as error:
        yield f"well-formed: {error}"
    answered = {
        part.call_id for message in request.messages for part in message.parts if isinstance(part, ResultPart)
    }
    for call_id in thread.live_after(number) - answered:
        yield f"well-formed: a model was asked while {call_id} is live"
