"""The turn buffer: a completion while it streams. Nothing in it is history until it is flushed."""

import re
from typing import Any

from core.chunks import ArgumentsDelta, CallChunk, Chunk, Completed, ReasoningBlock, ReasoningDelta, TextChunk
from core.entries import Assistant, Entry, Reasoning, ToolCall
from core.errors import MisuseError
from core.ids import call_id
from core.text import canonical_json, clean_json, clean_text, is_deeper_than

_OUTSIDE_NAME = re.compile(r"[^A-Za-z0-9_-]")

MAX_ARGUMENTS_DEPTH = 100
"""As deep as a tool's result may be."""

BufferItem = TextChunk | ReasoningBlock | CallChunk


class TurnBuffer:
    """The pieces of one completion in the order received, consecutive text as one."""

    def __init__(self) -> None:
        self._items: list[BufferItem] = []
        self._complete = False

    @property
    def items(self) -> tuple[BufferItem, ...]:
        return tuple(self._items)

    def add(self, chunk: Chunk) -> None:
        """Take one chunk. Deltas and the final marker add nothing. Raises MisuseError after the final marker."""
        if self._complete and self._items:
            raise MisuseError("the last completion is still in the turn buffer: flush or discard it first")
        match chunk:
            case TextChunk(text=text) if self._items and isinstance(self._items[-1], TextChunk):
                self._items[-1] = TextChunk(self._items[-1].text + text)
            case TextChunk(text=text):
                if text:
                    self._items.append(chunk)
            case ReasoningBlock() | CallChunk():
                self._items.append(chunk)
            case ReasoningDelta() | ArgumentsDelta():
                pass
            case Completed():
                self._complete = bool(self._items)

    def trim(self) -> None:
        """Drop what may not end a turn: trailing reasoning and blank text."""
        while self._items and (isinstance(self._items[-1], ReasoningBlock) or _blank(self._items[-1])):
            self._items.pop()

    def discard(self) -> None:
        self._items.clear()
        self._complete = False

    def as_entries(self, thread_id: str, birth: str, first_seq: int) -> list[Entry]:
        """The turn as numbered entries. Blank text is left out: no model may see a blank block again."""
        kept = [item for item in self._items if not _blank(item)]
        return [_entry(item, thread_id, birth, first_seq + index, index) for index, item in enumerate(kept)]


def _blank(item: BufferItem) -> bool:
    return isinstance(item, TextChunk) and not clean_text(item.text).strip()


def _entry(item: BufferItem, thread_id: str, birth: str, seq: int, position: int) -> Entry:
    match item:
        case TextChunk(text=text):
            return Assistant(seq=seq, text=clean_text(text))
        case ReasoningBlock():
            return Reasoning(
                seq=seq,
                text=_encodable(item.text) if item.signature else clean_text(item.text),
                signature=item.signature,
                redacted=item.redacted,
                model=item.model,
            )
        case CallChunk(name=name, arguments=arguments):
            named = _OUTSIDE_NAME.sub("_", name)[:64] or "unnamed"
            args, raw = _arguments(arguments)
            its_id = call_id(thread_id, birth, seq, position, named, args if raw is None else raw)
            return ToolCall(seq=seq, call_id=its_id, name=named, args=args, raw_args=raw)


def _arguments(arguments: dict[str, Any] | str) -> tuple[dict[str, Any], str | None]:
    if isinstance(arguments, str):
        return {}, clean_text(arguments)
    if is_deeper_than(arguments, MAX_ARGUMENTS_DEPTH):
        return {}, f"(an object nested deeper than {MAX_ARGUMENTS_DEPTH} levels)"
    cleaned: dict[str, Any] = clean_json(arguments)
    try:
        canonical_json(cleaned)
    except (TypeError, ValueError):
        return {}, "(an object that is not JSON)"
    return cleaned, None


def _encodable(text: str) -> str:
    """Signed text stays as it came: its provider compares it. Only lone surrogates cannot be written at all."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
