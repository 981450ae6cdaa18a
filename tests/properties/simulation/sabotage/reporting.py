"""Sabotages of what threads tell each other: ends, reports, messages to children; and of events."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import core.accept.parent_message as parent_message
import core.accept.subscription_event as subscription_event
import core.accept.thread_report as thread_report
import core.slice.ending as ending
import core.slice.give_back as give_back
import core.slice.round as round_of
import core.slice.run as run
import infra.memory.store as store
from core.accept.effects import Take
from core.commit import Commit, Consumed
from core.errors import Returned
from core.history.draft import ThreadDraft
from core.history.manager import HistoryManager
from core.ids import digest
from core.messages import Input, InputKey
from core.outbox import SendClose, SendReport
from core.thread import ThreadState
from infra.store_rules import marked_inputs

from . import Patch, Sabotage


def silent_child_stays_open() -> Sequence[Patch]:
    return [(run, "end_if_idle", lambda manager: None)]


def close_not_sent() -> Sequence[Patch]:
    send = ThreadDraft.send

    def keeping(self: ThreadDraft, message: Any) -> None:
        if not isinstance(message, SendClose):
            send(self, message)

    return [(ThreadDraft, "send", keeping)]


def close_leaves_children() -> Sequence[Patch]:
    close = ending._close

    def alone(manager: HistoryManager, report: str | None) -> None:
        kept, manager.draft.state = (
            manager.draft.state.children,
            manager.draft.state.model_copy(update={"children": ()}),
        )
        close(manager, report)
        manager.draft.set_state(children=kept)

    return [(ending, "_close", alone)]


def report_dropped_at_work() -> Sequence[Patch]:
    accept = thread_report.accept

    def only_idle(message: Any, state: ThreadState, setting: Any) -> Any:
        return () if state.working else accept(message, state, setting)

    return [(thread_report, "accept", only_idle)]


def report_joins_at_work() -> Sequence[Patch]:
    defer = HistoryManager.defer_content

    def at_once(self: HistoryManager, entry: Any, message_id: str, *known: Any) -> bool:
        taken = defer(self, entry, message_id, *known)
        self.draft.join_deferred()
        return taken

    return [(HistoryManager, "defer_content", at_once)]


def interim_report_unmarked() -> Sequence[Patch]:
    def some(commit: Commit) -> tuple[Consumed, ...]:
        return tuple(taken for taken in marked_inputs(commit) if taken.type != "thread_report")

    return [(store, "marked_inputs", some)]


def end_wakes_after_an_event() -> Sequence[Patch]:
    def talkative(**said: Any) -> SendReport:
        return SendReport(**{**said, "text": said["text"] or "It was dealt with."})

    return [(ending, "SendReport", talkative)]


def message_dropped() -> Sequence[Patch]:
    accept = parent_message.accept

    def or_dropped(message: Any, state: ThreadState) -> Any:
        try:
            return accept(message, state)
        except Returned:
            return ()

    return [(parent_message, "accept", or_dropped)]


def message_interrupts() -> Sequence[Patch]:
    return [(parent_message, "Defer", Take)]


def given_back_under_random_ids() -> Sequence[Patch]:
    numbers: Iterator[int] = count(1)
    return [(give_back, "digest", lambda *cause: digest("returned", next(numbers)))]


def other_calls_carried_out() -> Sequence[Patch]:
    return [(round_of, "only", lambda plan, plans: plans)]


def event_known_by_its_message_only() -> Sequence[Patch]:
    key = property(lambda self: InputKey(self.message.type, self.message_id))
    return [(Input, "key", key)]


def final_event_forgotten() -> Sequence[Patch]:
    accept = subscription_event.accept
    return [(subscription_event, "accept", lambda *given: accept(*given)[:1])]


def event_interrupts() -> Sequence[Patch]:
    def at_once(event: Any, state: ThreadState, setting: Any) -> Take:
        return Take(event)

    return [(subscription_event, "_joining", at_once)]


SABOTAGES = (
    Sabotage("a silent child that never reports", silent_child_stays_open, ["silent_child"]),
    Sabotage("a close that is not sent", close_not_sent, ["child_closed_while_it_works"]),
    Sabotage(
        "the child of a closed parent left open", close_leaves_children, ["parent_closed_over_open_children"]
    ),
    Sabotage("a report dropped while its parent works", report_dropped_at_work, ["reports_wait_for_a_call"]),
    Sabotage("a report that joins while calls are live", report_joins_at_work, ["reports_wait_for_a_call"]),
    Sabotage("an interim report without a marker", interim_report_unmarked, ["interim_report_then_end"]),
    Sabotage("a child of an event that wakes its parent", end_wakes_after_an_event, ["event_with_a_child"]),
    Sabotage("a message to a closed child dropped", message_dropped, ["message_to_a_closing_child"]),
    Sabotage("a message that interrupts a child", message_interrupts, ["message_to_a_working_child"]),
    Sabotage(
        "a message given back under a new id each time",
        given_back_under_random_ids,
        ["message_to_a_closing_child"],
    ),
    Sabotage(
        "other calls carried out by a thread that closes itself",
        other_calls_carried_out,
        ["closes_itself_next_to_other_calls"],
    ),
    Sabotage(
        "an event known by its message id only",
        event_known_by_its_message_only,
        ["event_doubled_and_final"],
    ),
    Sabotage("a final event that ends nothing", final_event_forgotten, ["event_doubled_and_final"]),
    Sabotage("an event that interrupts work", event_interrupts, ["event_during_a_call"]),
)
