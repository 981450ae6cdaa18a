"""Rendering: a thread's history as the alternating messages a model is given. A pure function that never repairs.

What is stored is well-formed (invariant *well-formed*), so all there is to do is grouping by role, putting results
first in call order, and bounding what is shown of a long result.
"""

import json
from collections.abc import Sequence
from typing import assert_never

from core.blocks import Block, Content, DocumentBlock, ImageBlock, JsonBlock, StoredBlock, TextBlock
from core.document_names import name_documents
from core.entries import AppEntry, Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, TurnEnd, User
from core.ids import digest
from core.request import (
    CallPart,
    JsonObject,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultContent,
    ResultPart,
    Role,
)
from core.thread import Hidden, Summary
from core.tools.names import EVENT_TOOL_NAME

MEDIA = (ImageBlock, DocumentBlock)
BLOCKED_NOTE = "[This content was blocked by a content filter and is left out.]"
REFUSED_NOTE = "[An image or document was left out: the model refused the request that held it.]"
LONG_CHARACTERS = 2_000
"""What later requests show of an entry with which one was too long for its model."""
SUMMARY_HEAD = "Summary of the conversation so far:\n"
PINNED_HEAD = "Kept word for word:\n"


def render(
    history: Sequence[Entry],
    *,
    summary: Summary | None = None,
    model: str = "",
    result_characters: int = 100_000,
    hidden: Sequence[Hidden] = (),
) -> tuple[RequestMessage, ...]:
    """The messages of a request. `model` decides which reasoning may be sent back: a model takes only its own, and
    only what it can know again, by signature or redacted.

    At most `result_characters` of each result are shown; what is cut is said in its place, and so is what is `hidden`.
    """
    runs: list[tuple[Role, list[Part]]] = []
    names = {entry.call_id: entry.name for entry in history if isinstance(entry, ToolCall)}
    if summary is not None:
        pinned = PINNED_HEAD + summary.pinned + "\n\n" if summary.pinned else ""
        runs.append(("user", [TextBlock(text=pinned + SUMMARY_HEAD + summary.text)]))
    placeholders = {one.seq: one for one in hidden}
    for entry in history:
        shown = with_placeholder(entry, placeholders.get(entry.seq))
        for role, parts in _rendered(shown, model, names, result_characters):
            if runs and runs[-1][0] == role:
                runs[-1][1].extend(parts)
            elif parts:
                runs.append((role, list(parts)))
    return name_documents(
        [RequestMessage(role, _in_order(runs, index)) for index, (role, _) in enumerate(runs)]
    )


def plain_text(content: Content) -> str:
    """What of the content is text, for those who are shown nothing else."""
    shown = (_shown(block) for block in content)
    return "\n".join(part.text for part in shown if isinstance(part, TextBlock))


def holds_media(entry: Entry) -> bool:
    """Whether an input holds an image or a document."""
    return isinstance(entry, User | ToolResult | Event) and any(isinstance(b, MEDIA) for b in entry.content)


def is_long(entry: Entry) -> bool:
    """Whether an input has more than LONG_CHARACTERS."""
    if not isinstance(entry, User | ToolResult | Event):
        return False
    return sum(_size(_result_part(block)) for block in entry.content) > LONG_CHARACTERS


def with_placeholder(entry: Entry, hidden: Hidden | None) -> Entry:
    """The entry as later requests see it."""
    if hidden is not None and isinstance(entry, Assistant):
        return entry.model_copy(update={"text": BLOCKED_NOTE})
    if hidden is None or not isinstance(entry, User | ToolResult | Event):
        return entry
    if hidden.what == "all":
        return entry.model_copy(update={"content": (TextBlock(text=BLOCKED_NOTE),)})
    kept: Content = tuple(TextBlock(text=REFUSED_NOTE) if isinstance(b, MEDIA) else b for b in entry.content)
    return entry.model_copy(update={"content": _beginning(kept) if hidden.what == "long" else kept})


def _beginning(content: Content) -> Content:
    """At most LONG_CHARACTERS of content without media, as text, with a note in place of the rest."""
    shown = result_content(tuple(_shown(block) for block in content), LONG_CHARACTERS)
    return tuple(part for part in shown if isinstance(part, TextBlock))


