"""Every fault, wherever it can strike, in every scenario: no rule of the checker is broken, and the end is the same.

One test for each scenario and kind of fault; each is a run per place. Plain conversations die at every point and go
through all kinds of faults. Of what is left `make test` breaks a sample of places, and `make slow` each. `make soak`
adds the other kinds, every pair of faults and many random schedules. A failure is shrunk first; the command it prints
replays it.
"""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from .simulation.choosing import Planned
from .simulation.event_scenarios import ACROSS_CHECKPOINTS
from .simulation.exhaustive import SETUPS, SHORT, lost_or_doubled, singles
from .simulation.report import failure
from .simulation.run import Outcome, run
from .simulation.scenario import Scenario
from .simulation.scenarios import ALONE, BY_NAME, SCENARIOS, TOGETHER, VARIED
from .simulation.seeds import seeded
from .simulation.shrink import shrink
from .simulation.tree_scenarios import SPAWNING_FOR_EVER
from .simulation.waiting_scenarios import LASTING, NEVER_SUMMARISED, WAITING
from .simulation.world import Setup

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
CRASH_STRIDE = 12
"""Of what is not plain, `make test` dies at every so many-th point, and `make slow` at each."""
TREE_STRIDE = 20
"""Trees make many requests: `make test` breaks every so many-th, `make slow` each."""

WAITING_STRIDE = 60
"""So do those that wait."""

each_together = pytest.mark.parametrize("scenario", TOGETHER, ids=lambda scenario: scenario.name)
each_alone = pytest.mark.parametrize("scenario", ALONE, ids=lambda scenario: scenario.name)
each_that_is_not_plain = pytest.mark.parametrize(
    "scenario", [*TOGETHER, *VARIED], ids=lambda scenario: scenario.name
)


LONG = ("three_calls_on_two_workers", "refused_request", "failing_and_hanging_tools", "on_busy_queue")
LONG_STRIDE, PLAIN_STRIDE = 8, 3
"""So do the plain ones, but for crashes."""


def _stride(scenario: Scenario) -> int:
    return LONG_STRIDE if scenario.name in LONG else PLAIN_STRIDE


def all_hold(outcomes: Iterable[Outcome]) -> None:
    """Fails with the first broken run, made short."""
    for outcome in outcomes:
        if outcome.broken:
            pytest.fail(failure(shrink(outcome)), pytrace=False)


@each_alone
def test_the_invocation_dies_at_every_point(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "crash"))


@pytest.mark.slow
@each_alone
def test_the_invocation_dies_at_every_point_in_another_order(scenario: Scenario) -> None:
    all_hold(singles(scenario, SETUPS[1], "crash"))


@each_that_is_not_plain
def test_the_invocation_dies_at_one_of_several_points(scenario: Scenario) -> None:
    all_hold(singles(scenario, SETUPS[1], "crash", every=CRASH_STRIDE))


@pytest.mark.slow
@each_that_is_not_plain
def test_the_invocation_dies_at_every_point_of_what_is_not_plain(scenario: Scenario) -> None:
    all_hold(singles(scenario, SETUPS[1], "crash"))


@each_alone
def test_a_request_fails_or_times_out_but_was_done(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "fail", every=_stride(scenario)))


@each_together
def test_one_of_several_requests_of_a_tree_fails_or_times_out_but_was_done(scenario: Scenario) -> None:
    every = WAITING_STRIDE if scenario in WAITING else TREE_STRIDE
    all_hold(singles(scenario, SHORT, "fail", every=every))


@pytest.mark.slow
@each_together
def test_each_request_of_a_tree_fails_or_times_out_but_was_done(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "fail"))


@each_alone
def test_an_old_invocation_wakes_up_after_its_successor_committed(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "stall", every=_stride(scenario)))


@each_alone
def test_a_request_is_refused_for_good(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "refuse", every=_stride(scenario)))


@each_alone
def test_a_queue_the_store_or_the_model_is_broken_until_all_tries_are_used_up(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "break", every=_stride(scenario)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fail", "stall", "refuse", "break"])
@each_alone
def test_whatever_goes_wrong_in_a_plain_conversation(scenario: Scenario, kind: str) -> None:
    all_hold(singles(scenario, SHORT, kind))


@each_scenario
def test_everything_comes_again_days_later(scenario: Scenario) -> None:
    all_hold([run(scenario, Planned(), Setup())])


@pytest.mark.slow
@each_scenario
def test_a_checkpoint_in_every_commit_changes_nothing(scenario: Scenario) -> None:
    kept_short = replace(scenario, checkpoint_after=1)
    all_hold([run(kept_short, Planned(), Setup()), seeded(kept_short, 1)])


def test_a_spawn_and_a_fork_across_checkpoints() -> None:
    outcome = run(ACROSS_CHECKPOINTS, Planned(), Setup())
    assert outcome.broken == []
    commits = outcome.facts.threads["t"].commits
    assert [commit.number for commit in commits if commit.carried is not None] == [3, 5, 7]


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(one, id=one.name, marks=[] if one in ALONE else [pytest.mark.slow]) for one in SCENARIOS],
)
def test_random_schedules(scenario: Scenario) -> None:
    all_hold(seeded(scenario, seed) for seed in range(2))


def test_a_childs_first_message_is_lost_or_doubled() -> None:
    all_hold(lost_or_doubled(BY_NAME["silent_child"], SHORT, "spawn"))


def test_a_report_is_lost_or_doubled() -> None:
    all_hold(lost_or_doubled(BY_NAME["interim_report_then_end"], SHORT, "thread_report"))


def test_only_the_deadline_ends_a_compaction() -> None:
    outcome = run(NEVER_SUMMARISED, Planned(), Setup())
    assert outcome.broken == []
    waited = outcome.facts.threads["t"].commits
    assert any(c.promised("close") and c.promised("assistant_message") for c in waited)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["crash", "fail", "stall", "break"])
@pytest.mark.parametrize("scenario", VARIED, ids=lambda scenario: scenario.name)
def test_whatever_goes_wrong_where_things_change(scenario: Scenario, kind: str) -> None:
    all_hold(singles(scenario, SHORT, kind))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", LASTING, ids=lambda scenario: scenario.name)
def test_the_invocation_dies_at_every_point_of_what_lasts(scenario: Scenario) -> None:
    all_hold(singles(scenario, SHORT, "crash"))


def test_a_model_that_spawns_for_ever() -> None:
    outcome = run(SPAWNING_FOR_EVER, Planned(), SHORT)
    assert outcome.broken == []
    threads = outcome.facts.threads
    assert 3 < len(threads) < 20
    assert threads["t"].commits[-1].promised("assistant_message")[-1].content["final"]
    assert all(thread.closed for thread in threads.values() if thread.parent)
