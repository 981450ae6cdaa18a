"""The simulator itself: a run is replayed exactly by what it prints, shrinks to what matters and takes no real time."""

import asyncio
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from core.commit import Commit
from infra.memory import MemoryStore

from .simulation.__main__ import main
from .simulation.choosing import Deviation, Planned
from .simulation.loop import START, VirtualClock, VirtualLoop
from .simulation.report import Coverage, command, failure, setup_name, setup_of
from .simulation.run import Outcome, run
from .simulation.scenario import Scenario
from .simulation.scenarios import ALONE, BY_NAME, SCENARIOS, TOGETHER
from .simulation.seeds import seeded
from .simulation.shrink import again, rules_of, shrink
from .simulation.world import Setup

SETUP = Setup(newest_first=True, eager_client=False, batch=3, visibility_seconds=10.0, days_later=False)


def replayed(outcome: Outcome) -> Outcome:
    """What the printed command runs."""
    scenario, setup, *deviations = shlex.split(command(outcome))[3:]
    return run(BY_NAME[scenario], Planned(map(Deviation.parse, deviations)), setup_of(setup))


@contextmanager
def forgetful_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A store that takes a commit whatever is there: a bug to be found."""
    right = MemoryStore.commit

    async def commit(store: MemoryStore, written: Commit) -> None:
        log = store._threads[written.thread_id].log if written.thread_id in store._threads else {}
        log.pop(written.number, None)
        await right(store, written)

    with monkeypatch.context() as patched:
        patched.setattr(MemoryStore, "commit", commit)
        yield


def broken_run() -> Outcome:
    """The first random run that such a store breaks."""
    runs = (seeded(scenario, seed) for seed in range(50) for scenario in SCENARIOS)
    return next(outcome for outcome in runs if outcome.broken)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [*ALONE, *TOGETHER[::5]], ids=lambda scenario: scenario.name)
def test_a_seed_is_one_run_and_its_deviations_are_the_same_run(scenario: Scenario) -> None:
    first = seeded(scenario, 7)
    assert seeded(scenario, 7).digest == first.digest
    assert replayed(first).digest == first.digest
    assert again(first, first.deviations).digest == first.digest


def test_a_setup_has_a_name() -> None:
    assert setup_name(SETUP) == "last,lazy,3,10,end"
    assert setup_of(setup_name(SETUP)) == SETUP
    assert setup_of(setup_name(Setup())) == Setup()


def test_a_failing_run_shrinks_to_few_deviations_and_prints_what_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with forgetful_store(monkeypatch):
        failing = broken_run()
        short = shrink(failing)
        assert rules_of(short) & rules_of(failing)
        assert len(short.deviations) <= min(10, len(failing.deviations))
        assert replayed(short).broken == short.broken
        *violations, printed = failure(short).splitlines()
        assert violations == short.broken
        assert main(shlex.split(printed)[3:]) == 1
    assert short.broken[0] in capsys.readouterr().out
    assert main(shlex.split(printed)[3:]) == 0


def test_coverage_counts_faults_by_place_and_state() -> None:
    coverage = Coverage()
    deviations = [
        Deviation(5, "crash agent#1 store.load facts#1 after"),
        Deviation(30, "break store for 60 s"),
    ]
    coverage.add(run(BY_NAME["text"], Planned(deviations)))
    assert coverage.deviations == {"crash": 1, "break": 1}
    assert coverage.points == {"crash  agent store.load facts after": 1, "break  store for 60 s": 1}
    assert coverage.states.total() == 2


def test_the_loop_runs_what_is_ready_and_time_moves_only_by_hand() -> None:
    loop = VirtualLoop()
    clock, seen = VirtualClock(loop), list[str]()

    async def sleeper() -> None:
        seen.append("asleep")
        await clock.sleep(3600)
        seen.append("awake")

    async def forgotten() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("disposed of")

    loop.create_task(sleeper())
    loop.create_task(forgotten())
    loop.settle()
    assert (seen, loop.wait_seconds, clock.now()) == (["asleep"], 3600, START)
    clock.move_to(START + timedelta(hours=1))
    loop.settle()
    assert (seen, loop.wait_seconds) == (["asleep", "awake"], None)
    loop.dispose()
    assert seen[-1] == "disposed of"
