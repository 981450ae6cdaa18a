"""Long runs of the simulator: `python -m tests.properties.soak SEEDS` (`make soak SEEDS=n`).

Every single fault of every scenario, every pair of crashes, of a crash and a late awakening and the like; then SEEDS
random schedules of each. Says how far it is, what it covered, and a digest, the same for the same seeds and code. A
failing run is shrunk, and the command that replays it is told.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field

from core.ids import digest

from .simulation.exhaustive import SETUPS, SHORT, pairs, singles
from .simulation.report import Coverage, failure
from .simulation.run import Outcome
from .simulation.scenarios import BY_NAME
from .simulation.seeds import seeded
from .simulation.shrink import shrink

PAIRS = (("crash", "crash"), ("crash", "stall"), ("stall", "crash"), ("stall", "stall"), ("fail", "crash"))
"""Kinds of faults of which two strike in one run, each pair of places."""
SINGLES = ("crash", "stall", "fail", "refuse", "break")
"""Kinds of which one strikes, in either order of what is free."""
PARTS = ("pairs", "singles", "random")
CHUNK = 25
"""Seeds of one job."""
MOST_FAILURES = 5
"""Told of one job: more say nothing new."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some runs of one scenario: every fault of a kind, every pair of two kinds, or those of some seeds."""

    scenario: str
    what: str | tuple[str, str] | range

    def outcomes(self) -> Iterator[Outcome]:
        scenario = BY_NAME[self.scenario]
        match self.what:
            case range() as seeds:
                return (seeded(scenario, seed) for seed in seeds)
            case str() as kind:
                return (outcome for setup in SETUPS for outcome in singles(scenario, setup, kind))
            case kinds:
                return pairs(scenario, SHORT, kinds)

    def __str__(self) -> str:
        match self.what:
            case range() as seeds:
                return f"{self.scenario}, seeds {seeds[0]}-{seeds[-1]}"
            case str() as kind:
                return f"{self.scenario}, every {kind}"
            case first, second:
                return f"{self.scenario}, every {first} and {second}"


@dataclass(slots=True)
class Result:
    """What became of a job."""

    job: Job
    coverage: Coverage = field(default_factory=Coverage)
    digest: str = ""
    failures: list[str] = field(default_factory=list)


def work(job: Job) -> Result:
    """Do a job."""
    result = Result(job)
    digests = []
    for outcome in job.outcomes():
        result.coverage.add(outcome)
        digests.append(outcome.digest)
        if outcome.broken and len(result.failures) < MOST_FAILURES:
            result.failures.append(failure(shrink(outcome)))
    result.digest = digest(digests)
    return result


def jobs(seeds: int, first: int, parts: Sequence[str] = PARTS) -> list[Job]:
    """All of these parts, the longest first."""
    chunks = [range(start, min(start + CHUNK, first + seeds)) for start in range(first, first + seeds, CHUNK)]
    of_a_part = {
        "pairs": [Job(name, kinds) for kinds in PAIRS for name in BY_NAME],
        "singles": [Job(name, kind) for kind in SINGLES for name in BY_NAME],
        "random": [Job(name, chunk) for chunk in chunks for name in BY_NAME],
    }
    return [job for part in PARTS if part in parts for job in of_a_part[part]]


def told(results: Iterable[Result], count: int) -> Iterator[str]:
    """Lines about the jobs as they end, in any order, then about all of them."""
    coverage, digests, failed = Coverage(), dict[str, str](), 0
    for number, result in enumerate(results, 1):
        coverage.join(result.coverage)
        digests[str(result.job)] = result.digest
        failed += len(result.failures)
        yield f"[{number}/{count}] {result.job}: {result.coverage.runs} runs, {len(result.failures)} failures"
        yield from result.failures
    yield from coverage.lines()
    yield f"digest {digest(digests)}"  # by job: the order in which they ended plays no part
    yield f"{failed} failures" if failed else "every rule held"


def main() -> int:
    """The exit status: 1 if a rule was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.properties.soak", description=__doc__)
    parser.add_argument("seeds", type=int, help="random schedules of each scenario")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--only", choices=PARTS, action="append", help="leave out the others")
    options = parser.parse_args()
    todo = jobs(options.seeds, options.first, options.only or PARTS)
    line = ""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        results = (done.result() for done in as_completed([pool.submit(work, job) for job in todo]))
        for line in told(results, len(todo)):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    return 0 if line == "every rule held" else 1


if __name__ == "__main__":
    sys.exit(main())
