"""Sabotages of what changes under way: state, and messages that are sent again."""

import json
from collections.abc import Sequence
from typing import Any

import core.accept.tool_result as accepting
import infra.operations.redrive as redriving
from core.accept.effects import EditState
from core.ports import ParkedBody
from core.slice.state import SharedState

from . import Patch, Sabotage

PATCHED = ["state_patched_by_workers_and_inside"]


def patch_lost() -> Sequence[Patch]:
    accept = accepting.accept

    def without_edits(*about: Any) -> Any:
        return tuple(effect for effect in accept(*about) if not isinstance(effect, EditState))

    return [(accepting, "accept", without_edits)]


def inline_state_lost() -> Sequence[Patch]:
    return [(SharedState, "keep", lambda self, manager: ())]


def redriven_under_another_id() -> Sequence[Patch]:
    def another(parked: ParkedBody) -> str:
        return json.dumps({**json.loads(parked.body), "message_id": "another"})

    return [(redriving, "_with_message_id", another)]


SABOTAGES = (
    Sabotage("a patch of the state that is lost", patch_lost, PATCHED),
    Sabotage("what an inline tool made of the state is lost", inline_state_lost, PATCHED),
    Sabotage(
        "a message that is sent again under another id",
        redriven_under_another_id,
        ["redrive_after_a_deployment"],
    ),
)
