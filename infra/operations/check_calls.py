"""The rules of calls in a log: each is answered once, after it was made, and no turn begins while one is live."""

from collections.abc import Iterator

from core.commit import Commit
from core.entries import Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, User
from infra.operations.findings import RESTORE, Finding


class CallCheck:
    """Takes the commits of one log in order."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._live: set[str] | None = set()
        """None where a part of the log is missing: then nothing is said until no call is live for certain."""

    def lose(self) -> None:
        """A part of the log is missing."""
        self._live = None

    def take(self, commit: Commit) -> Iterator[Finding]:
        """What is wrong with the entries of the next commit."""
        if self._live is None:
            if commit.snapshot is None:
                return
            self._live = {call.call_id for call in commit.snapshot.live}
            return
        in_turn = False
        for entry in commit.entries:
            begins = isinstance(entry, Assistant | Reasoning | ToolCall) and not in_turn
            in_turn = isinstance(entry, Assistant | Reasoning | ToolCall)
            yield from self._entry(entry, self._live, begins)

    def _entry(self, entry: Entry, live: set[str], begins: bool) -> Iterator[Finding]:
        where = f"entry {entry.seq}"
        if begins and live:
            yield Finding("well-formed", where, f"a turn begins while {_named(live)} has no result", RESTORE)
        match entry:
            case ToolCall(call_id=call_id):
                if call_id in self._known:
                    yield Finding("derived ids", where, f"the call id {call_id} is used again", RESTORE)
                self._known.add(call_id)
                live.add(call_id)
            case ToolResult(call_id=call_id):
                if call_id not in live:
                    what = (
                        "answers it again" if call_id in self._known else "answers a call that was not made"
                    )
                    yield Finding("once", where, f"{what}: {call_id}", RESTORE)
                live.discard(call_id)
            case User() | Event() if live:
                what = f"joins the history while {_named(live)} has no result"
                yield Finding("well-formed", where, what, RESTORE)
            case _:
                pass


def _named(calls: set[str]) -> str:
    return ", ".join(sorted(calls))
