"""The walk over a scenario's requests: each fault at each request, and what is wrong with the end it comes to."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.properties.simulation.scenario import Scenario

from .faults import Fault, Strike, strikes_of
from .patience import short_read_timeouts
from .playing import Played, Stage

OF_RECEIVERS = ("UpdateItem work", "SendMessage input", "SendMessage delay")
"""What workers and the relay ask."""
BROUGHT_BACK = "ChangeMessageVisibilityBatch input"
"""Asked when a slice failed."""


class Walk:
    """Runs of one scenario, on a stack that is kept until it is closed."""

    def __init__(self, scenario: Scenario, opened: ExitStack) -> None:
        self._scenario, self._opened = scenario, opened
        self._folder = Path(opened.enter_context(TemporaryDirectory()))

    @cached_property
    def strikes(self) -> list[Strike]:
        """All that can happen to it."""
        return strikes_of(self._undisturbed.asked, self._plain.plan.possible)

    def some(self, most: int, first: int) -> list[Strike]:
        """So many of them, evenly over what can happen to which request; at which of its kind, `first` says."""
        alike: dict[tuple[str, Fault, int], list[Strike]] = {}
        for strike in self.strikes:
            alike.setdefault((strike.request, strike.fault, strike.times), []).append(strike)
        kinds = list(alike.values())
        steps = range(min(most, len(kinds)))
        chosen = [kinds[(first + step * len(kinds) // most) % len(kinds)] for step in steps]
        return [kind[first % len(kind)] for kind in chosen]

    def wrong_with(self, strike: Strike) -> Iterator[str]:
        """What is not as in the run without faults."""
        expected = self._undisturbed
        stage = self._hasty if strike.fault is Fault.SLOW else self._plain
        played = stage.play(strike)
        if not played.struck:
            yield f"{strike}: it met nothing"
        ends = (expected.end, played.end)
        if strike.fault is Fault.IN_PART:
            ends = (ends[0].without_order_of_outputs(), ends[1].without_order_of_outputs())
        if ends[0] != ends[1]:
            yield f"{strike}: the end is\n{ends[1]}\nwithout faults\n{ends[0]}"
        if played.marked != expected.marked:
            yield f"{strike}: taken in {sorted(played.marked)}, without faults {sorted(expected.marked)}"
        yield from (f"{strike}: left over: {what}" for what in played.left_over)
        yield from _too_many(strike, expected, played)

    def left_over(self) -> list[str]:
        """What all runs so far have left in queues and schedules."""
        stages = [self.__dict__[name] for name in ("_plain", "_hasty") if name in self.__dict__]
        return [what for stage in stages for what in stage.left_over()]

    @cached_property
    def _undisturbed(self) -> Played:
        return self._plain.play()

    @cached_property
    def _plain(self) -> Stage:
        return Stage(self._scenario, self._folder, self._opened)

    @cached_property
    def _hasty(self) -> Stage:
        """Its clients do not wait long for an answer."""
        self._opened.enter_context(short_read_timeouts())
        return Stage(self._scenario, self._folder, self._opened)


def _too_many(strike: Strike, expected: Played, played: Played) -> Iterator[str]:
    """Invariant *bounded*: what passes is tried once more, inside the same slice; what lasts costs its tries, and a
    slice or two. Who gets a message twice handles it twice.
    """
    more = played.asked - expected.asked
    for request in OF_RECEIVERS:
        more.pop(request, None)
    if strike.times > 1 or strike.fault is Fault.SLOW:  # the hasty give up on other requests too
        too_many = more.total() > 3 * strike.times + 20 or (strike.times == 1 and more[BROUGHT_BACK] > 0)
    else:
        too_many = more.total() > 1
    if too_many:
        yield f"{strike}: it cost {more}"
