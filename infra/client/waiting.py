"""Waiting for the answer to a message, by reading the table.

where the message was taken in  →  forward from there, page by page  →  the end of its debt: an outcome
                                                                     →  nothing yet: what the thread waits for
Later looks ask only for commits behind the last one read: one request while nothing new is there, and one more as long
as the message has not been taken in (what was refused lies apart, in no thread).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from core.changes import Closed
from core.clock import Clock
from core.commit import Commit
from core.messages import InputKey
from core.parsing import thread_of
from core.ports import ParkedBody
from infra.client.awaited import awaited
from infra.client.endings import Search
from infra.client.outcomes import Answered, AwaitedAnswer, Ended, NotAccepted, Outcome, Queued, Waiting
from infra.client.sending import Sent
from infra.log_reader import LogReader

FIRST_PAUSE_SECONDS: Final = 0.1
BRISK_SECONDS: Final = 2.0
"""Up to here each pause is half as long again as the one before, from here on a twentieth: an answer that comes after
minutes is seen a few seconds late.
"""
LONGEST_PAUSE_SECONDS: Final = 30.0
PAGE_COMMITS: Final = 16
PARKED_LOOKED_AT: Final = 20
"""The newest parked bodies that a look goes through."""
CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""By how much this machine's clock may be ahead of the queue's."""
REMEMBERED: Final = 1_000
"""Messages and questions that a client keeps in mind."""
CONFLICT = "message_id: user_message with this id and another body was accepted"
CLOSED = "thread_id: this thread is closed"


@dataclass(frozen=True, slots=True)
class Asked:
    """The message whose answer is waited for."""

    thread_id: str
    message_id: str
    sent: Sent | None = None
    """None: not by this client."""

    @property
    def key(self) -> InputKey:
        return InputKey("user_message", self.message_id)


class QuestionsTold:
    """The questions that a client has told of: each is reason to stop waiting once. Who has answered one waits on."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str, str], None] = {}

    def has_news(self, so_far: Waiting | Queued | NotAccepted) -> bool:
        """Whether a person is asked something that was not told before; from now on it was."""
        if not isinstance(so_far, Waiting):
            return False
        asked = [one for one in so_far.awaits if isinstance(one, AwaitedAnswer)]
        new = [
            key for one in asked if (key := (so_far.thread_id, one.call_id, one.asked_by)) not in self._told
        ]
        self._told |= dict.fromkeys(new)
        while len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
        return bool(new)


class Wait:
    """One wait for one message. Keeps what it has read, so that nothing is read twice."""

    def __init__(self, reader: LogReader, clock: Clock, asked: Asked, told: QuestionsTold) -> None:
        self._reader = reader
        self._clock = clock
        self._asked = asked
        self._told = told
        self._search = Search(asked.thread_id, asked.message_id)
        self._read_to: int | None = None
        """Number of the last commit read; None before the first look."""
        self._taken_in = self._closed = False
        self._erased_seq = 0
        self._end: Answered | Ended | NotAccepted | None = None
        self._so_far: Waiting | Queued | NotAccepted = Queued(
            thread_id=asked.thread_id, message_id=asked.message_id
        )

    async def until_answered(self, timeout_seconds: float) -> Outcome:
        """The outcome as soon as it is final, or a person is newly asked; else, at the timeout, how things stand."""
        give_up_at = self._clock.now() + timedelta(seconds=max(0.0, timeout_seconds))
        pause_seconds = FIRST_PAUSE_SECONDS
        while True:
            fresh = await self._look()
            if self._end is not None:
                return self._end
            left_seconds = (give_up_at - self._clock.now()).total_seconds()
            if left_seconds <= 0 or self._told.has_news(self._so_far):
                return self._so_far
            pause_seconds = FIRST_PAUSE_SECONDS if fresh else _longer(pause_seconds)
            await self._clock.sleep(min(pause_seconds, left_seconds))

    async def _look(self) -> bool:
        """Read what is new; whether anything was."""
        if self._read_to is None:
            self._read_to = await self._begin()
        fresh = await self._read_on(self._read_to)
        if self._end is None and not self._taken_in:
            await self._look_whether_refused()
        elif self._end is None and fresh:
            await self._look_what_it_waits_for()
        return fresh

    async def _begin(self) -> int:
        """The number of the commit before the one that consumed the message; of the newest, if none has.

        The newest commit first: whatever one before it consumed has its marker (*settle before next*).
        """
        asked = self._asked
        newest = await self._reader.newest(asked.thread_id)
        if newest is None:
            return 0
        self._erased_seq = newest.erased_seq or 0
        if newest.consumes(asked.key):
            return newest.number - 1
        number = await self._reader.taken_in(asked.thread_id, asked.key)
        if number is not None:
            self._taken_in = True  # and stays known so when the commit itself is erased
            return number - 1
        self._closed = (await self._reader.load(asked.thread_id)).folded.state.closed
        return newest.number

    async def _read_on(self, read_to: int) -> bool:
        fresh = False
        while self._end is None:
            page = await self._reader.page(self._asked.thread_id, read_to + 1, PAGE_COMMITS)
            for commit in page.commits:
                self._take(commit)
                self._read_to = read_to = commit.number
                fresh = True
            if not page.more:
                break
        return fresh

    def _take(self, commit: Commit) -> None:
        self._closed = self._closed or any(isinstance(change, Closed) for change in commit.changes)
        consumed = commit.consumes(self._asked.key)
        self._taken_in = self._taken_in or consumed is not None
        sent = self._asked.sent
        if consumed is not None and sent is not None and consumed.body_digest != sent.body_digest:
            self._end = self._refused("conflict", CONFLICT)
        elif self._taken_in and self._end is None and commit.first_seq > self._erased_seq:
            self._end = self._search.see(commit)

    async def _look_what_it_waits_for(self) -> None:
        """How the thread stands after the last commit read; what came meanwhile is read first."""
        while self._end is None:
            folded = (await self._reader.load(self._asked.thread_id)).folded
            self._so_far = Waiting(
                thread_id=self._asked.thread_id,
                message_id=self._asked.message_id,
                seq=folded.state.last_seq,
                awaits=awaited(folded.state, folded.entries),
            )
            if folded.state.number == self._read_to:
                return
            await self._read_on(self._read_to or 0)

    async def _look_whether_refused(self) -> None:
        if self._closed:
            self._end = self._refused("closed", CLOSED)
            return
        for parked in await self._reader.parked_lately(PARKED_LOOKED_AT):
            if thread_of(parked.body) == (self._asked.thread_id, self._asked.message_id):
                code, _, reason = parked.reason.partition(": ")
                refused = self._refused(code, reason)
                if self._is_of_this_sending(parked):
                    self._end = refused
                self._so_far = refused
                return

    def _is_of_this_sending(self, parked: ParkedBody) -> bool:
        """The same body parks once: what is sent again after a refusal leaves no second trace."""
        sent = self._asked.sent
        return sent is None or (not sent.again and parked.first_seen > sent.at - CLOCKS_DIFFER)

    def _refused(self, code: str, reason: str) -> NotAccepted:
        asked = self._asked
        return NotAccepted(thread_id=asked.thread_id, message_id=asked.message_id, code=code, reason=reason)


def _longer(pause_seconds: float) -> float:
    return min(pause_seconds * (1.5 if pause_seconds < BRISK_SECONDS else 1.05), LONGEST_PAUSE_SECONDS)
