"""What the wire server does with a request: a stream of steps, or an answer that is none."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Piece:
    """Bytes that arrive by themselves."""

    data: bytes


@dataclass(frozen=True)
class Hold:
    """Nothing comes until the test lets it go on."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class Stall:
    """Nothing more comes, and the connection stays open."""


@dataclass(frozen=True)
class Cut:
    """The connection ends in mid-stream."""


Step = Piece | Hold | Stall | Cut


@dataclass(frozen=True)
class Stream:
    """HTTP 200 and an event stream. After the last step it ends as HTTP wants it."""

    steps: Iterable[Step]


@dataclass(frozen=True)
class Refusal:
    """An error before any stream."""

    status: int
    code: str
    message: str = ""


@dataclass(frozen=True)
class Raw:
    """These bytes instead of HTTP; then the connection ends."""

    data: bytes = b""


@dataclass(frozen=True)
class Silence:
    """No answer at all, and the connection stays open."""


Answer = Stream | Refusal | Raw | Silence


def plays(frames: Iterable[bytes], *then: Step) -> Stream:
    """Frame by frame."""
    return Stream([*map(Piece, frames), *then])


def split(frames: Iterable[bytes], cuts: Iterable[int], *then: Step) -> Stream:
    """All of it in pieces that end at these positions."""
    data = b"".join(frames)
    ends = sorted({0, *(cut for cut in cuts if 0 < cut < len(data)), len(data)})
    return Stream([*(Piece(data[begin:end]) for begin, end in pairwise(ends)), *then])


def first(frames: Iterable[bytes], size: int, *then: Step) -> Stream:
    """Its first `size` bytes."""
    return Stream([Piece(b"".join(frames)[:size]), *then])
