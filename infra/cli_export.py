"""`torpor export` and `torpor import`: a tree of threads as JSON lines, and back into a stack that has none of it."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from core.clock import SYSTEM_CLOCK
from core.errors import MisuseError
from core.importing import import_threads
from core.transfer import MOST_LINE_CHARACTERS, Line, exported, read_line
from infra.cli_erase import keeper_of
from infra.cli_stack import DONE, run, stack_of


def export_thread(options: argparse.Namespace) -> int:
    """Returns the exit code."""

    async def work() -> int:
        async with keeper_of(stack_of(options)) as store:
            with _output(options.to) as file:
                async for line in exported(store, options.thread):
                    file.write(line + "\n")
        return DONE

    return run(work)


def import_file(options: argparse.Namespace) -> int:
    """Returns the exit code."""

    async def work() -> int:
        async with keeper_of(stack_of(options)) as store:
            threads = await import_threads(store, lambda: _lines(options.file), SYSTEM_CLOCK)
        for thread_id, thread in threads.items():
            waits = (
                ", waits for what stayed behind: send it something, or cancel" if thread.state.waiting else ""
            )
            print(f"{thread_id}: {len(thread.digests)} commits{waits}")
        return DONE

    return run(work)


@contextmanager
def _output(target: Path | None) -> Iterator[IO[str]]:
    """The standard output, or a file that is there when it is whole and not before. Raises MisuseError."""
    if target is None:
        yield sys.stdout
        return
    begun = target.with_name(target.name + ".part")
    try:
        with begun.open("w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        begun.replace(target)
    except OSError as error:
        raise MisuseError(f"--to {target}: cannot be written: {error}") from error
    finally:
        with suppress(OSError):
            begun.unlink()


def _lines(path: Path) -> Iterator[Line]:
    """Raises MisuseError."""
    try:
        with path.open(encoding="utf-8") as file:
            number = 0
            while text := file.readline(MOST_LINE_CHARACTERS + 1):
                number += 1
                yield read_line(text, number)
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"{path} cannot be read: {error}") from error
