"""The sleep family: passive calls, which only wait, and end when their time comes or anything else does."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.entries import ToolCall
from core.slice.builtin.caller import Caller, Told, Waits, done, failed

LONGEST_DAYS = 3_660
"""Ten years. What is further off is taken for a mistake."""

_NO_ZONES = frozenset({"localtime", "posixrules", "posix", "right"})
"""What a zone folder may hold beside IANA's names. Under `right` a day has leap seconds: sleeps would end late."""


def for_seconds(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told | Waits:  # noqa: ARG001 - one shape
    """`sleep`."""
    seconds = arguments["seconds"]
    if not -LONGEST_DAYS * 86_400 <= seconds <= LONGEST_DAYS * 86_400:
        return failed(f"seconds must be a number of at most {LONGEST_DAYS * 86_400:,}.")
    return _waits(caller, caller.now + timedelta(seconds=seconds))


def until(caller: Caller, call: ToolCall, arguments: Mapping[str, Any]) -> Told | Waits:  # noqa: ARG001 - one shape
    """`sleep_until`: the local time is resolved once, here."""
    try:
        local = datetime.combine(date.fromisoformat(arguments["date"]), time.fromisoformat(arguments["time"]))
    except ValueError:
        return failed("date and time must look like 2026-03-08 and 02:30 or 02:30:00.")
    zone = _zone(arguments["timezone"])
    if zone is None or local.tzinfo is not None:
        return failed(
            "timezone must be an IANA name such as Europe/Berlin or UTC, and time must have no offset."
        )
    try:
        instant = resolved(local, zone)
    except OverflowError:
        return failed("That date is out of range.")
    if instant - caller.now > timedelta(days=LONGEST_DAYS):
        return failed(f"That is more than {LONGEST_DAYS} days away.")
    return _waits(caller, instant)


def until_something_comes(
    caller: Caller,  # noqa: ARG001 - one shape
    call: ToolCall,  # noqa: ARG001
    arguments: Mapping[str, Any],  # noqa: ARG001
) -> Told | Waits:
    """`sleep_until_event_or_input`."""
    return Waits(None)


def resolved(local: datetime, zone: ZoneInfo) -> datetime:
    """The instant of a local time, as RFC 5545 has it: one that does not exist takes the offset before the gap, an
    ambiguous one is its first occurrence. Both are what `fold=0` means.
    """
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _waits(caller: Caller, instant: datetime) -> Told | Waits:
    if instant <= caller.now:
        return done(over="That time has come already.")
    return Waits(instant)


def _zone(name: str) -> ZoneInfo | None:
    """Names are outside values: some lead out of the zone folder, some to what is no zone, some to this machine's."""
    if name in _NO_ZONES or name.partition("/")[0] in _NO_ZONES:
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return None
    except KeyError:
        return None
