"""The logger of the functions, and the one of their metrics. Lines carry ids, sizes and an `action`; never content.

So no exception texts but our own. The level comes from LOG_LEVEL, but for metrics, which are always written.
"""

import json
import logging
import sys
import traceback
from functools import cache, partial
from pathlib import Path
from typing import Any

from aws_lambda_powertools import Logger

from core.errors import (
    LostRace,
    MalformedRequest,
    NotSettled,
    SettingsError,
    StoreUnavailable,
    UnreadableRecord,
)

METRICS = "torpor.metrics"
"""Name of the metrics' logger."""
OUR_WORDS = (LostRace, MalformedRequest, NotSettled, SettingsError, StoreUnavailable, UnreadableRecord)
"""Errors whose texts are made here, of ids, codes and positions. Others may quote what somebody else said."""


@cache
def logger() -> Logger:
    """Made on first use. Its lines are ASCII: ids that others chose break no line and are obeyed by no terminal."""
    ascii_json = partial(json.dumps, default=str, separators=(",", ":"), ensure_ascii=True)
    return Logger(service="torpor", location=None, json_serializer=ascii_json)


def write_line(level: int, text: str, **fields: Any) -> None:
    """One line at a level of `logging`."""
    log = logger()
    write = {logging.DEBUG: log.debug, logging.WARNING: log.warning, logging.ERROR: log.error}.get(
        level, log.info
    )
    write(text, **fields)


@cache
def metric_log() -> logging.Logger:
    """Writes lines as they are to the standard output, where CloudWatch finds them."""
    log = logging.getLogger(METRICS)
    log.setLevel(logging.INFO)
    log.propagate = False
    if not log.handlers:
        log.addHandler(_ToStdout())
    return log


class _ToStdout(logging.Handler):
    """Whatever stdout is at the moment: test runners change it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stdout.write(record.getMessage() + "\n")


def error_fields(error: BaseException) -> dict[str, Any]:
    """What a log line may say of an error: its class, our own texts, and where it came from."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return {
        "error": type(error).__name__,
        "reason": str(error) if isinstance(error, OUR_WORDS) else None,
        "frames": [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames],
    }
