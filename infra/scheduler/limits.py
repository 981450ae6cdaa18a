"""What EventBridge Scheduler refuses, checked before anything is asked of it. Alone because emulators accept what AWS
does not.

Source: the API reference of CreateSchedule and the service's quotas. Every adapter, the in-memory schedules too, passes
through here.
"""

import re
from datetime import datetime

from infra.sqs.limits import body_bytes, body_fault

MAX_INPUT_BYTES = 262_144
"""What a schedule hands its target: less than a queue takes."""
LAST_YEAR = 2199
"""Of schedule expressions."""

_NAME = re.compile(r"[0-9A-Za-z_.-]{1,64}")


def name_fault(name: str) -> str | None:
    """Why no schedule can have this name; None if one can. Never quotes it."""
    return None if _NAME.fullmatch(name) else "the name is not 1-64 of 0-9, A-Z, a-z, '_', '.' and '-'"


def schedule_fault(name: str, body: str, fires_at: datetime) -> str | None:
    """Why the scheduler, or the queue it sends to, would never take this; None if both would."""
    if fault := name_fault(name) or body_fault(body):
        return fault
    if (size := body_bytes(body)) > MAX_INPUT_BYTES:
        return f"the body has {size} bytes, a schedule takes {MAX_INPUT_BYTES}"
    if fires_at.year > LAST_YEAR:
        return f"schedules end with the year {LAST_YEAR}"
    return None
