"""Making any sequence of messages one that providers take: roles alternate, every call is answered where it must be.

For what authors append, in whatever order their results came. The log of a thread needs none of it (*well-formed*).
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.document_names import name_documents
from core.ids import NAME, digest
from core.media import decode_base64
from core.request import (
    CallPart,
    JsonObject,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultContent,
    ResultPart,
    Role,
    joined,
)
from core.state.exports.media import limit_media, note
from core.tools.content import NO_OUTPUT

UNANSWERED = "(there is no result yet)"
OPENING = "(the conversation begins)"
MOST_ID_CHARACTERS = 40
"""The strictest provider's."""


@dataclass(slots=True)
class _Call:
    part: CallPart
    result: ResultPart | None = None


@dataclass(slots=True)
class _Run:
    """What one side says before the other does."""

    role: Role
    parts: list[Part] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)


def well_formed(messages: Sequence[RequestMessage], opening: str = "") -> tuple[RequestMessage, ...]:
    """The messages as every provider takes them; the last may be the assistant's. Empty for nothing.

    A result goes to its call, wherever it was appended; a call without one is answered so, an answer without a call
    becomes text. What would be refused is left out (blank text, reasoning that nobody signed) or replaced by a note.
    `opening` is what the user said, should the assistant begin.
    """
    pairing = _Pairing()
    for message in messages:
        for part in message.parts:
            pairing.add(message.role, part)
    made = joined([message for message in pairing.messages() if message.parts])
    if made and made[0].role == "assistant":
        made = (RequestMessage("user", (TextBlock(text=opening if opening.strip() else OPENING),)), *made)
    return name_documents(limit_media(made))


class _Pairing:
    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._open: dict[str, list[_Call]] = {}
        self._ids: set[str] = set()

    def add(self, role: Role, part: Part) -> None:
        match part:
            case CallPart(call_id=call_id):
                call = _Call(self._renamed(part))
                run = self._run("assistant")
                run.calls.append(call)
                run.parts.append(call.part)
                self._open.setdefault(call_id, []).append(call)
            case ResultPart(call_id=call_id):
                self._answer(self._open.get(call_id), part)
            case TextBlock(text=text) if not text.strip():
                pass
            case ReasoningPart() if role == "user" or not _is_known_again(part):
                pass
            case ImageBlock() | DocumentBlock() if role == "assistant":
                self._run(role).parts.append(note(part, "the assistant cannot show any"))
            case _:
                self._run(role).parts.append(part)

    def messages(self) -> Iterator[RequestMessage]:
        """Runs of one role may still follow each other."""
        for run in self._runs:
            while run.parts and isinstance(run.parts[-1], ReasoningPart):
                run.parts.pop()
            yield RequestMessage(run.role, tuple(run.parts))
            if run.calls:
                yield RequestMessage("user", tuple(map(_answered, run.calls)))

    def _run(self, role: Role) -> _Run:
        if not self._runs or self._runs[-1].role != role:
            self._runs.append(_Run(role))
        return self._runs[-1]

    def _answer(self, waiting: list[_Call] | None, result: ResultPart) -> None:
        if not waiting:
            for content in result.content:
                self.add("user", _as_input(content))
            return
        call = waiting.pop(0)
        call.result = result
        if any(call is last for last in self._runs[-1].calls):
            self._run("user")

    def _renamed(self, call: CallPart) -> CallPart:
        """Under an id that every provider takes and no other call has."""
        call_id, number = call.call_id, 0
        while call_id in self._ids or not NAME.fullmatch(call_id) or len(call_id) > MOST_ID_CHARACTERS:
            number += 1
            call_id = "call_" + digest("export", call.call_id, len(self._ids), number)
        self._ids.add(call_id)
        return replace(call, call_id=call_id, name=re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "tool")


def _answered(call: _Call) -> ResultPart:
    """The one answer of a call: never blank, never without content."""
    named = ResultPart(call.part.call_id, call.part.name, ())
    if call.result is None:
        return replace(named, content=(TextBlock(text=UNANSWERED),), is_error=True)
    kept = tuple(
        one for one in call.result.content if not (isinstance(one, TextBlock) and not one.text.strip())
    )
    return replace(named, content=kept or (TextBlock(text=NO_OUTPUT),), is_error=call.result.is_error)


def _is_known_again(reasoning: ReasoningPart) -> bool:
    """Whether its provider takes it back: signed, or redacted and undamaged."""
    if reasoning.redacted is not None:
        return bool(decode_base64(reasoning.redacted))
    return bool(reasoning.signature)


def _as_input(content: ResultContent) -> Part:
    if isinstance(content, JsonObject):
        return TextBlock(text=json.dumps(content.data, ensure_ascii=False))
    return content
