"""The standard streams of a command: there, able to take any text, and no traceback if they break.

Stands alone because every command needs it, and importing it costs nothing.
"""

import os
import sys
from collections.abc import Callable

DONE, FAILED = 0, 1


def with_streams(work: Callable[[], int]) -> int:
    """The exit code of the work; 0 if nobody reads what it says (`| head`); 1, and a line, if it cannot be written."""
    _prepare()
    try:
        code = work()
        sys.stdout.flush()  # here, while an error can still be told
    except BrokenPipeError:
        _say_no_more()
        return DONE
    except OSError as error:
        _say_no_more()
        print(f"torpor: reading or writing failed: {error}", file=sys.stderr)
        return FAILED
    return code


def _prepare() -> None:
    """A stream that was closed is empty. What a terminal cannot show, or what was no text, is replaced."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the process
    for stream in (sys.stdin, sys.stdout):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _say_no_more() -> None:
    """What is still buffered goes nowhere, or the interpreter would complain of it at its end."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
