"""What a tool's run leaves for the thread: `ToolResult`, written by authors who need control, made for all others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.blocks import Content, text_content
from core.sources import Source
from core.text import clean_json
from core.tools.content import UnsupportedResult, plain_json, to_content


@dataclass(frozen=True, init=False)
class ToolResult:
    """A result as the thread will record it. `content` is anything a tool may return; it is kept as blocks.

    Raises UnsupportedResult if content or state patch cannot be JSON.
    """

    content: Content
    is_error: bool
    """Told to the model; the call is answered all the same."""
    subscription: bool
    """Opens a subscription: later `subscription_event` messages for this call are accepted."""
    sources: tuple[Source, ...]
    state_patch: dict[str, Any] | None
    """A JSON merge patch (RFC 7386) of the thread's state."""

    def __init__(
        self,
        content: object,
        is_error: bool = False,
        subscription: bool = False,
        sources: Iterable[Source] = (),
        state_patch: Mapping[str, Any] | None = None,
    ) -> None:
        values = {
            "content": to_content(content),
            "is_error": is_error,
            "subscription": subscription,
            "sources": tuple(sources),
            "state_patch": None if state_patch is None else clean_json(plain_json(dict(state_patch))),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)


def to_result(value: object) -> ToolResult:
    """The result for what a tool returned; an error result that names the type if it is not representable."""
    if isinstance(value, ToolResult):
        return value
    try:
        return ToolResult(value)
    except UnsupportedResult as exc:
        return error_result(str(exc))


def error_result(text: str) -> ToolResult:
    """An error told to the model in `text`."""
    return ToolResult(text_content(text), is_error=True)
