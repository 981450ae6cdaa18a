"""A round: one completion, its inline calls, and what it leaves in the draft of the commit. Never writes or sends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from core.agent import Agent
from core.changes import UsageSeen
from core.child_messages import SPAWN_TOOL
from core.chunks import Completed, Usage
from core.entries import Assistant, Entry, ToolCall, TurnEnd
from core.errors import DefinitionError, ErrorCode, ModelDenied, ModelOverflow
from core.history.chain import ProcessorFailed
from core.history.manager import HistoryManager
from core.outbox import SendAnswer, SendError
from core.ports import Observer
from core.request import ModelRequest, RequestMessage
from core.settings import Limits
from core.slice.builtin import Caller
from core.slice.builtin.close import close_itself
from core.slice.calls import (
    Plan,
    abandon_calls,
    carry_out,
    closing_plan,
    limit_calls,
    only,
    plan_calls,
)
from core.slice.compaction import start_compaction
from core.slice.completion import Collecting, Completing, Ending, Finished, RefusedForGood, Unavailable
from core.slice.debts import forget_wake, owe_nothing
from core.slice.hiding import hide_cause
from core.slice.inline import Running
from core.slice.notices import SILENT, RouteTaken, TurnPostponed
from core.slice.ports import COMMIT_SECONDS, SlicePorts, time_for_completion
from core.slice.requests import build_request, context_window, estimated_tokens, processed
from core.slice.routing import Postponed, choose_route, routing_due
from core.supervisor import Player, Supervisor
from core.thread import PendingWake, ThreadState

RETRY_FIRST_SECONDS = 5
RETRY_LONGEST_SECONDS = 900
FILTERED_REASONS = frozenset({"guardrail_intervened", "content_filtered", "refusal"})
"""The last is Claude's own: it goes on refusing while it sees what it refused."""


