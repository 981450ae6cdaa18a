"""Listening to what the functions log, instead of printing it: an error that no retry mends is a bug of theirs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import handlers.batch
import handlers.visit

from .points import CURRENT, Invocation

MODULES = (handlers.batch, handlers.visit)
NAME = "logger"
EXPECTED = frozenset({"Unsendable"})
"""Errors of this sort that the simulator causes itself."""
Hear = Callable[[Invocation, str], None]


class _Log:
    def __init__(self, hear: Hear) -> None:
        self._hear = hear

    def info(self, text: str, **fields: Any) -> None:
        """Nothing of note."""

    def warning(self, text: str, **fields: Any) -> None:
        if fields["error"] == "ModelUnavailable":
            self._hear(
                CURRENT.get(), "a failure of the model keeps its group blocked, instead of leaving a wake"
            )

    def error(self, text: str, **fields: Any) -> None:
        if fields["action"] == "fail" and fields["error"] not in EXPECTED:
            self._hear(CURRENT.get(), f"{fields['error']}: {fields['reason']} {fields['frames']}")


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """Tell `hear` of every record that fails for a reason that no retry mends, and in which invocation."""
    before = [getattr(module, NAME) for module in MODULES]
    log = _Log(hear)
    for module in MODULES:
        setattr(module, NAME, lambda: log)
    try:
        yield
    finally:
        for module, logger in zip(MODULES, before, strict=True):
            setattr(module, NAME, logger)
