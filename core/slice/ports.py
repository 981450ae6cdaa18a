"""The ports of a slice in one value, and how much time it keeps for what."""

from collections.abc import Callable
from dataclasses import dataclass

from core.clock import Clock
from core.facts import DEAF, Witness
from core.ports import Dispatcher, Model, ThreadStore

COMMIT_SECONDS = 5.0
"""Kept for committing and settling after a completion."""
COMPLETION_SECONDS = 5.0
"""A completion is not begun with less left than this beside COMMIT_SECONDS."""


@dataclass(frozen=True)
class SlicePorts:
    """Everything a slice asks of the world."""

    store: ThreadStore
    dispatcher: Dispatcher
    models: Callable[[str], Model]
    """The model of a name (`provider:model`). Raises DefinitionError for one that cannot be had."""
    clock: Clock
    witness: Witness = DEAF
    """Of the slice that runs."""


def time_for_completion(seconds_left: float) -> float:
    """Seconds a completion may take; 0 or less: none may begin."""
    left = seconds_left - COMMIT_SECONDS
    return left if left >= COMPLETION_SECONDS else 0.0
