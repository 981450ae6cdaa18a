"""The application's own messages in a thread's log: all that no summary covers, and of older ones the newest per role.

Apart from the manager because no model sees them, and a compaction must not take from an application what it asks for:
`get_latest_message(role)` answers at any age of the thread (invariant *bounded*: it keeps no more than that).
"""

from collections.abc import Iterable

from core.entries import AppEntry
from core.history.draft import ThreadDraft
from core.thread import Inherited, Summary

KEPT_ROLES = 20
"""Of the messages under a summary, the newest of this many roles stay, those last used."""


def app_entries(draft: ThreadDraft, inherited: Inherited) -> tuple[AppEntry, ...]:
    """What the thread's application has said, oldest first. A fork goes on with its source's; a child begins anew."""
    return (*_from_source(draft, inherited), *draft.state.app_kept, *_app(draft.history))


def kept_under(summary: Summary, draft: ThreadDraft, inherited: Inherited) -> tuple[AppEntry, ...]:
    """What stays of the messages that `summary` will cover, oldest first."""
    covered = (entry for entry in _app(draft.history) if entry.seq <= summary.up_to_seq)
    newest: dict[str, AppEntry] = {}
    for entry in (*_from_source(draft, inherited), *draft.state.app_kept, *covered):
        newest.pop(entry.role, None)
        newest[entry.role] = entry
    return tuple(newest.values())[-KEPT_ROLES:]


def _from_source(draft: ThreadDraft, inherited: Inherited) -> tuple[AppEntry, ...]:
    if draft.state.origin.forked_from is None:
        return ()
    return (*inherited.app_kept, *_app(inherited.entries))


def _app(entries: Iterable[object]) -> list[AppEntry]:
    return [entry for entry in entries if isinstance(entry, AppEntry)]
