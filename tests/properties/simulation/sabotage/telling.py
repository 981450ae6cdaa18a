"""Sabotages of what a commit says of its inputs and its turn, and of who is told what."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import core.accept.tool_result as tool_result
import core.accept.user_message as user_message
import core.history.answers as answers
import core.slice.refuse as refuse
import core.slice.run as run
import core.slice.settle as settle
from core.blocks import text_content
from core.delivery import outgoing
from core.entries import ToolResult
from core.errors import Refused
from core.history.draft import ThreadDraft
from core.history.manager import HistoryManager
from core.ids import digest
from core.outbox import Carried, SendStarted
from core.slice.apply import take_input
from core.slice.next_step import Complete
from core.slice.round import Round
from core.slice.run import _Slice

from . import Patch, Sabotage


def refused_under_random_ids() -> Sequence[Patch]:
    numbers: Iterator[int] = count(1)
    return [(refuse, "digest", lambda *cause: digest("refused", next(numbers)))]


def conflict_undetected() -> Sequence[Patch]:
    def taken(manager: HistoryManager, what: Any, setting: Any) -> Any:
        try:
            return take_input(manager, what, setting)
        except Refused as refusal:
            if refusal.code != "conflict":
                raise
            return "duplicate"

    return [(run, "take_input", taken)]


def cancel_not_sent() -> Sequence[Patch]:
    def given_up(draft: ThreadDraft, call: Any, content: Any, outcome: Any) -> None:
        draft.append(ToolResult(call_id=call.call_id, content=content, outcome=outcome))

    return [(answers, "_give_up", given_up)]


def on_busy_ignored() -> Sequence[Patch]:
    return [(user_message, "_waits", lambda message, setting: not setting.completing)]


def dead_letter_interrupts() -> Sequence[Patch]:
    return [(user_message, "_waits", lambda message, setting: message.on_busy == "queue")]


def turn_counted_twice() -> Sequence[Patch]:
    spend = Round._spend

    def twice(self: Round, usage: Any) -> None:
        spend(self, usage)
        spend(self, usage)

    return [(Round, "_spend", twice)]


def credit_never_spent() -> Sequence[Patch]:
    def counted(self: Round, usage: Any) -> None:
        self.manager.draft.set_state(turns=self.manager.state.turns + 1)

    return [(Round, "_spend", counted)]


def rounds_in_one_commit() -> Sequence[Patch]:
    commit = _Slice._commit

    async def at_the_end(self: _Slice) -> None:
        if not (self._rounds and isinstance(self._next(), Complete)):
            await commit(self)

    return [(_Slice, "_commit", at_the_end)]


def another_content(module: Any) -> Sequence[Patch]:
    return [(module, "storable", lambda content: text_content("something else"))]


def start_not_told() -> Sequence[Patch]:
    send = ThreadDraft.send

    def silently(self: ThreadDraft, message: Any) -> None:
        if not isinstance(message, SendStarted):
            send(self, message)

    return [(ThreadDraft, "send", silently)]


def owed_to_the_oldest() -> Sequence[Patch]:
    def owe(self: HistoryManager, message_id: str) -> None:
        self.draft.set_state(owes=True, owes_to=self.state.owes_to or message_id)

    return [(HistoryManager, "owe", owe)]


def carried_after_newer() -> Sequence[Patch]:
    def newest_first(commit: Any, *surroundings: Any) -> Any:
        messages = outgoing(commit, *surroundings)
        carried = sum(isinstance(message, Carried) for message in commit.outbox)
        return (*messages[carried:], *messages[:carried])

    return [(settle, "outgoing", newest_first)]


SABOTAGES = (
    Sabotage("a refusal told under a new id each time", refused_under_random_ids, ["refused_input"]),
    Sabotage("another body under a known id taken as a duplicate", conflict_undetected, ["refused_input"]),
    Sabotage("an interrupted worker that is not told", cancel_not_sent, ["cancel_with_a_late_result"]),
    Sabotage("on_busy queue ignored", on_busy_ignored, ["on_busy_queue"]),
    Sabotage(
        "a dead letter that interrupts",
        dead_letter_interrupts,
        ["interruption_with_a_result_in_flight"],
        ["break"],
    ),
    Sabotage("a turn counted twice", turn_counted_twice, ["text"]),
    Sabotage("credit that is never spent", credit_never_spent, ["inline_then_worker"]),
    Sabotage("rounds of a slice in one commit", rounds_in_one_commit, ["inline_then_worker"]),
    Sabotage("a text that is not what was said", lambda: another_content(user_message), ["text"]),
    Sabotage(
        "a result that is not the recorded one", lambda: another_content(tool_result), ["inline_then_worker"]
    ),
    Sabotage("a call's start that is not told", start_not_told, ["inline_then_worker"]),
    Sabotage("a debt to the oldest text", owed_to_the_oldest, ["on_busy_queue"]),
    Sabotage("carried messages sent after newer ones", carried_after_newer, ["two_texts"], [], 60),
)
