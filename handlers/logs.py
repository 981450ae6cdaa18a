"""The one logger of the functions. Lines carry ids, sizes and an `action`; never content.

So no exception texts but our own. The level comes from LOG_LEVEL.
"""

import traceback
from functools import cache
from pathlib import Path
from typing import Any

from aws_lambda_powertools import Logger

from core.errors import TorporError


@cache
def logger() -> Logger:
    """Made on first use."""
    return Logger(service="torpor")


def error_fields(error: BaseException) -> dict[str, Any]:
    """What a log line may say of an error: its class, our own texts, and where it came from."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return {
        "error": type(error).__name__,
        "reason": str(error) if isinstance(error, TorporError) else None,
        "frames": [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames],
    }
