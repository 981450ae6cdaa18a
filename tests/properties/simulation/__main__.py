"""Replays one run and says what happens in it: `python -m tests.properties.simulation SCENARIO SETUP DEVIATION…`

What a failing run prints, to be copied. SETUP says which point goes on first, how the client speaks, the batch size,
the visibility timeout in seconds, and whether everything comes again days later: `last,lazy,3,10,later`, or with
`first`, `eager`, `end`. Each DEVIATION is `NUMBER:OPTION`.
"""

import sys

from .choosing import Deviation, Planned
from .report import setup_of, story
from .run import run
from .scenarios import BY_NAME


def main(arguments: list[str]) -> int:
    """The exit status: 1 if a rule is broken."""
    name, setup, *deviations = arguments
    outcome = run(BY_NAME[name], Planned(map(Deviation.parse, deviations)), setup_of(setup))
    sys.stdout.write(story(outcome))
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
