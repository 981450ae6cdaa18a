"""What commands that work on a running system share: how it is found, and how they end."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable

from core.errors import DefinitionError, MisuseError, NoThread, Refused, TorporError
from infra.operations.shown import block
from infra.stack import Stack, find_stack

DONE, FAILED, MISUSED = 0, 1, 2


def stack_of(options: argparse.Namespace) -> Stack:
    """Raises SettingsError."""
    return find_stack(options.stack, options.region, options.endpoint)


def ended(work: Callable[[], int]) -> int:
    """The exit code: of the work, or of the error it ended with, which is told in one line."""
    try:
        return work()
    except NoThread as error:
        return told(MisuseError(f"{error}: `torpor threads` lists those that are there"), MISUSED)
    except (MisuseError, Refused, DefinitionError) as error:
        return told(error, MISUSED)
    except TorporError as error:
        return told(error, FAILED)


def run(work: Callable[[], Awaitable[int]]) -> int:
    """`ended`, for work with an event loop."""

    async def begun() -> int:
        return await work()

    return ended(lambda: asyncio.run(begun()))


def told(error: Exception, code: int) -> int:
    print(f"torpor: {block(str(error))}", file=sys.stderr)
    return code
