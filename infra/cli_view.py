"""`ChatView`: a conversation on a terminal, or as plain text in a pipe. Observes slices, from whatever thread."""

import json
import os
import re
import sys
from collections.abc import Sequence
from threading import Lock
from typing import Any

from core.blocks import Content, JsonBlock, TextBlock
from core.chunks import ReasoningDelta, TextChunk
from core.entries import ToolCall
from core.slice.notices import (
    CallAnswered,
    CallStarted,
    RouteTaken,
    ThinkingEnded,
    ThreadVisited,
    TurnDiscarded,
    TurnPostponed,
)
from core.text import shorten
from core.thread import ChildKind

MOST_SHOWN = 160
"""Characters of arguments or of a result."""

WAITING_TOOLS = frozenset({"sleep", "sleep_until", "sleep_until_event_or_input"})
"""Built-in tools that run nowhere."""

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ChatView:
    """Text as it streams; each call and each result on a line of its own, numbered, so that parallel ones show.

    What a child thread does stands behind its name: only the root's text is the answer.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._coloured = sys.stdout.isatty()
        self._at_line_start = True
        self._calls: dict[str, int] = {}
        self._children: dict[str, str] = {}
        """Names by thread id."""
        self._speaker = ""
        """The child whose slice runs; empty for the root."""
        self._summarises = False
        """Whether the slice that runs is a compaction's, which says nothing to people."""
        self._answered: set[str] = set()
        self._muted = False
        self.said_something = False
        """Whether text of the root was shown since `begin`."""

    def begin(self) -> None:
        """A question was asked: numbers start anew."""
        with self._lock:
            self.said_something = False
            self._calls.clear()

    def mute(self) -> None:
        """Show nothing any more, whatever still runs."""
        with self._lock:
            self._muted = True

    def notice(self, event: object) -> None:
        """As `core.ports.Observer`."""
        with self._lock:
            match event:
                case ThreadVisited(thread_stack=stack, kind=kind):
                    self._visit(stack, kind)
                case _ if self._summarises:
                    pass
                case TextChunk(text=text):
                    self.said_something = self.said_something or not self._speaker
                    self._write(text, dim=bool(self._speaker))
                case ReasoningDelta(text=text):
                    self._write(text, dim=True)
                case ThinkingEnded():
                    self._end_line()
                case RouteTaken(route=route):
                    self._line(f"({route})", dim=True)
                case TurnDiscarded(reason=reason):
                    self._line(f"({reason}: this attempt is void)", dim=True)
                case TurnPostponed(reason=reason, seconds=seconds):
                    self._line(f"({reason}: tried again in {seconds} s; Ctrl-C ends)", dim=True)
                case CallStarted(call=call, worker=worker):
                    self._started(call, worker)
                case CallAnswered(result=result):
                    self._answer(result.call_id, result.content, result.outcome)
                case _:
                    pass

    def line(self, text: str) -> None:
        """A line of its own."""
        with self._lock:
            self._aside(text)

    def remark(self, text: str) -> None:
        """A line of its own that is not part of the conversation."""
        with self._lock:
            self._aside(text, dim=True)

    def failure(self, child: str | None, text: str) -> None:
        """A line of its own about what went wrong, in the root or in a child."""
        with self._lock:
            self._aside(f"{self._name(child)}: {text}" if child else text)

    def question(self, child: str | None, lines: Sequence[str]) -> None:
        """Lines of their own: what a person is asked, in the root or about a child's call."""
        with self._lock:
            first, *more = lines
            for line in [f"{self._name(child)}: {first}" if child else first, *more]:
                self._aside(line)

    def child_closed(self, child: str) -> None:
        """The child has ended, as its parent has heard."""
        with self._lock:
            self._aside(f"  ({self._name(child)} is closed)", dim=True)

    def end_line(self) -> None:
        """What comes next begins a line."""
        with self._lock:
            self._end_line()

    def _visit(self, stack: tuple[str, ...], kind: ChildKind | None) -> None:
        self._end_line()
        self._summarises = kind == "compaction"
        self._speaker = self._name(stack[-1]) if len(stack) > 1 and not self._summarises else ""

    def _name(self, child: str) -> str:
        return self._children.setdefault(child, f"child {len(self._children) + 1}")

    def _started(self, call: ToolCall, worker: str | None) -> None:
        number = self._calls[call.call_id] = len(self._calls) + 1
        arguments = ", ".join(f"{name}={_short(value, 60)}" for name, value in call.args.items())
        where = f"worker {worker}" if worker else "waiting" if call.name in WAITING_TOOLS else "inline"
        self._line(f"  [{number}] {call.name}({shorten(arguments, MOST_SHOWN)}) … {where}", dim=True)

    def _answer(self, call_id: str, content: Content, outcome: str) -> None:
        if call_id in self._answered or call_id not in self._calls:
            return
        self._answered.add(call_id)
        said = " ".join(_text(content).split())
        word = "=" if outcome == "ok" else f"{outcome}:"
        self._line(f"  [{self._calls[call_id]}] {word} {shorten(said, MOST_SHOWN)}", dim=True)

    def _aside(self, text: str, *, dim: bool = False) -> None:
        """A line that nobody of the conversation says."""
        speaker, self._speaker = self._speaker, ""
        self._line(text, dim=dim)
        self._speaker = speaker

    def _line(self, text: str, *, dim: bool = False) -> None:
        self._end_line()
        self._write(text + "\n", dim=dim)

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._put("\n")
            self._at_line_start = True

    def _write(self, text: str, *, dim: bool = False) -> None:
        """Control codes in what models and tools say never reach the terminal."""
        clean = _CONTROL.sub("", text)
        if not clean:
            return
        margin = f"  {self._speaker} | " if self._speaker else ""
        shown = clean if not margin else clean[:-1].replace("\n", "\n" + margin) + clean[-1]
        shown = margin + shown if self._at_line_start else shown
        self._at_line_start = clean.endswith("\n")
        self._put(f"{_DIM}{shown}{_PLAIN}" if dim and self._coloured else shown)

    def _put(self, text: str) -> None:
        if self._muted:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:  # nobody reads any more, as after `| head`
            self._muted = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _text(content: Content) -> str:
    parts = []
    for block in content:
        match block:
            case TextBlock(text=text):
                parts.append(text)
            case JsonBlock(data=data):
                parts.append(json.dumps(data, ensure_ascii=False))
            case _:
                parts.append(f"[{block.type}]")
    return " ".join(parts)


def _short(value: Any, limit: int) -> str:
    return shorten(repr(value), limit)
