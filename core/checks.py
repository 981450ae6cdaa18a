"""Checks of what people write into definitions. Shared by tools, agents, settings and limits."""

import math
from typing import TypeGuard

from core.errors import DefinitionError


def check_positive(owner: str, name: str, value: object) -> None:
    """Raises DefinitionError, naming owner and field, unless `value` is a finite number above 0."""
    if not (is_number(value) and value > 0):
        raise DefinitionError(f"{owner}: {name} must be a number above 0, not {value!r}")


def check_positive_integer(owner: str, name: str, value: object) -> None:
    """Raises DefinitionError, naming owner and field, unless `value` is a whole number above 0."""
    if not (isinstance(value, int) and is_number(value) and value > 0):
        raise DefinitionError(f"{owner}: {name} must be a whole number above 0, not {value!r}")


def is_number(value: object) -> TypeGuard[float]:
    """A finite number; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_text(value: object) -> bool:
    """A string. For fields whose type says so already: definitions are also written without a type checker."""
    return isinstance(value, str)
