"""Requests to AWS fail over HTTP, wherever a slice or a worker makes one; each run ends as the one without faults.

Scenarios of the simulation on the local stack: the production handlers and clients, DynamoDB, SQS, S3 and the
scheduler's own answers and errors. A run meets one fault. faults.md, "Crashes": "a request fails". The whole walk takes
long, so `make test` goes a few steps of it and `make slow` some in every scenario; all of it:
`python -m tests.functional.http_faults`.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack

import pytest

from tests.functional.http_faults.chosen import CHOSEN, MOST_REQUESTS
from tests.functional.http_faults.faults import Fault, Strike
from tests.functional.http_faults.walk import Walk
from tests.properties.simulation.scenarios import BY_NAME

pytestmark = pytest.mark.slow

FEW, SOME = 2, 9
"""Steps of a walk."""


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """What is closed after the test."""
    with ExitStack() as stack:
        yield stack


def _hold(walk: Walk, strikes: Iterable[Strike]) -> None:
    wrong = [what for strike in strikes for what in walk.wrong_with(strike)]
    assert [*wrong, *walk.left_over()] == []


@pytest.mark.parametrize("name", MOST_REQUESTS[::3])
def test_one_of_several_requests_fails_over_http(name: str, opened: ExitStack) -> None:
    walk = Walk(BY_NAME[name], opened)
    _hold(walk, walk.some(FEW, first=1 + MOST_REQUESTS.index(name)))


@pytest.mark.parametrize("name", CHOSEN)
def test_a_request_fails_over_http_before_or_after_it_took_effect_is_throttled_done_in_part_or_slow(
    name: str, opened: ExitStack
) -> None:
    walk = Walk(BY_NAME[name], opened)
    _hold(walk, walk.some(SOME, first=CHOSEN.index(name)))


@pytest.mark.parametrize("name", ["inline_then_worker", "on_busy_queue"])
def test_keys_items_and_messages_are_left_unprocessed_over_http(name: str, opened: ExitStack) -> None:
    walk = Walk(BY_NAME[name], opened)
    _hold(walk, (strike for strike in walk.strikes if strike.fault is Fault.IN_PART))
