"""Sabotages of supervisors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import core.slice.round as slice_round
import core.slice.routing as routing
from core.history.draft import ThreadDraft
from core.history.manager import HistoryManager
from core.outbox import SendAnswer
from core.request import ToolSpec
from core.supervisor import Supervisor

from . import Patch, Sabotage

FOLLOW_UP = ["supervisor_with_a_follow_up"]
ANY_TOOL = ToolSpec("any", "Any tool.", {"type": "object"})


def classified_every_round() -> Sequence[Patch]:
    return [(slice_round, "routing_due", lambda *_: True)]


def classified_once_and_for_all() -> Sequence[Patch]:
    def due(manager: HistoryManager, _: Supervisor) -> bool:
        return manager.state.route is None

    return [(slice_round, "routing_due", due)]


def classified_with_tools() -> Sequence[Patch]:
    ask = routing.classification

    def with_tools(*about: Any) -> Any:
        return replace(ask(*about), tools=(ANY_TOOL,))

    return [(routing, "classification", with_tools)]


def classified_for_nothing() -> Sequence[Patch]:
    record = routing._record

    def unpaid(manager: HistoryManager, route: Any, usage: Any) -> None:
        credit = manager.state.credit
        record(manager, route, usage)
        manager.draft.set_state(credit=credit)

    return [(routing, "_record", unpaid)]


def route_not_told() -> Sequence[Patch]:
    send = ThreadDraft.send

    def without(self: ThreadDraft, message: Any) -> None:
        send(self, message.model_copy(update={"route": None}) if isinstance(message, SendAnswer) else message)

    return [(ThreadDraft, "send", without)]


SABOTAGES = (
    Sabotage("a classification in every round", classified_every_round, FOLLOW_UP),
    Sabotage("a follow-up that is not classified", classified_once_and_for_all, FOLLOW_UP),
    Sabotage("a classification that can call tools", classified_with_tools, FOLLOW_UP),
    Sabotage("a classification that costs nothing", classified_for_nothing, FOLLOW_UP),
    Sabotage("an answer that names no route", route_not_told, FOLLOW_UP),
)