@dataclass(frozen=True, slots=True)
class RoundDone:
    """How a round ended. `answered`: the model answered, whatever it said."""

    answered: bool
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a slice, on this manager's draft."""

    manager: HistoryManager
    agent: Agent
    agents: Mapping[str, Player]
    """By name: who may play a child."""
    ports: SlicePorts
    observer: Observer
    seconds_left: Callable[[], float]
    tries_before: int
    supervisor: Supervisor | None = None
    """Who chooses the agent, where one does."""
    routed: bool = False
    """Whether that was done in this round."""

    async def run(self) -> RoundDone:
        """Complete, and leave the turn, or the failure, in the draft. Raises MalformedRequest (a bug of ours)."""
        try:
            if self.supervisor and not self.routed and routing_due(self.manager, self.supervisor):
                return await self._route(self.supervisor)
            return await self._complete(self._completing(self.agent, self.manager, self.observer))
        except (DefinitionError, ProcessorFailed) as error:
            await self._fail("model", str(error))
            return RoundDone(False)

    async def _route(self, supervisor: Supervisor) -> RoundDone:
        """The round, played by whom the newest user message is for. Without time for its turn it is over here."""
        chosen = await choose_route(
            self.manager, supervisor, self.agent, lambda asked, into: self._completing(asked, into, SILENT)
        )
        if isinstance(chosen, Postponed):
            self._retry_later(chosen.tries, chosen.reason)
            return RoundDone(False, chosen.usage)
        agent = supervisor.at(self._route_name)
        forget_wake(self.manager)
        self.observer.notice(RouteTaken(str(self._route_name)))
        if not time_for_completion(self.seconds_left()):
            return RoundDone(False, chosen.usage)
        done = await replace(self, agent=agent, routed=True, tries_before=0).run()
        return replace(done, usage=done.usage.plus(chosen.usage))

    @property
    def _route_name(self) -> str | None:
        route = self.manager.state.route
        return None if route is None else route.name

    async def _complete(self, completing: Completing) -> RoundDone:
        window = context_window(self.agent, completing.model)
        request = await self._request(window)
        estimate = estimated_tokens(request)
        if window is not None and self._must_wait(estimate, window):
            return RoundDone(False)
        last_words = self._summarises or limit_reached(self.manager.state, self.agent.limits, estimate)
        ending = await completing.complete(request)
        if isinstance(ending, RefusedForGood) and isinstance(ending.error, ModelOverflow):
            request = await self._request(window, shrunk=True)
            ending = await completing.complete(request)
        overflows = isinstance(ending, RefusedForGood) and isinstance(ending.error, ModelOverflow)
        if overflows and self._compact(blocking=True):
            return RoundDone(False)
        return await self._end(ending, last_words, window, request.messages)

    async def _request(self, window: int | None, *, shrunk: bool = False) -> ModelRequest:
        """What the history processors show of the history; a compaction sees it all. Raises ProcessorFailed."""
        request = build_request(self.manager, self.agent, self.tries_before + 1, window=window, shrunk=shrunk)
        if self._summarises:
            return request
        return replace(
            request,
            messages=await processed(self.manager, self.agent, request.messages, self._seconds_to_run()),
        )

    @property
    def _summarises(self) -> bool:
        return self.manager.state.origin.kind == "compaction"

    def _compact(self, *, blocking: bool) -> bool:
        return start_compaction(self.manager, self.agent, self.ports.clock.now(), blocking=blocking)

    def _must_wait(self, estimate: int, window: int) -> bool:
        """Ask for a compaction where the request comes near the window; wait for it where it would not fit."""
        near = (
            estimate - self.agent.settings.max_output_tokens > window * self.agent.settings.compaction_share
        )
        return near and self._compact(blocking=estimate > window) and estimate > window

    def _completing(self, asked: Player, into: Collecting, observer: Observer) -> Completing:
        return Completing(
            into=into,
            model=self.ports.models(asked.model),
            clock=self.ports.clock,
            observer=observer,
            seconds_left=self.seconds_left,
            tries_before=self.tries_before,
            most_tries=self.agent.limits.model_tries,
        )

    async def _end(
        self, ending: Ending, last_words: bool, window: int | None, given: Sequence[RequestMessage]
    ) -> RoundDone:
        match ending:
            case Finished(completed=completed):
                await self._turn(completed, last_words, given)
                self._compact_if_near(completed.usage, window)
                return RoundDone(True, completed.usage)
            case Unavailable(tries=tries, reason=reason) if tries < self.agent.limits.model_tries:
                self.manager.discard_turn()
                self._retry_later(tries, reason)
            case Unavailable(tries=tries, reason=reason):
                await self._fail("model", f"the model could not be reached in {tries} tries: {reason}")
            case RefusedForGood(error=ModelDenied() as error):
                await self._fail("model", str(error))
            case RefusedForGood(error=ModelOverflow() as error):
                hide_cause(self.manager, "long")
                await self._fail("overflow", str(error))
            case RefusedForGood(error=error):
                hide_cause(self.manager, "media")
                await self._fail("model", str(error))
        return RoundDone(False)

    async def _turn(self, completed: Completed, last_words: bool, given: Sequence[RequestMessage]) -> None:
        """The finished turn: entries, answers to its calls, what is owed, told and spent. `given`: to the model."""
        manager, before = self.manager, self.manager.state.last_seq
        if completed.stop_reason in FILTERED_REASONS:
            hide_cause(manager, "all")
        manager.flush_turn_trimming_reasoning()
        entries = [entry for entry in manager.pending_items if entry.seq > before]
        calls = [entry for entry in entries if isinstance(entry, ToolCall)]
        ends_in_call = bool(entries) and isinstance(entries[-1], ToolCall)
        plans = (
            limit_calls(calls)
            if last_words
            else plan_calls(calls, self.agent, completed.stop_reason, ends_in_call)
        )
        said = any(isinstance(entry, Assistant) for entry in entries)
        closing = closing_plan(plans, manager.thread_id)
        final = last_words or not calls or closing is not None
        self._spend(completed.usage)
        self._tell(completed, entries, said, final, silent=closing is not None)
        await self._carry_out(plans if closing is None else only(closing, plans), given)
        if closing is not None:
            close_itself(manager, closing.arguments["report_to_parent"])
        elif final and (calls or not said):
            manager.draft.append(TurnEnd(reason="limit" if calls else "empty"))
        elif self._summarises and completed.stop_reason in FILTERED_REASONS:
            manager.draft.append(TurnEnd(reason="failed"))
        if final:
            owe_nothing(manager)
        else:
            forget_wake(manager)

    async def _carry_out(self, plans: list[Plan], given: Sequence[RequestMessage] = ()) -> None:
        running = Running(self.ports.clock.now(), self.observer, self._seconds_to_run(), given)
        await carry_out(self._caller(plans), plans, running)

    def _seconds_to_run(self) -> float:
        """What an author's code may take here."""
        return max(1.0, self.seconds_left() - COMMIT_SECONDS)

    def _caller(self, plans: Sequence[Plan]) -> Caller:
        """Half of the credit goes to the children of a turn, in equal parts."""
        spawns = sum(plan.call.name == SPAWN_TOOL for plan in plans)
        credit = max(0, self.manager.state.credit or 0) // 2 // max(1, spawns)
        return Caller(self.manager, self.agent, self.agents, credit, self.ports.clock.now())

    def _compact_if_near(self, usage: Usage, window: int | None) -> None:
        """The turn's real input tells best how full the window is. A child that is about to end needs no summary."""
        state = self.manager.state
        ends = state.origin.parent is not None and state.idle
        share = self.agent.settings.compaction_share
        if window is not None and not ends and usage.input_tokens > window * share:
            self._compact(blocking=False)

    def _spend(self, usage: Usage) -> None:
        state = self.manager.state
        credit = (state.credit if state.credit is not None else self.agent.limits.tokens) - usage.total
        self.manager.draft.set_state(turns=state.turns + 1, turned=True, credit=credit)

    def _tell(
        self, completed: Completed, entries: list[Entry], said: bool, final: bool, silent: bool
    ) -> None:
        """The turn's text as an output; a turn that ends without any is told as a failure, unless it may be silent.

        A summary is nobody's but the parent's.
        """
        if self._summarises:
            return
        if said:
            route = self.manager.state.route if self.supervisor is not None else None
            answer = SendAnswer(
                first_seq=entries[0].seq,
                last_seq=entries[-1].seq,
                final=final,
                usage=completed.usage,
                stop_reason=completed.stop_reason,
                citations=self.manager.state.sources if final else (),
                route=route.name if route is not None else None,
                routing=route.usage if route is not None else None,
            )
            self.manager.draft.send(answer)
            return
        if self.agent.history_processors:  # who else would ask
            self.manager.draft.record(UsageSeen(usage=completed.usage))
        if final and not silent:
            code: ErrorCode = "limit" if entries else "model"
            self._tell_failure(code, "the model gave no answer" + (" within the limits" if entries else ""))

    def _tell_failure(self, code: ErrorCode, reason: str) -> None:
        owed_to = self.manager.state.owes_to
        if not self._summarises:
            self.manager.draft.send(SendError(code=code, message=reason, message_id=owed_to))

    def _retry_later(self, tries: int, reason: str) -> None:
        """Leave a delayed wake: the group stays free, so that `cancel` and new text get through."""
        delay_seconds = min(RETRY_FIRST_SECONDS * 2 ** min(tries, 20), RETRY_LONGEST_SECONDS)
        due_at = self.ports.clock.now() + timedelta(seconds=delay_seconds)
        self.manager.draft.arm_wake(PendingWake(id="", reason="model", due_at=due_at, tries=tries))
        self.observer.notice(TurnPostponed(reason, delay_seconds))

    async def _fail(self, code: ErrorCode, reason: str) -> None:
        """End the turn: what was said is kept, its calls are answered unrun, the failure is told."""
        before = self.manager.state.last_seq
        self.manager.flush_turn_trimming_reasoning()
        entries = [entry for entry in self.manager.pending_items if entry.seq > before]
        await self._carry_out(abandon_calls([entry for entry in entries if isinstance(entry, ToolCall)]))
        self.manager.draft.append(TurnEnd(reason="failed"))
        self.manager.draft.set_state(turned=True)
        self._tell_failure(code, reason)
        owe_nothing(self.manager)


def limit_reached(state: ThreadState, limits: Limits, estimate_tokens: int) -> bool:
    """Whether the next completion is the last one this input gets: checked before the spend."""
    spent = state.credit is not None and state.credit < estimate_tokens
    return spent or state.turns >= limits.turns_per_user_input
