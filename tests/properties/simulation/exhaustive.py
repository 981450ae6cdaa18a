"""Every crash point of a scenario, each a run of its own: the calm schedule with one deviation, or two.

Crashes of one invocation between the same two durable effects lead to the same future, as nothing else is left of it;
so do outages of one port that begin between them, failures of its reads, and of one completion. Each such group is run
once.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from .choosing import Deviation, Planned
from .run import Outcome, run
from .scenario import Scenario
from .world import Setup

SHORT = Setup(days_later=False)
"""Without the repetition of everything at the end."""
SETUPS = (SHORT, Setup(newest_first=True, eager_client=False, days_later=False))
"""Two calm schedules that differ in every order that is free, so that either end of each pair comes first once."""


def fault_points(outcome: Outcome, kind: str, after: int = -1) -> Iterator[Deviation]:
    """Where this fault can strike in this run, at decisions after `after` only; equivalent ones once."""
    told: set[tuple[str, int]] = set()
    for number, decision in enumerate(outcome.decisions):
        place = decision.calm.removeprefix("go ")
        if number <= after or decision.deviates or not _can_strike(kind, decision.faults, place):
            continue
        option = _outage(place) if kind == "break" else f"{kind} {place}"
        what = {"crash": place.partition(" ")[0], "break": option, "fail": _request(place)}.get(kind, place)
        if (what, decision.effects) not in told:
            told.add((what, decision.effects))
            yield Deviation(number, option)


def _can_strike(kind: str, faults: Sequence[str], place: str) -> bool:
    match kind:
        case "stall":
            return kind in faults and place.endswith("before")
        case "break":
            return "fail" in faults and place.endswith("before")
        case _:
            return kind in faults


def _request(place: str) -> str:
    """The call; all reads of an invocation are one, and all chunks of a completion."""
    who, _, call = place.partition(" ")
    return f"{who} {call.partition('.')[0]}" if call.startswith(("store.load", "model.")) else place


def _outage(place: str) -> str:
    """The port of this call breaks down, for long enough to use up all tries."""
    call = place.partition(" ")[2].partition("#")[0]
    port = call if call.startswith("send") else call.partition(".")[0]
    return f"break {port} for 1200 s"


def singles(scenario: Scenario, setup: Setup, kind: str = "crash", *, every: int = 1) -> Iterator[Outcome]:
    """The calm run, then one run for each crash point of it, or for every so many-th."""
    calm = run(scenario, Planned(), setup)
    yield calm
    for deviation in islice(fault_points(calm, kind), None, None, every):
        yield run(scenario, Planned([deviation]), setup)


def pairs(scenario: Scenario, setup: Setup, kinds: tuple[str, str] = ("crash", "crash")) -> Iterator[Outcome]:
    """One run for each pair of points where faults of these kinds can strike, the second in what follows the first."""
    for first in singles(scenario, setup, kinds[0]):
        for second in fault_points(first, kinds[1], after=max([d.at for d in first.deviations], default=0)):
            if first.deviations:
                yield run(scenario, Planned([*first.deviations, second]), setup)


def lost_or_doubled(scenario: Scenario, setup: Setup, kind: str) -> Iterator[Outcome]:
    """One run for each way in which a message of this type between threads fails to go out, or comes twice.

    It is not sent, for once or for long, or its sender dies over it; it comes again between any two invocations.
    """
    calm = run(scenario, Planned(), setup)
    for fault in ("crash", "fail", "refuse", "break"):
        for deviation in fault_points(calm, fault):
            if "send input" in deviation.option:
                yield run(scenario, Planned([deviation]), setup)
    for number, message in enumerate(calm.sent):
        if message.kind == kind:
            yield from _doubled(scenario, setup, f"repeat message {number}")


def _doubled(scenario: Scenario, setup: Setup, option: str) -> Iterator[Outcome]:
    first = run(scenario, Planned([Deviation(0, option)]), setup)
    yield first
    (at,) = [deviation.at for deviation in first.deviations]
    for number, decision in enumerate(first.decisions):
        if number > at and decision.calm.startswith(("deliver", "advance")):
            yield run(scenario, Planned([Deviation(number, option)]), setup)
