"""The whole walk, scenario by scenario: `python -m tests.functional.http_faults [NAME …]`. It takes minutes."""

import sys
from contextlib import ExitStack

from tests.properties.simulation.scenarios import BY_NAME

from .chosen import CHOSEN
from .walk import Walk


def walk_all(names: list[str]) -> int:
    """Returns the exit code."""
    wrong = 0
    for name in names:
        with ExitStack() as opened:
            walk = Walk(BY_NAME[name], opened)
            found = [what for strike in walk.strikes for what in walk.wrong_with(strike)] + walk.left_over()
        sys.stdout.write("".join(f"{line}\n" for line in [f"{name}: {len(walk.strikes)} runs", *found]))
        sys.stdout.flush()
        wrong += len(found)
    return 1 if wrong else 0


sys.exit(walk_all(sys.argv[1:] or list(CHOSEN)))
