"""The open threads below one, drawn as a tree: each in a line, and what it waits for under it.

Only those that a thread's fold still has open: the closed ones are many, and told in the turns that spawned them.
"""

from collections.abc import AsyncIterator
from datetime import datetime

from core.errors import UnreadableRecord
from infra.log_reader import LogReader
from infra.operations import view_state
from infra.operations.shown import line

MOST = 200
"""Threads of one tree that are drawn."""


async def branches(reader: LogReader, thread_id: str, now: datetime) -> AsyncIterator[str]:
    """The lines of the tree, the thread itself first. One load for each thread."""
    drawn = 0
    waiting: list[tuple[str, str, bool]] = [(thread_id, "", True)]
    while waiting:
        one, margin, last = waiting.pop()
        drawn += 1
        if drawn > MOST:
            yield f"{margin}… {len(waiting) + 1} more"
            return
        below = f"{margin}{'   ' if last else '│  '}" if drawn > 1 else ""
        try:
            loaded = await reader.load(one)
        except UnreadableRecord as error:
            yield f"{margin}{'└─ ' if last else '├─ '}{one}: cannot be loaded ({line(str(error))})"
            continue
        edge = ("└─ " if last else "├─ ") if drawn > 1 else ""
        yield f"{margin}{edge}{view_state.head(one, loaded)}"
        children = [child.thread_id for child in loaded.folded.state.children]
        for wait in view_state.waits(one, loaded, now):
            yield f"{below}{'│' if children else ' '}    {wait}"
        waiting += [(child, below, index == 0) for index, child in enumerate(reversed(children))]