def _in_order(runs: list[tuple[Role, list[Part]]], index: int) -> tuple[Part, ...]:
    """A user message's results first, in the order of the calls before it; everything else as it is."""
    role, parts = runs[index]
    if role == "assistant" or index == 0:
        return tuple(parts)
    calls = [part.call_id for part in runs[index - 1][1] if isinstance(part, CallPart)]
    place = {call_id: position for position, call_id in enumerate(calls)}
    results = [part for part in parts if isinstance(part, ResultPart)]
    results.sort(key=lambda result: place.get(result.call_id, len(place)))
    return (*results, *(part for part in parts if not isinstance(part, ResultPart)))


def _rendered(
    entry: Entry, model: str, names: dict[str, str], limit: int
) -> tuple[tuple[Role, tuple[Part, ...]], ...]:
    match entry:
        case User(content=content):
            return (("user", tuple(_shown(block) for block in content)),)
        case Assistant(text=text):
            return (("assistant", (TextBlock(text=text),)),)
        case Reasoning():
            own = entry.model in ("", model) and (entry.signature or entry.redacted)
            part = ReasoningPart(entry.text, entry.signature, entry.redacted)
            return (("assistant", (part,)),) if own else ()
        case ToolCall(call_id=call_id, name=name, args=args):
            return (("assistant", (CallPart(call_id, name, args),)),)
        case ToolResult(call_id=call_id, content=content, outcome=outcome):
            shown = result_content(content, limit)
            return (("user", (ResultPart(call_id, names.get(call_id, ""), shown, outcome != "ok"),)),)
        case Event():
            return _injected(entry, limit)
        case TurnEnd() | AppEntry():
            return ()
        case _:
            assert_never(entry)


def _injected(event: Event, limit: int) -> tuple[tuple[Role, tuple[Part, ...]], ...]:
    """An event as the pair a model sees: a call naming the original call, and the event as its result."""
    call_id = "call_" + digest("event", event.call_id, event.seq)
    args = {"call_id": event.call_id, "name": event.name, "args": event.args}
    if event.child_thread_id is not None:
        args["child_thread_id"] = event.child_thread_id
    result = ResultPart(call_id, EVENT_TOOL_NAME, result_content(event.content, limit))
    return (("assistant", (CallPart(call_id, EVENT_TOOL_NAME, args),)), ("user", (result,)))


def _shown(block: Block) -> TextBlock | ImageBlock | DocumentBlock:
    """A block as user content: providers take no JSON there."""
    match block:
        case JsonBlock(data=data):
            return TextBlock(text=json.dumps(data, ensure_ascii=False))
        case StoredBlock(note=note):
            return TextBlock(text=note or "(this content is no longer stored)")
        case TextBlock() | ImageBlock() | DocumentBlock():
            return block
        case _:
            assert_never(block)


def result_content(content: Content, limit: int) -> tuple[ResultContent, ...]:
    """A result's blocks, at most `limit` characters of text and JSON together, with a note in place of the rest."""
    shown: list[ResultContent] = []
    left, cut = limit, 0
    for block in content:
        part = _result_part(block)
        size = _size(part)
        if size <= left:
            shown.append(part)
            left -= size
            continue
        text = (
            part.text
            if isinstance(part, TextBlock)
            else json.dumps(getattr(part, "data", ""), ensure_ascii=False)
        )
        if text[:left].strip():
            shown.append(TextBlock(text=text[:left]))
        cut, left = cut + size - left, 0
    if cut:
        shown.append(TextBlock(text=f"[{cut} more characters are stored but not shown]"))
    return tuple(shown)


def _result_part(block: Block) -> ResultContent:
    match block:
        case JsonBlock(data=dict() as data):
            return JsonObject(data)
        case _:
            return _shown(block)


def _size(part: ResultContent) -> int:
    match part:
        case TextBlock(text=text):
            return len(text)
        case JsonObject(data=data):
            return len(json.dumps(data, ensure_ascii=False))
        case ImageBlock() | DocumentBlock():
            return 0
        case _:
            assert_never(part)
