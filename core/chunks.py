"""What a model streams: the pieces of one completion, provider-neutral, in the order received.

Deltas and `Completed` are for observers and bookkeeping; text, whole reasoning blocks and whole calls make the turn.
"""

from dataclasses import dataclass, field
from typing import Any

from core.blocks import Value


class Usage(Value):
    """Tokens of one completion. `input_tokens` includes the cached ones."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total(self) -> int:
        """What it costs. Counts below 0 give nothing back: a provider's words are untrusted."""
        return max(0, self.input_tokens) + max(0, self.output_tokens)

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of visible text. Consecutive ones are one entry."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of reasoning as it is thought. Shown, never stored."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """A finished reasoning block, with what its provider needs to take it back."""

    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """A piece of a call's arguments. Shown, never stored: nothing half-received is run."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CallChunk:
    """A whole call. `arguments` is the object the model gave, or its raw text if that was not an object."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Completed:
    """The end of a completion. `stop_reason` is the provider's word; blocks decide, not the reason."""

    stop_reason: str = "end_turn"
    usage: Usage = Usage()


Chunk = TextChunk | ReasoningDelta | ReasoningBlock | ArgumentsDelta | CallChunk | Completed
