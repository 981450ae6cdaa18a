"""What a forest's threads must show, by the plain model: the summary that covers most, and the rest."""

from core.entries import Assistant, Entry, Event, ToolResult, User
from core.history import HistoryManager
from core.render import with_placeholder
from core.thread import Hidden
from tests.support.forest import Forest, Known

BLOCKABLE = (User, Assistant, ToolResult, Event)


def check_thread(forest: Forest, thread_id: str, manager: HistoryManager) -> None:
    """`manager`: of a container that has not read what the thread inherits."""
    view = forest.views[thread_id]
    covered, summary = _covered(forest, view)
    assert (manager.summary.text if manager.summary else None) == summary
    shown, expected = manager.history, view[covered:]
    assert [entry.seq for entry in shown] == [known.entry.seq for known in expected]
    for entry, known in zip(shown, expected, strict=True):
        assert entry in _allowed(forest, thread_id, known), (entry, known)


def _covered(forest: Forest, view: list[Known]) -> tuple[int, str | None]:
    """How many entries the furthest summary stands for, and its text. The later of two as far counts."""
    places = {(known.thread_id, known.entry.seq): index + 1 for index, known in enumerate(view)}
    fitting = [
        (places[thread_id, summary.up_to_seq], order, summary.text)
        for order, (thread_id, summary) in enumerate(forest.summaries)
        if (thread_id, summary.up_to_seq) in places
    ]
    covered, _, text = max(fitting, default=(0, 0, None))
    return covered, text


def _allowed(forest: Forest, thread_id: str, known: Known) -> list[Entry]:
    """How an entry may stand there. An own one is whole: it is hidden when it is rendered. An inherited one must be
    hidden if its thread had hidden it by the commit that holds the cutoff, and may be if it did so later.
    """
    hides = [
        (number, hidden)
        for hider, number, hidden in forest.hides
        if (hider, hidden.seq) == (known.thread_id, known.entry.seq)
    ]
    if known.thread_id == thread_id or not hides:
        return [known.entry]
    last = max(one.commit for one in forest.views[thread_id] if one.thread_id == known.thread_id)
    placeholder = with_placeholder(known.entry, Hidden(seq=known.entry.seq, what="all"))
    must = any(number <= last for number, _ in hides)
    return [placeholder] if must else [placeholder, known.entry]
