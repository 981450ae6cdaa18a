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
_before: list[tuple[list[logging.Handler], int]] = []
"""Of the logger, once for each context that is open."""


class _ToStderr(logging.Handler):
    """Whatever stderr is at the moment: test runners change it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(self.format(record) + "\n")


@contextmanager
def logs_to_stderr(level: str = DEFAULT_LEVEL) -> Iterator[None]:
    """While any such context is open; the first one's level holds."""
    logger = logging.getLogger(importlib.import_module("handlers.logs").logger().service)
    with _lock:
        if not _before:
            handler = _ToStderr()
            handler.setFormatter(logger.handlers[0].formatter if logger.handlers else None)
            _before.append((logger.handlers[:], logger.level))
            logger.handlers[:] = [handler]
            logger.setLevel(os.environ.get("LOG_LEVEL", level))
        else:
            _before.append(_before[0])
    try:
        yield
    finally:
        with _lock:
            handlers, level_before = _before.pop()
            if not _before:
                logger.handlers[:] = handlers
                logger.setLevel(level_before)
