"""`close_thread`: ends an open child, which then tells its end; or the caller itself, with all that it waits for."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.entries import ToolCall
from core.history.manager import HistoryManager
from core.outbox import SendClose
from core.slice.builtin.caller import MAX_TEXT_BYTES, Caller, Told, done, failed, is_too_long
from core.slice.builtin.message import not_open
from core.slice.debts import owe_nothing
from core.slice.ending import last_text, shut


def act(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told:  # noqa: ARG001 - one shape for all
    """Close the thread; one that closes itself is shut by `close_itself`, after this call is answered."""
    thread_id, report = arguments["thread_id"], arguments["report_to_parent"]
    if report is not None and is_too_long(report):
        return failed(f"report_to_parent must not be longer than {MAX_TEXT_BYTES:,} bytes as JSON.")
    if thread_id == caller.manager.thread_id:
        return done(closed=thread_id)
    if caller.manager.state.child(thread_id) is None:
        return failed(not_open(caller, thread_id))
    if report is not None:
        return failed("report_to_parent is for closing yourself: leave it out to close a child.")
    caller.manager.draft.send(SendClose(thread_id=thread_id))
    return done(closing=thread_id)


def closing_call(calls: Sequence[tuple[ToolCall, Mapping[str, Any]]], thread_id: str) -> str | None:
    """The id of the first of these valid calls that closes the caller itself."""
    for call, arguments in calls:
        report = arguments.get("report_to_parent")
        if (
            call.name == "close_thread"
            and arguments["thread_id"] == thread_id
            and not is_too_long(report or "")
        ):
            return call.call_id
    return None


def close_itself(manager: HistoryManager, report: str | None) -> None:
    """Shut the thread once its turn's calls are answered: its report, or its last text, goes to its parent."""
    owe_nothing(manager)
    asked_for = report is not None and bool(report.strip())
    shut(manager, report if asked_for else last_text(manager), asked_for=asked_for)
