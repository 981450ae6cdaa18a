"""Values of options: what argparse refuses in one line, before anything is done."""

import argparse
import math


def count(text: str) -> int:
    """How many: 1 or more."""
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number, 1 or more")
    return int(text)


def seq(text: str) -> int:
    """A place in a thread's log: 0 is before its first entry."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: the number of an entry, as `torpor show` shows it")
    return int(text)


def seconds(text: str) -> float:
    """A time to wait: 0 looks once."""
    try:
        given = float(text)
    except ValueError:
        given = math.nan
    if not 0 <= given < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: seconds, 0 or more")
    return given


def pair(text: str) -> tuple[str, str]:
    """A key and its value. The value may be empty."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r}: KEY=VALUE")
    return name, value
