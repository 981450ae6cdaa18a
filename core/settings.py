"""How an agent uses its model, and how far it may go. Every field has a default, and says what it bounds.

Apart from `Agent` because the slice passes them around without the agent.
"""

import re
from dataclasses import dataclass, fields

from core.checks import check_positive_integer, is_number
from core.errors import DefinitionError

LEAST_REASONING_TOKENS = 1_024
"""The least that the strictest provider takes."""
_GUARDRAIL = re.compile(r"\S+:(\d{1,8}|DRAFT)")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is asked of the model. Raises DefinitionError."""

    temperature: float | None = None
    """Not below 0. Default None: not sent, the model's own default applies."""
    max_output_tokens: int = 4_096
    """Tokens one completion may write. Default 4,096."""
    context_window: int | None = None
    """Tokens the model can read. Default None: what the model port says of the model."""
    compaction_share: float = 0.8
    """Share of the context window at which history is compacted, above 0 and at most 1. Default 0.8."""
    pin_first_message: bool = False
    """Whether the first user message is kept word for word beside a summary that covers it. Default False."""
    reasoning_tokens: int | None = None
    """Of `max_output_tokens`, how many may go into reasoning: at least 1,024, and less than all. For models that
    reason when asked; one that measures its own reasoning is only told to. Default None: not asked."""
    guardrail: str | None = None
    """`identifier:version` of the provider's guardrail, where it has such. Default None: none."""

    def __post_init__(self) -> None:
        if self.temperature is not None and not (is_number(self.temperature) and self.temperature >= 0):
            raise DefinitionError(
                f"settings: temperature must be None or not below 0, not {self.temperature!r}"
            )
        check_positive_integer("settings", "max_output_tokens", self.max_output_tokens)
        if self.context_window is not None:
            check_positive_integer("settings", "context_window", self.context_window)
        if not (is_number(self.compaction_share) and 0 < self.compaction_share <= 1):
            raise DefinitionError(
                f"settings: compaction_share must be above 0 and at most 1, not {self.compaction_share!r}"
            )
        if not isinstance(self.pin_first_message, bool):
            raise DefinitionError("settings: pin_first_message must be True or False")
        if self.reasoning_tokens is not None:
            check_positive_integer("settings", "reasoning_tokens", self.reasoning_tokens)
            if not LEAST_REASONING_TOKENS <= self.reasoning_tokens < self.max_output_tokens:
                raise DefinitionError(
                    f"settings: reasoning_tokens must be at least {LEAST_REASONING_TOKENS} and below max_output_tokens "
                    f"({self.max_output_tokens}), not {self.reasoning_tokens}"
                )
        if self.guardrail is not None and not _GUARDRAIL.fullmatch(str(self.guardrail)):
            raise DefinitionError(
                f"settings: guardrail must be 'identifier:version' (a number or DRAFT), not {self.guardrail!r}"
            )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where an agent is stopped, checked before the spend. Whole numbers above 0; raises DefinitionError."""

    rounds_per_slice: int = 20
    """Completions in one slice; there a `wake` goes on. Default 20."""
    turns_per_user_input: int = 50
    """Completions since the last user text; there the last one is made. Default 50."""
    spawn_depth: int = 4
    """Levels of child threads below a root. Default 4."""
    open_children: int = 20
    """Child threads of one thread open at a time. Default 20."""
    spawns_per_turn: int = 20
    """Child threads one turn may spawn. Default 20."""
    tokens: int = 1_000_000
    """Credit of a root and its tree, renewed to this by user text to the root. Default 1,000,000."""
    result_characters: int = 100_000
    """Characters of one result shown to the model; the whole is kept. Default 100,000."""
    model_tries: int = 8
    """Tries of one completion over all slices, before the turn ends with an `error` output. Default 8."""
    approval_seconds: int = 86_400
    """Seconds that a call waits for its approval. Default 86,400: a day."""
    deferred_inputs: int = 1_000
    """Inputs that wait while calls are live; beyond it events are refused, reports never. Default 1,000."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_positive_integer("limits", field.name, getattr(self, field.name))
