"""`PermanentHistory`: what was said, turn by turn, in the order of time. For authors, not for the slice.

It only grows. Built from a log it is a view: writing to it changes no thread.
"""

from copy import deepcopy
from typing import Any, Literal, TypedDict

from core.blocks import Content, TextBlock
from core.clock import SYSTEM_CLOCK, Clock
from core.entries import Assistant, User
from core.ports import ThreadStore

PAGE_ENTRIES = 500
"""Entries per read: what one page of a store holds of ordinary ones."""

TurnContent = str | list[dict[str, Any]]
"""Text, or JSON blocks where there is more than text."""


class Turn(TypedDict):
    """What one side said."""

    role: Literal["user", "assistant"]
    content: TurnContent
    timestamp: float
    """UNIX seconds of its newest content; never less than that of the turn before."""
    metadata: dict[str, Any]


class PermanentHistory:
    """An append-only, chronological list of turns."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._turns: list[Turn] = []

    @classmethod
    async def from_thread(
        cls, store: ThreadStore, thread_id: str, *, clock: Clock = SYSTEM_CLOCK
    ) -> "PermanentHistory":
        """What people and the model said in a thread, summaries notwithstanding. Reads the log page by page.

        Calls, results, events and reasoning are no turns. Empty for a thread that does not exist. Raises
        StoreUnavailable, UnreadableRecord.
        """
        history, after_seq = cls(clock), 0
        while entries := await store.entries(thread_id, after_seq, PAGE_ENTRIES):
            for entry in entries:
                timestamp = entry.at.timestamp() if entry.at else 0.0
                match entry:
                    case User(content=content, metadata=metadata):
                        history._add_user(_turn_content(content), metadata, timestamp)
                    case Assistant(text=text):
                        history._append("assistant", text, {}, timestamp)
                    case _:
                        pass
            after_seq = entries[-1].seq
        return history

    def add_turn_user(self, content: TurnContent, metadata: dict[str, Any] | None = None) -> None:
        """Add what the user said: to the previous turn, if that is the user's and `metadata` is None; else a new one.

        Texts are joined by a line break. Any metadata, an empty dict included, starts a new turn.
        """
        self._add_user(content, metadata, self._now())

    def add_turn_assistant(self, content: TurnContent, metadata: dict[str, Any] | None = None) -> None:
        """Add a turn of the assistant; always a new one."""
        self._append("assistant", content, metadata or {}, self._now())

    def get_all_turns(self) -> list[Turn]:
        """All turns, oldest first: a deep copy."""
        return deepcopy(self._turns)

    def get_turns_since(self, timestamp: float) -> list[Turn]:
        """The turns with content newer than `timestamp` (UNIX seconds, exclusive): a deep copy."""
        return deepcopy([turn for turn in self._turns if turn["timestamp"] > timestamp])

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _add_user(self, content: TurnContent, metadata: dict[str, Any] | None, timestamp: float) -> None:
        last = self._turns[-1] if self._turns else None
        if last is None or last["role"] != "user" or metadata is not None:
            self._append("user", content, metadata or {}, timestamp)
            return
        last["content"] = _joined(last["content"], deepcopy(content))
        last["timestamp"] = max(last["timestamp"], timestamp)

    def _append(
        self,
        role: Literal["user", "assistant"],
        content: TurnContent,
        metadata: dict[str, Any],
        timestamp: float,
    ) -> None:
        """A clock that was set back makes no turn older than the one before."""
        newest = self._turns[-1]["timestamp"] if self._turns else timestamp
        turn = Turn(role=role, content=content, timestamp=max(newest, timestamp), metadata=metadata)
        self._turns.append(deepcopy(turn))


def _joined(first: TurnContent, second: TurnContent) -> TurnContent:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}"
    return [*_as_blocks(first), *_as_blocks(second)]


def _as_blocks(content: TurnContent) -> list[dict[str, Any]]:
    return [TextBlock(text=content).to_json()] if isinstance(content, str) else content


def _turn_content(content: Content) -> TurnContent:
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    if len(texts) == len(content):
        return "\n".join(texts)
    return [block.to_json() for block in content]
