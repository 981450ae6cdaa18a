"""How values that anybody may have written are shown on a terminal: on one line, and nothing that a terminal obeys."""

import re
from datetime import datetime, timedelta

from core.text import shorten

_OBEYED = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    r"|[\U000e0000-\U000e007f]"
)
"""Control and escape codes, what changes the direction of writing, what is not seen, and halves of characters."""


def safe(text: str) -> str:
    """`text` with what a terminal would obey, or not show, written out as `\\x1b`. No line breaks are left."""
    return _OBEYED.sub(lambda found: ascii(found.group())[1:-1], text)


def line(text: str, limit: int = 160) -> str:
    """The beginning of `text` on one line, white space as one blank."""
    return safe(shorten(" ".join(text.split()), limit))


def block(text: str) -> str:
    """The whole of `text`, line breaks and tabs kept."""
    return "\n".join("\t".join(map(safe, row.split("\t"))) for row in re.split(r"\r\n|\n", text))


def instant(at: datetime) -> str:
    """To the second, UTC."""
    return f"{at:%Y-%m-%d %H:%M:%S}Z"


def duration(length: timedelta) -> str:
    """A length of time in its largest two units; below a minute to a tenth of a second."""
    seconds = abs(length.total_seconds())
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60)):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // part} {smaller}"
    return f"{whole // 60} min {whole % 60} s"


def counted(number: int, what: str) -> str:
    """`1 entry`, `2 entries`."""
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def from_now(at: datetime, now: datetime) -> str:
    """`in 3 min 5 s`, or `2 h 0 min ago`."""
    return f"in {duration(at - now)}" if at >= now else f"{duration(now - at)} ago"
