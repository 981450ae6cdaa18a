"""The draft of the next commit: what a slice has done since the last one, and the pure step that makes it a commit.

The draft keeps the thread's working state beside the recorded changes, so that decisions see what was already taken
in. Folding the built commit gives that same state again.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.blocks import TextBlock
from core.changes import (
    Change,
    Closed,
    Compacting,
    CreditLeft,
    DeferredJoined,
    EntriesHidden,
    InputDeferred,
    MetadataSet,
    OfCalls,
    Owes,
    RouteChosen,
    SourcesSet,
    StateEdited,
    StateSetAside,
    StateTakenBack,
    TimerArmed,
    TimerCleared,
    TurnsUsed,
    UsageSeen,
    WakeArmed,
    WakeCleared,
)
from core.clock import iso, parse_iso
from core.commit import Base, Checkpoint, Commit, Consumed
from core.correlation import correlation_of
from core.entries import AppEntry, Entry, Outcome, ToolCall, ToolResult, User
from core.errors import MisuseError
from core.fold import apply_change, apply_entry, apply_sent
from core.ids import birth_id, is_child
from core.outbox import (
    LONGEST_DELAY,
    OUTPUT_KINDS,
    Carried,
    OutboxMessage,
    QuestionOutcome,
    SendQuestionClosed,
    SendTimer,
    SendUnschedule,
    SendWake,
)
from core.thread import Deferred, FoldedThread, LiveCall, PendingTimer, PendingWake, Summary, ThreadState

RecordedChange = (
    OfCalls
    | InputDeferred
    | DeferredJoined
    | EntriesHidden
    | StateEdited
    | StateSetAside
    | StateTakenBack
    | UsageSeen
    | RouteChosen
)

QUESTION_OUTCOMES: Mapping[Outcome, QuestionOutcome] = {"interrupted": "interrupted", "timed_out": "expired"}
"""How an open question ends with its call. Any other end of an unapproved call is its answer, of a running call a
result that did not wait for one.
"""


class ThreadDraft:
    """Everything that the next commit will hold. Changes nothing outside itself."""

    def __init__(self, thread_id: str, committed: FoldedThread) -> None:
        self.thread_id = thread_id
        self.committed = committed
        self.state: ThreadState = committed.state
        self.entries: list[Entry] = []
        self.consumed: list[Consumed] = []
        self.metadata: dict[str, Any] = {}
        self._changes: list[RecordedChange] = []
        self._outbox: list[OutboxMessage] = []
        self._outputs: list[OutboxMessage] = []
        self._carried: list[Carried] = []
        self._summary: Summary | None = None
        self._checkpoint = False

    @property
    def is_empty(self) -> bool:
        """Whether a commit of this draft would say nothing."""
        return not self._carried and self.only_carries

    @property
    def only_carries(self) -> bool:
        """Whether a commit of this draft would do no more than carry messages on."""
        return not (
            self.entries
            or self.consumed
            or self.metadata
            or self._changes
            or self._outbox
            or self._outputs
            or self._summary
            or self.state != self.committed.state
        )

    @property
    def history(self) -> tuple[Entry, ...]:
        """Committed and pending entries that no summary covers."""
        covered = self.state.summary.up_to_seq if self.state.summary else 0
        entries = (*self.committed.entries, *self.entries)
        return tuple(entry for entry in entries if entry.seq > covered) if self._summary else entries

    def call_entry(self, call_id: str) -> ToolCall:
        """The entry of a call of this thread, which no summary covers while it is live. Raises MisuseError."""
        call = next((e for e in self.history if isinstance(e, ToolCall) and e.call_id == call_id), None)
        if call is None:
            raise MisuseError(f"{call_id} is no call of this thread's history")
        return call

    @property
    def from_number(self) -> int:
        """The number from which a reader of the next commit must load."""
        if self._summary is None:
            return self.committed.state.from_number
        return self.committed.commit_holding(self.state.covered_seq + 1) or self.committed.state.number + 1

    @property
    def birth(self) -> str:
        return self.state.birth or birth_id(
            self.thread_id, self.consumed[0].message_id if self.consumed else ""
        )

    def consume(self, consumed: Consumed) -> None:
        self.consumed.append(consumed)

    def append(self, entry: Entry) -> Entry:
        """Number the entry and add it to the history. A result tells its call's note, and closes an open question."""
        if isinstance(entry, ToolResult) and (call := self.state.live_call(entry.call_id)) is not None:
            entry = self._told(entry, call)
        numbered = entry.model_copy(update={"seq": self.state.last_seq + 1})
        self.entries.append(numbered)
        self.state = apply_entry(self.state, numbered).model_copy(update={"last_seq": numbered.seq})
        return numbered

    def _told(self, result: ToolResult, call: LiveCall) -> ToolResult:
        if call.question is not None:
            kind = call.question.kind
            outcome = QUESTION_OUTCOMES.get(
                result.outcome, "answered" if kind == "approval" else "interrupted"
            )
            self.send(SendQuestionClosed(call_id=call.call_id, question_kind=kind, outcome=outcome))
        if not call.note:
            return result
        return result.model_copy(update={"content": (TextBlock(text=call.note), *result.content)})

    def record(self, change: RecordedChange) -> None:
        self._changes.append(change)
        self.state = apply_change(self.state, change)

    def set_state(self, **values: Any) -> None:
        """Set single values of the working state; the commit records those that differ at the end."""
        self.state = self.state.model_copy(update=values)

    def defer(self, deferred: Deferred) -> None:
        self.record(InputDeferred(deferred=deferred))

    def join_deferred(self) -> None:
        """Let the deferred inputs join the history, oldest first. From here on the thread is of whoever they say."""
        waiting = self.state.deferred
        if waiting:
            self.record(DeferredJoined(count=len(waiting)))
            for deferred in waiting:
                self.append(deferred.entry.model_copy(update={"message_id": deferred.message_id}))
                if isinstance(deferred.entry, User):
                    self.set_state(cause=correlation_of(self.thread_id, deferred.message_id))
                    self.metadata.update({} if is_child(self.thread_id) else deferred.entry.metadata or {})

    def send(self, message: OutboxMessage) -> None:
        """Put a message into the outbox. Outputs come after everything else."""
        (self._outputs if isinstance(message, OUTPUT_KINDS) else self._outbox).append(message)
        self.state = apply_sent(self.state, message)

    def carry(self, message: Carried) -> None:
        """Carry on an earlier commit's message that could not be sent, ahead of everything of this one."""
        self._carried.append(message)

    def arm_wake(self, wake: PendingWake) -> None:
        """Leave a wake; it replaces the one waited for. Its id is the commit's to give."""
        self.set_state(wake=wake.model_copy(update={"id": ""}))

    def with_timer(self) -> ThreadState:
        """The state with the timer that it needs: one that is out and comes in time stays, whatever it was armed for.

        So a busy thread arms few, and none can be forgotten (invariant *never stuck*).
        """
        state, needed = self.state, self.state.due_at
        if state.closed:
            return state.model_copy(update={"timer": None})
        if needed is None or (state.timer is not None and state.timer.due_at <= needed):
            return state
        return state.model_copy(update={"timer": PendingTimer(id="", due_at=needed)})

    def compact(self, summary: Summary, app_kept: tuple[AppEntry, ...] = ()) -> None:
        """Make the next commit a base. `app_kept`: what stays of the application's messages that it covers."""
        self._summary = summary
        self.set_state(summary=summary, app_kept=app_kept, base_number=self.committed.state.number + 1)

    def checkpoint(self) -> None:
        """Let readers start at the next commit: it carries what no summary covers. One that is a base stays that."""
        self._checkpoint = True

    def build(self, now: datetime) -> Commit:
        """The commit of this draft. Pure: the same draft and instant give the same commit."""
        at = parse_iso(iso(now))
        number = self.committed.state.number + 1
        state = self.with_timer()
        outbox: list[OutboxMessage] = [*self._carried, *self._outbox, *self._taken_back(state, at)]
        changes: list[Change] = [*self._changes, *self._differences(), *self._armed(state, outbox)]
        carries = self._checkpoint and self._summary is None
        return Commit(
            thread_id=self.thread_id,
            number=number,
            at=at,
            birth=self.birth,
            from_number=number if carries else self.from_number,
            first_seq=self.committed.state.last_seq + 1,
            entries=tuple(entry.model_copy(update={"at": at}) for entry in self.entries),
            consumed=tuple(self.consumed),
            changes=tuple(changes),
            outbox=tuple([*outbox, *self._outputs]),
            origin=None if self.committed.state.exists else self.state.origin,
            erased_seq=self.state.erased_seq,
            base=Base(summary=self._summary, snapshot=state) if self._summary else None,
            checkpoint=Checkpoint(snapshot=state, carried=self.committed.entries) if carries else None,
        )

    def _differences(self) -> list[Change]:
        before, after = self.committed.state, self.state
        changes: list[Change] = []
        if (before.owes, before.owes_to, before.cause) != (after.owes, after.owes_to, after.cause):
            changes.append(Owes(to=after.owes_to, cause=after.cause) if after.owes else Owes())
        if before.turns != after.turns:
            changes.append(TurnsUsed(turns=after.turns))
        if before.credit != after.credit and after.credit is not None:
            changes.append(CreditLeft(tokens=after.credit))
        if before.sources != after.sources:
            changes.append(SourcesSet(sources=after.sources))
        if (before.blocked, before.turned) != (after.blocked, after.turned):
            changes.append(Compacting(blocked=after.blocked, turned=after.turned))
        if after.closed and not before.closed:
            changes.append(Closed())
        if self.metadata:
            changes.append(MetadataSet(values=dict(self.metadata)))
        return changes

    def _taken_back(self, after: ThreadState, at: datetime) -> list[OutboxMessage]:
        """The timer that is waited for no more, if it is far enough off to be a schedule."""
        old = self.committed.state.timer
        if old is None or old == after.timer or old.due_at - at <= LONGEST_DELAY:
            return []
        return [SendUnschedule(timer_id=old.id)]

    def _armed(self, after: ThreadState, outbox: list[OutboxMessage]) -> list[Change]:
        """The changes of wake and timer; what is newly armed (no id yet) goes into the outbox here."""
        before = self.committed.state
        changes: list[Change] = []
        match after.wake:
            case PendingWake(id="", reason=reason, due_at=due_at, tries=tries):
                changes.append(WakeArmed(position=len(outbox), reason=reason, due_at=due_at, tries=tries))
                outbox.append(SendWake(due_at=due_at))
            case None if before.wake is not None:
                changes.append(WakeCleared())
            case _:
                pass
        match after.timer:
            case PendingTimer(id="", due_at=due_at):
                changes.append(TimerArmed(position=len(outbox), due_at=due_at))
                outbox.append(SendTimer(due_at=due_at))
            case None if before.timer is not None:
                changes.append(TimerCleared())
            case _:
                pass
        return changes
