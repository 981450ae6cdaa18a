"""What models cost, as an author says: Torpor knows no prices, and estimates nothing for a model without one."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.checks import is_number
from core.chunks import Usage
from core.errors import DefinitionError

TOKENS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """Of one million tokens, in whatever currency the author counts. Raises DefinitionError."""

    input: float
    output: float
    cached: float | None = None
    """Of input that was read from a cache. Default None: as other input."""

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached"):
            value = getattr(self, name)
            if not (value is None and name == "cached") and not (is_number(value) and value >= 0):
                raise DefinitionError(f"price: {name} must be a number not below 0, not {value!r}")

    def of(self, usage: Usage) -> float:
        """What a completion costs. A provider's counts below 0 cost nothing."""
        cached = max(0, min(usage.cached_tokens, usage.input_tokens))
        fresh, written = max(0, usage.input_tokens) - cached, max(0, usage.output_tokens)
        of_cached = self.input if self.cached is None else self.cached
        return (fresh * self.input + cached * of_cached + written * self.output) / TOKENS


Prices = Mapping[str, Price]
"""By model, `provider:model`."""
