"""Histories as lines that can be read and compared: what a test means, without seqs, instants and derived ids."""

import json
from collections.abc import Iterable
from typing import assert_never

from core.blocks import Content, JsonBlock, TextBlock
from core.entries import AppEntry, Assistant, Entry, Event, Reasoning, ToolCall, ToolResult, TurnEnd, User


def lines(entries: Iterable[Entry]) -> list[str]:
    """One line per entry, such as `User(hello)`; a result names its tool, and its outcome unless that is `ok`."""
    entries = list(entries)
    names = {entry.call_id: entry.name for entry in entries if isinstance(entry, ToolCall)}
    return [_line(entry, names) for entry in entries]


def _line(entry: Entry, names: dict[str, str]) -> str:
    match entry:
        case User(content=content):
            return f"User({_text(content)})"
        case Assistant(text=text):
            return f"Asst({text})"
        case Reasoning(text=text, signature=signature):
            return f"Reason({text}, {signature})"
        case ToolCall(name=name, args=args, raw_args=raw):
            return f"Call({name}, {json.dumps(args) if raw is None else raw})"
        case ToolResult(call_id=call_id, content=content, outcome="ok"):
            return f"Result({names.get(call_id, call_id)}, {_text(content)})"
        case ToolResult(call_id=call_id, outcome=outcome):
            return f"Result({names.get(call_id, call_id)}, {outcome})"
        case Event(call_id=call_id, content=content):
            return f"Event({call_id}, {_text(content)})"
        case TurnEnd(reason=reason):
            return f"TurnEnd({reason})"
        case AppEntry(role=role):
            return f"App({role})"
        case _:
            assert_never(entry)


def _text(content: Content) -> str:
    shown = []
    for block in content:
        match block:
            case TextBlock(text=text):
                shown.append(text)
            case JsonBlock(data=data):
                shown.append(json.dumps(data))
            case _:
                shown.append(f"[{block.type}]")
    return " ".join(shown)
