"""What a commit records of a thread beside its entries: one class per kind of change, applied by `core/fold.py`.

Only what changed is recorded, never a decision (storage.md).
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from core.blocks import Value
from core.chunks import Usage
from core.route import Route
from core.sources import Source
from core.state.edits import Edit
from core.thread import Child, Deferred, Hidden, Question, Subscription, WakeReason


class Owes(Value):
    """The thread owes an answer (`to` names the newest input owed), or nothing any more (`to` is None).

    `cause`: the correlation id of what is worked on, where that is not `to`'s own.
    """

    op: Literal["owes"] = "owes"
    to: str | None = None
    cause: str | None = None


class CallOpened(Value):
    """What the fold cannot see in a call's entry: who works on it and until when. A later one replaces an earlier."""

    op: Literal["call_opened"] = "call_opened"
    call_id: str
    worker: str | None = None
    deadline_at: datetime | None = None
    passive: bool = False
    until: datetime | None = None
    question: Question | None = None
    note: str = ""
    args: dict[str, Any] | None = None


class TurnsUsed(Value):
    """Model turns since the last user text, this commit's included."""

    op: Literal["turns"] = "turns"
    turns: int


class CreditLeft(Value):
    """Tokens left after this commit."""

    op: Literal["credit"] = "credit"
    tokens: int


class MetadataSet(Value):
    """Metadata keys that an input set. Kept in `META`, not in the fold."""

    op: Literal["metadata"] = "metadata"
    values: dict[str, Any]


class InputDeferred(Value):
    """An input was accepted and waits for the last non-passive live call."""

    op: Literal["deferred"] = "deferred"
    deferred: Deferred


class DeferredJoined(Value):
    """The oldest `count` deferred inputs joined the history in this commit."""

    op: Literal["deferred_joined"] = "deferred_joined"
    count: int


class WakeArmed(Value):
    """The outbox message at `position` is the wake this thread waits for."""

    op: Literal["wake_armed"] = "wake_armed"
    position: int
    reason: WakeReason
    due_at: datetime | None = None
    tries: int = 0


class WakeCleared(Value):
    """No wake is waited for any more."""

    op: Literal["wake_cleared"] = "wake_cleared"


class TimerArmed(Value):
    """The outbox message at `position` is the deadline timer this thread waits for."""

    op: Literal["timer_armed"] = "timer_armed"
    position: int
    due_at: datetime


class TimerCleared(Value):
    """No deadline timer is waited for any more."""

    op: Literal["timer_cleared"] = "timer_cleared"


class SubscriptionOpened(Value):
    op: Literal["subscription_opened"] = "subscription_opened"
    subscription: Subscription


class SubscriptionEnded(Value):
    op: Literal["subscription_ended"] = "subscription_ended"
    call_id: str


class ChildOpened(Value):
    """A child thread is on its way: the spawn stands in the same commit's outbox."""

    op: Literal["child_opened"] = "child_opened"
    child: Child


class ChildEnded(Value):
    """A child has told its end."""

    op: Literal["child_ended"] = "child_ended"
    thread_id: str


class SourcesSet(Value):
    """The sources collected since the last user text, this commit's included."""

    op: Literal["sources"] = "sources"
    sources: tuple[Source, ...]


class StateEdited(Value):
    """What became of the stored fields of the author's state: only what changed."""

    op: Literal["state"] = "state"
    edits: tuple[Edit, ...]


class StateSetAside(Value):
    """What was stored fits the state type no more. It is kept aside, and nothing is stored from here on."""

    op: Literal["state_aside"] = "state_aside"


class StateTakenBack(Value):
    """What was set aside fits again, and nothing was stored since: it is what is stored."""

    op: Literal["state_back"] = "state_back"


class UsageSeen(Value):
    """What a turn took that is told by no answer of this commit."""

    op: Literal["usage"] = "usage"
    usage: Usage


class RouteChosen(Value):
    """Who of a supervisor's routes answers from here on."""

    op: Literal["route"] = "route"
    route: Route


class EntriesHidden(Value):
    """From here on these entries are shown to a model with a placeholder, so that they fail no further request."""

    op: Literal["hidden"] = "hidden"
    entries: tuple[Hidden, ...]


class Compacting(Value):
    """Whether a completion waits for the compaction under way, and whether a turn was made since one began."""

    op: Literal["compacting"] = "compacting"
    blocked: bool
    turned: bool


class Closed(Value):
    """The thread takes nothing any more."""

    op: Literal["closed"] = "closed"


OfCalls = CallOpened | SubscriptionOpened | SubscriptionEnded | ChildOpened | ChildEnded
"""Of live calls, and what outlives them."""
OfInput = Owes | InputDeferred | DeferredJoined | MetadataSet | Closed
"""Of what was taken in, and what is owed for it."""
OfTime = WakeArmed | WakeCleared | TimerArmed | TimerCleared
"""Of what will come back."""
OfTurns = TurnsUsed | CreditLeft | UsageSeen | EntriesHidden | Compacting | RouteChosen
"""Of turns: what they took, and what the next one is shown."""
OfState = SourcesSet | StateEdited | StateSetAside | StateTakenBack
"""Of what tools leave beside their results."""
Change = Annotated[OfCalls | OfInput | OfTime | OfTurns | OfState, Field(discriminator="op")]
