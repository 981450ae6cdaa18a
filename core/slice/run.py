"""`run_slice`: one visit to a thread, from load to rest (architecture.md, "A slice")."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.accept import Setting
from core.agent import Agent
from core.app import App
from core.chunks import Usage
from core.correlation import correlation_owed
from core.entries import ToolResult, TurnEnd
from core.errors import LostRace, NotSettled, Refused, Returned
from core.facts import Entered, Phase, RaceLost
from core.history.manager import HistoryManager
from core.messages import Input, Message, UserMessage
from core.outbox import SendError
from core.ports import Observer, Unsent
from core.senders import UNCHECKED, SenderPolicy
from core.slice.apply import Taken, take_input
from core.slice.builtin import Caller
from core.slice.calls import run_approved
from core.slice.debts import owe_nothing
from core.slice.ending import end_if_idle
from core.slice.give_back import give_back
from core.slice.next_step import Complete, LeaveWake, Rest, Situation, Step, next_step
from core.slice.notices import SILENT, CallAnswered, ThreadVisited
from core.slice.ports import COMMIT_SECONDS, SlicePorts
from core.slice.refuse import RefusedBody, refuse
from core.slice.round import Round
from core.slice.settle import leave_resend_wake, settle, someone_comes
from core.slice.state import fit_state
from core.slice.telling import correlation_here, facts_of, input_taken, thread_seen
from core.supervisor import Player, Supervisor
from core.thread import PendingWake

RACES = 3
"""Lost races after which the slice is left to the queue."""

DEAD_LETTER_NOTE = "this message could not be processed: all tries failed"


@dataclass(frozen=True, slots=True)
class SliceReport:
    """What a slice did, for logs and metrics: no content."""

    inputs: tuple[Taken | Refused, ...]
    """By input, in order."""
    rounds: int = 0
    commits: int = 0
    usage: Usage = Usage()
    lost_outputs: tuple[str, ...] = ()
    """Ids of outputs that can never be sent."""


async def run_slice(
    app: App,
    ports: SlicePorts,
    thread_id: str,
    inputs: Sequence[Input],
    *,
    seconds_left: Callable[[], float],
    observer: Observer = SILENT,
    completing: bool = True,
    senders: SenderPolicy = UNCHECKED,
) -> SliceReport:
    """Take `inputs` of one thread in, in order, and go on until nothing is due here. All may be acknowledged after.

    `completing=False` is the dead-letter handler's: the same slice without completions. Raises RetryableError if the
    inputs must be delivered again, UnreadableRecord or MalformedRequest if a person is needed; nothing is lost.
    """
    for race in range(1, RACES + 1):
        try:
            visit = _Slice(app, ports, thread_id, inputs, seconds_left, observer, completing, senders)
            return await visit.run()
        except LostRace:
            ports.witness.hear(RaceLost())
            if race == RACES or seconds_left() <= 0:
                raise
    raise AssertionError("unreachable")


class _Slice:
    """The state of one visit: the manager, and what was done so far."""

    def __init__(
        self,
        app: App,
        ports: SlicePorts,
        thread_id: str,
        inputs: Sequence[Input],
        seconds_left: Callable[[], float],
        observer: Observer,
        completing: bool,
        senders: SenderPolicy,
    ) -> None:
        self._app = app
        self._ports = ports
        self._thread_id = thread_id
        self._inputs = inputs
        self._seconds_left = seconds_left
        self._observer = observer
        self._completing = completing
        self._senders = senders
        self._rounds = self._commits = 0
        self._usage = Usage()
        self._fresh = False
        self._tries = 0
        self._carried: tuple[Unsent, ...] = ()
        self._lost: list[str] = []
        self._returned: list[tuple[Input, Returned]] = []
        self._correlation_id: str | None = None
        self._manager: HistoryManager

    async def run(self) -> SliceReport:
        ports = self._ports
        ports.witness.hear(Entered("load"))
        keys = [taken.key for taken in self._inputs]
        self._manager = await HistoryManager.new_with_history(
            ports.store, self._thread_id, keys, clock=ports.clock
        )
        self._correlation_id = correlation_owed(self._thread_id, self._manager.state)
        await self._settle("settle")
        ports.witness.hear(Entered("accept"))
        if self._manager.state.exists:
            fit_state(self._manager, self._agent)
        results = [self._take(taken) for taken in self._inputs]
        self._tell_taken(results)
        await self._manager.inherit()
        self._observer.notice(ThreadVisited(self._manager.thread_stack, self._manager.state.origin.kind))
        for entry in self._manager.pending_items:
            if isinstance(entry, ToolResult):
                self._observer.notice(CallAnswered(entry))
        accepted = [
            taken.message for taken, result in zip(self._inputs, results, strict=True) if result == "accepted"
        ]
        self._fresh = bool(self._manager.pending_items)
        self._tries = self._tries_before(accepted)
        await self._run_approved()
        if not self._completing:
            self._end_debt(results)
        while not await self._step():
            pass
        for taken, returned in self._returned:
            await give_back(ports, taken, str(returned))
        await self._refuse(results)
        return SliceReport(tuple(results), self._rounds, self._commits, self._usage, tuple(self._lost))

    def _tell_taken(self, results: Sequence[Taken | Refused]) -> None:
        """What became of the inputs, and what all that this slice does goes back to."""
        witness = self._ports.witness
        self._correlation_id = correlation_here(self._inputs, results, self._correlation_id)
        witness.hear(thread_seen(self._manager, self._player, self._correlation_id))
        for taken, result in zip(self._inputs, results, strict=True):
            witness.hear(input_taken(taken, result))

    @property
    def _player(self) -> Player:
        return self._app.player(self._manager.state.origin.agent)

    @property
    def _agent(self) -> Agent:
        state = self._manager.state
        return self._app.agent(state.origin.agent, state.route.name if state.route else None)

    def _agent_for(self, taken: Input) -> Agent:
        """The agent whose limits and habits an input meets: a new thread's is the one asked for."""
        asked = taken.message.agent if isinstance(taken.message, UserMessage) else None
        return self._agent if self._manager.state.exists else self._app.agent(asked)

    def _take(self, taken: Input) -> Taken | Refused:
        setting = Setting(
            agent=self._agent_for(taken),
            now=self._ports.clock.now(),
            agent_names=tuple(self._app.by_name),
            completing=self._completing,
            senders=self._senders,
        )
        try:
            return take_input(self._manager, taken, setting)
        except Returned as returned:
            self._returned.append((taken, returned))
            return "returned"
        except Refused as refusal:
            return refusal

    def _tries_before(self, accepted: Sequence[Message]) -> int:
        """Tries that the pending completion has had. User text begins anew."""
        wake = self._manager.draft.committed.state.wake
        anew = any(isinstance(message, UserMessage) for message in accepted)
        return 0 if anew or wake is None or wake.reason == "resend" else wake.tries

    async def _step(self) -> bool:
        """One step; True when the slice is over."""
        match self._next():
            case Complete():
                await self._round()
                return False
            case LeaveWake():
                self._leave_wake()
            case Rest():
                pass
        draft = self._manager.draft
        if draft.is_empty:
            return True
        if draft.only_carries:
            if someone_comes(self._manager, self._carried):
                return True
            if self._manager.state.wake is not None:
                # One more commit would only carry the same again, at every try (invariant *bounded*).
                raise NotSettled(f"what {self._thread_id!r} must send cannot be sent for now")
        await self._commit()
        return False

    def _next(self) -> Step:
        situation = Situation(
            now=self._ports.clock.now(),
            seconds_left=self._seconds_left(),
            rounds=self._rounds,
            fresh_input=self._fresh,
            completing=self._completing,
        )
        return next_step(self._manager.state, self._agent.limits, situation)

    async def _round(self) -> None:
        self._ports.witness.hear(Entered("round"))
        player = self._player
        done = await Round(
            manager=self._manager,
            agent=self._agent,
            supervisor=player if isinstance(player, Supervisor) else None,
            agents=self._app.by_name,
            ports=self._ports,
            observer=self._observer,
            seconds_left=self._seconds_left,
            tries_before=self._tries,
        ).run()
        self._rounds += 1
        self._usage = self._usage.plus(done.usage)
        self._fresh, self._tries = False, 0
        if isinstance(self._next(), LeaveWake):
            self._leave_wake()
        await self._commit()

    def _caller(self) -> Caller:
        return Caller(self._manager, self._agent, self._app.by_name, 0, self._ports.clock.now())

    async def _run_approved(self) -> None:
        """Inline calls that a person approved are run before anything else is decided; a dead letter runs nothing."""
        seconds = max(1.0, self._seconds_left() - COMMIT_SECONDS) if self._completing else None
        await run_approved(self._caller(), self._observer, seconds)

    def _leave_wake(self) -> None:
        self._manager.draft.arm_wake(PendingWake(id="", reason="continue", tries=self._tries))

    def _end_debt(self, results: Sequence[Taken | Refused]) -> None:
        """A dead letter ends what is owed only to itself: a newer input, or another under its id, is still answered."""
        manager, state = self._manager, self._manager.state
        wake = manager.draft.committed.state.wake
        pairs = zip(self._inputs, results, strict=True)
        dead = {taken.message_id for taken, result in pairs if not isinstance(result, Refused)}
        own = state.owes_to in dead or (wake is not None and wake.id in dead)
        if state.runnable and own:
            manager.draft.append(TurnEnd(reason="failed"))
            failure = SendError(code="dead_letter", message=DEAD_LETTER_NOTE, message_id=state.owes_to)
            manager.draft.send(failure)
            owe_nothing(manager)

    async def _commit(self) -> None:
        end_if_idle(self._manager)
        if self._carried:
            leave_resend_wake(self._manager, self._ports.clock.now())
        self._ports.witness.hear(Entered("commit"))
        if (commit := await self._manager.sync()) is not None:
            self._commits += 1
            for fact in facts_of(commit):
                self._ports.witness.hear(fact)
            await self._settle("dispatch")

    async def _settle(self, phase: Phase) -> None:
        self._ports.witness.hear(Entered(phase))
        unsent = await settle(self._manager, self._ports, self._correlation_id)
        self._carried = unsent.carried
        self._lost.extend(unsent.lost_outputs)

    async def _refuse(self, results: Sequence[Taken | Refused]) -> None:
        for taken, result in zip(self._inputs, results, strict=True):
            if isinstance(result, Refused):
                self._lost += await refuse(
                    self._ports,
                    RefusedBody(
                        refusal=result,
                        message_id=taken.message_id,
                        body=taken.body,
                        thread_id=self._thread_id,
                        sent_at=taken.sent_at,
                        sender=taken.sender,
                        seq=self._manager.state.last_seq,
                        metadata=self._manager.metadata,
                    ),
                )
