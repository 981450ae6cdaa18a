"""The root's metadata, set by its inputs key by key, bounded."""

from collections.abc import Mapping
from typing import Any

from core.entries import User
from core.errors import Refused
from core.history.manager import HistoryManager
from core.text import canonical_json


def require_room_for_metadata(manager: HistoryManager, values: Mapping[str, Any]) -> None:
    """Raises Refused before a thread's metadata outgrows what every output and call can carry along."""
    if not values:
        return
    known, waiting = manager.metadata, _waiting(manager)
    for kept in ({**known, **values}, {**known, **values, **waiting}, {**known, **waiting, **values}):
        if len(canonical_json(kept)) > MAX_METADATA_BYTES:
            raise Refused(
                "invalid", f"metadata: a thread holds at most {MAX_METADATA_BYTES:,} bytes of it as JSON"
            )


def _waiting(manager: HistoryManager) -> dict[str, Any]:
    """What user text that waits will set when it joins."""
    entries = [deferred.entry for deferred in manager.state.deferred]
    return {
        key: value
        for entry in entries
        if isinstance(entry, User)
        for key, value in (entry.metadata or {}).items()
    }


MAX_METADATA_BYTES = 65_536
"""Of a root's metadata as JSON: it travels in every output and tool call, and must fit one item."""


def set_metadata(manager: HistoryManager, values: Mapping[str, Any]) -> None:
    """Record the keys whose value differs from what is there."""
    known = manager.metadata
    manager.draft.metadata.update(
        {key: value for key, value in values.items() if key not in known or known[key] != value}
    )
