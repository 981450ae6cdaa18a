"""Sources collected for the answer's citations: the first of each URL, bounded."""

from core.history.manager import HistoryManager
from core.sources import Source
from core.text import canonical_json


def add_sources(manager: HistoryManager, sources: tuple[Source, ...]) -> None:
    """Collect sources for the answer: the first of each URL, as many as an answer can carry."""
    by_url: dict[str, Source] = {}
    for source in (*manager.state.sources, *sources):
        by_url.setdefault(source.url, source)
    kept, room = list[Source](), MAX_SOURCES_BYTES
    for source in list(by_url.values())[:MAX_SOURCES]:
        room -= len(canonical_json(source.to_json())) + 1
        if room >= 0:
            kept.append(source)
    manager.draft.set_state(sources=tuple(kept))


MAX_SOURCES = 100
"""Sources of one answer: bounds what a commit records of them."""
MAX_SOURCES_BYTES = 262_144
"""The same, as ASCII-escaped JSON: an answer that its queue cannot carry would be lost with its text."""
