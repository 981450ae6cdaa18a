"""`LogReader`: what those who watch threads from outside ask of a store, beside what slices do.

Apart from the port of the core because no slice needs it: the client and the command line do. Both stores keep it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.commit import Commit
from core.messages import InputKey
from core.ports import LoadedThread, ParkedBody


@dataclass(frozen=True, slots=True)
class LogPage:
    """Consecutive commits of one log, oldest first, large values filled in."""

    commits: tuple[Commit, ...] = ()
    more: bool = False
    """Whether the log may go on behind them."""


class LogReader(Protocol):
    """Reads logs. Strongly consistent; a log that is not there is empty.

    Every method raises StoreUnavailable, and UnreadableRecord for a record of a newer version or a damaged one.
    """

    async def load(self, thread_id: str, keys: Sequence[InputKey] = ()) -> LoadedThread:
        """As `core.ports.ThreadStore`. Of a thread that is kept warm only what is new is read."""
        ...

    async def newest(self, thread_id: str) -> Commit | None:
        """The newest commit, whether or not it is settled. One request."""
        ...

    async def page(self, thread_id: str, number: int, limit: int) -> LogPage:
        """Commits from `number` on, at most `limit`; fewer where they are large, none only behind the last one.

        One request, payloads apart; more only where a long log was erased.
        """
        ...

    async def commit_holding(self, thread_id: str, seq: int) -> int:
        """The number of the last commit that begins at or before entry `seq`; 1 for an empty log."""
        ...

    async def taken_in(self, thread_id: str, key: InputKey) -> int | None:
        """The number of the commit that consumed this input, as its marker says: written before the next commit is,
        kept 60 days. One request.
        """
        ...

    async def parked_lately(self, limit: int) -> tuple[ParkedBody, ...]:
        """The newest parked bodies of all threads, newest first. One request."""
        ...
