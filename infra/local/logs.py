"""Where the functions' log goes on the local stack: to stderr, since stdout belongs to the program that uses it."""

import importlib
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

DEFAULT_LEVEL = "WARNING"
"""Unless LOG_LEVEL says otherwise: one line per record is too much for a test run."""

_lock = Lock()
_opened = 0
_before: dict[str, tuple[list[logging.Handler], int]] = {}
"""Of each logger, while any context is open."""


class _ToStderr(logging.Handler):
    """Whatever stderr is at the moment: test runners change it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(self.format(record) + "\n")


@contextmanager
def logs_to_stderr(level: str = DEFAULT_LEVEL) -> Iterator[None]:
    """While any such context is open; the first one's level holds."""
    global _opened
    with _lock:
        if not _opened:
            _redirect(os.environ.get("LOG_LEVEL", level))
        _opened += 1
    try:
        yield
    finally:
        with _lock:
            _opened -= 1
            if not _opened:
                _put_back()


def _redirect(level: str) -> None:
    logs = importlib.import_module("handlers.logs")
    for name in (logs.logger().service, logs.metric_log().name):
        logger = logging.getLogger(name)
        _before[name] = (logger.handlers[:], logger.level)
        handler = _ToStderr()
        handler.setFormatter(logger.handlers[0].formatter if logger.handlers else None)
        logger.handlers[:] = [handler]
        logger.setLevel(level)


def _put_back() -> None:
    for name, (handlers, level) in _before.items():
        logger = logging.getLogger(name)
        logger.handlers[:] = handlers
        logger.setLevel(level)
