"""Listening to what the functions log, instead of printing it: an error that no retry mends is a bug of theirs."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import handlers.batch
import handlers.dead_letters
import handlers.telemetry
import handlers.visit
import handlers.watch

from .points import CURRENT, Invocation

LOGGERS = ((handlers.batch, "logger"), (handlers.visit, "logger"), (handlers.watch, "logger"))
LINES = (
    (handlers.dead_letters, "write_line"),
    (handlers.watch, "metric_log"),
    (handlers.telemetry, "metric_log"),
    (handlers.telemetry, "write_line"),
)
EXPECTED = frozenset({"Unsendable"})
"""Errors of this sort that the simulator causes itself."""
Hear = Callable[[Invocation, str], None]


class _Log:
    log_level = logging.CRITICAL
    """What is less is not written."""

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
    log = _Log(hear)
    with pytest.MonkeyPatch.context() as patching:
        for module, name in LOGGERS:
            patching.setattr(module, name, lambda: log)
        for module, name in LINES:
            patching.setattr(module, name, _nothing)
        yield


def _nothing(*_: Any, **__: Any) -> _Log:
    return _Log(lambda who, text: None)
