"""`report_to_parent`: an interim report. The child stays open."""

from collections.abc import Mapping
from typing import Any

from core.entries import ToolCall
from core.outbox import SendReport
from core.slice.builtin.caller import MAX_TEXT_BYTES, Caller, Told, done, failed, is_too_long


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told:  # noqa: ARG001 - one shape for all
    """Send the report to the parent."""
    origin = caller.manager.state.origin
    if origin.parent is None or origin.spawning_call is None:
        return failed("You are a root thread and have no parent: tell the user in your answer.")
    if not arguments["report"].strip() or is_too_long(arguments["report"]):
        return failed(f"report must not be empty, nor longer than {MAX_TEXT_BYTES:,} bytes as JSON.")
    sent = SendReport(parent=origin.parent, call_id=origin.spawning_call, text=arguments["report"])
    caller.manager.draft.send(sent)
    return done(reported_to=origin.parent)
