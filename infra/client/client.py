"""`AgentClient`: what a program that talks to agents needs of a stack. Writes to the input queue, reads the table.

Only puts the parts together: sending, waiting, following, turns and trees have a file each.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from core.clock import SYSTEM_CLOCK, Clock
from core.entries import Entry
from core.errors import MisuseError
from core.ids import THREAD_IDS, is_thread_id
from core.ports import Dispatcher
from infra.client.following import follow
from infra.client.ids import NewId, new_id
from infra.client.opening import DrivenClock, LocalStack, parts_of
from infra.client.outcomes import Outcome
from infra.client.sending import OnBusy, Sent, UserText, WireContent, send_text
from infra.client.tree import ThreadNode, tree
from infra.client.turns import Turn, turns
from infra.client.waiting import REMEMBERED, Asked, QuestionsTold, Wait
from infra.log_reader import LogReader
from infra.stack import find_stack


class AgentClient:
    """Talks to the threads of one stack, in one event loop. Several clients of one stack do not disturb each other.

    `dispatcher` sends to the queue `input`, and to no other. The parts belong to whoever made them: `of_stack` and
    `local` open and close them. Reads raise StoreUnavailable, UnreadableRecord; MisuseError at once for an id that no
    thread can have: whoever waits for a thread to come would wait for ever.
    """

    def __init__(
        self,
        reader: LogReader,
        dispatcher: Dispatcher,
        *,
        clock: Clock = SYSTEM_CLOCK,
        ids: NewId = new_id,
    ) -> None:
        self._reader = reader
        self._dispatcher = dispatcher
        self._clock = clock
        self._ids = ids
        self._sent: dict[tuple[str, str], Sent] = {}
        self._told = QuestionsTold()

    @staticmethod
    @asynccontextmanager
    async def of_stack(
        name: str, region: str | None = None, *, endpoint_url: str | None = None, clock: Clock = SYSTEM_CLOCK
    ) -> AsyncIterator["AgentClient"]:
        """A client of a deployed stack; with `endpoint_url`, of a local one. Raises SettingsError.

        It needs `cloudformation:DescribeStacks`, `sqs:SendMessage` on the input queue, `dynamodb:Query`, `GetItem` and
        `BatchGetItem` on the table, and `s3:GetObject` on the payload bucket.
        """
        stack = await asyncio.to_thread(find_stack, name, region, endpoint_url)
        async with parts_of(stack, clock) as (reader, dispatcher):
            yield AgentClient(reader, dispatcher, clock=clock)

    @staticmethod
    @asynccontextmanager
    async def local(local: LocalStack) -> AsyncIterator["AgentClient"]:
        """A client of a `LocalTorpor`. Whoever waits lets the stack run, and its time pass."""
        clock = DrivenClock(local)
        async with AgentClient.of_stack("local", endpoint_url=local.endpoint_url, clock=clock) as client:
            yield client

    async def send(
        self,
        thread_id: str,
        content: WireContent,
        message_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        on_busy: OnBusy | None = None,
        agent: str | None = None,
    ) -> str:
        """Put a user message on the input queue; returns its id. Sent again under its id it is answered once.

        Raises Refused for what no thread would take, Unsendable, QueueUnavailable if it may not have arrived: send it
        again then, with an id of your own.
        """
        message = UserText(
            thread_id,
            content,
            self._ids() if message_id is None else message_id,
            metadata,
            on_busy,
            agent,
        )
        sent = await send_text(self._dispatcher, message, self._clock.now(), self._ids())
        self._remember((thread_id, message.message_id), sent)
        return message.message_id

    async def wait(self, thread_id: str, message_id: str, timeout_seconds: float) -> Outcome:
        """What became of a user message: its answer, as soon as there is one, its end without one, or its refusal.

        A question to a person is told at once too (`Waiting`), once by each client: whoever has answered it waits on.
        What else the thread waits for is told at the timeout. Any program may wait, and again: the answer stays.
        """
        _check(thread_id)
        asked = Asked(thread_id, message_id, self._sent.get((thread_id, message_id)))
        return await Wait(self._reader, self._clock, asked, self._told).until_answered(timeout_seconds)

    def follow(self, thread_id: str, after_seq: int = 0) -> AsyncGenerator[Entry, None]:
        """The thread's own entries behind `after_seq`, and those still to come, until it is closed.

        Whoever reconnects with the `seq` of the last entry seen misses none and gets none twice.
        """
        _check(thread_id)
        return follow(self._reader, self._clock, thread_id, after_seq)

    def turns(self, thread_id: str, after_seq: int = 0) -> AsyncGenerator[Turn, None]:
        """The thread's turns so far, oldest first, read as they are asked for."""
        _check(thread_id)
        return turns(self._reader, thread_id, after_seq)

    async def tree(self, thread_id: str) -> ThreadNode:
        """The thread with its children, open and closed, and theirs."""
        _check(thread_id)
        return await tree(self._reader, thread_id)

    def _remember(self, key: tuple[str, str], sent: Sent) -> None:
        again = self._sent.pop(key, None) is not None
        self._sent[key] = Sent(sent.body_digest, sent.at, again)
        while len(self._sent) > REMEMBERED:
            del self._sent[next(iter(self._sent))]


def _check(thread_id: str) -> None:
    """Raises MisuseError."""
    if not is_thread_id(thread_id):
        raise MisuseError(f"no thread can be named {thread_id!r}: {THREAD_IDS}")
