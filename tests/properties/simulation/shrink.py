"""Making a failing run shorter: leaving out deviations as long as the same rule stays broken."""

from collections.abc import Sequence

from .choosing import Deviation, Planned
from .run import Outcome, run


def rules_of(outcome: Outcome) -> set[str]:
    """The names of the rules that a run broke."""
    return {violation.partition(":")[0] for violation in outcome.broken}


def shrink(failing: Outcome) -> Outcome:
    """A run that breaks one of the same rules by as few deviations as can be had by leaving some out."""
    best, rules = failing, rules_of(failing)
    size = max(1, len(best.deviations) // 2)
    while size:
        shorter = _without_some(best, rules, size)
        if shorter is not None:
            best = shorter
        else:
            size //= 2
    return best


def _without_some(best: Outcome, rules: set[str], size: int) -> Outcome | None:
    """The first shorter run that fails in the same way, `size` deviations in a row left out; None if there is none."""
    deviations = best.deviations
    for start in range(0, len(deviations), size):
        kept = [*deviations[:start], *deviations[start + size :]]
        outcome = again(best, kept)
        if rules & rules_of(outcome) and len(outcome.deviations) < len(deviations):
            return outcome
    return None


def again(outcome: Outcome, deviations: Sequence[Deviation]) -> Outcome:
    """The same scenario in the same setup, with these deviations."""
    return run(outcome.scenario, Planned(deviations), outcome.setup)
