"""Fields of a state that are views of its thread: shown in every slice, never stored with the state.

The log has it all; what an author adds to such a field goes where it belongs in the log, or is refused.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from core.blocks import Content, JsonBlock, TextBlock, Value
from core.entries import AppEntry
from core.errors import MisuseError
from core.request import RequestMessage
from core.sources import Source
from core.text import clean_json, clean_text, wire_json
from core.tools.content import UnsupportedResult, plain_json

MAX_MESSAGE_BYTES = 65_536
"""Of a message of the application as JSON: the newest of each role is kept at any age of the thread."""


class AppMessage(Value):
    """An application's own message: an entry of kind `app`, which no model is shown."""

    role: str
    content: Any = None
    """Text, or any other JSON value."""

    @classmethod
    def of(cls, role: str, content: object) -> "AppMessage":
        """As it will be read back. Raises MisuseError if `content` is not JSON, or the message is too long."""
        try:
            message = cls(role=clean_text(role), content=clean_json(plain_json(content)))
        except UnsupportedResult as error:
            what = str(error).replace("the tool returned", "it holds")
            raise MisuseError(f"a message's content is text or other JSON: {what}") from error
        if (size := len(wire_json(message.to_json()))) > MAX_MESSAGE_BYTES:
            raise MisuseError(f"a message has at most {MAX_MESSAGE_BYTES:,} bytes as JSON, not {size:,}")
        return message

    def entry(self) -> AppEntry:
        """What the log keeps of it."""
        whole = (
            TextBlock(text=self.content) if isinstance(self.content, str) else JsonBlock(data=self.content)
        )
        return AppEntry(role=self.role, content=(whole,))

    @classmethod
    def read(cls, entry: AppEntry) -> "AppMessage":
        """The message of an entry."""
        return cls(role=entry.role, content=_value(entry.content))


def _value(content: Content) -> Any:
    match content:
        case (TextBlock(text=text),):
            return text
        case (JsonBlock(data=data),):
            return deepcopy(data)
        case _:
            return [block.to_json() for block in content]


@dataclass(frozen=True, slots=True)
class ThreadView:
    """What of a thread its state shows."""

    messages: tuple[RequestMessage, ...] = ()
    """What the model is given, history processors included."""
    app: tuple[AppMessage, ...] = ()
    """Of the entries that no summary covers, and the newest of each role before them."""
    sources: tuple[Source, ...] = ()
    """Collected since the last accepted user text."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How one field is filled in, and what becomes of what an author adds to it."""

    show: Callable[[ThreadView], Any]
    adds: Literal["app", "sources"] | None = None
    """To what of the thread. None: nobody adds to it."""


def rebuilt_fields(state_type: type[Any]) -> Mapping[str, Rebuilt]:
    """By name, the fields of a state type that are views: those it declares, and `message_history` in any other."""
    declared: Mapping[str, Rebuilt] = getattr(state_type, "rebuilt", {})
    fields = getattr(state_type, "model_fields", None) or getattr(state_type, "__dataclass_fields__", {})
    if "message_history" in fields:
        return {"message_history": MESSAGE_HISTORY, **declared}
    return declared


def _message_history(view: ThreadView) -> list[RequestMessage]:
    return deepcopy(list(view.messages))


MESSAGE_HISTORY = Rebuilt(show=_message_history)
APP_MESSAGES = Rebuilt(show=lambda view: list(view.app), adds="app")
SOURCES = Rebuilt(show=lambda view: list(view.sources), adds="sources")
