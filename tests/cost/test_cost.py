"""docs/cost.md says what turns cost now: everything in its tables is counted anew and compared."""

import json
from dataclasses import dataclass

import pytest

from tests.cost.bill import Book, fixed_lines, read_book
from tests.cost.counted import Counted, count_all, counter
from tests.cost.document import DOCUMENT, marked, rewritten
from tests.cost.tally import amounts_of

LAMBDAS_OWN_BYTES = 400
"""START, END and REPORT of an invocation."""
EVENT_BYTES = 26
"""CloudWatch adds them to each line."""


@dataclass(frozen=True)
class Everything:
    """What a count has found."""

    turns: dict[str, Counted]
    log: str
    invocations: int
    troubles: list[str]


@pytest.fixture(scope="module")
def everything() -> Everything:
    with counter() as (on, log):
        turns = count_all(on)
        errors = [output["code"] for output in on.local.outputs() if output["type"] == "error"]
        troubles = [*errors, *(parked["reason"] for parked in on.local.parked())]
        runs = sum(count for queue, count in on.wire.done.items() if queue != "output")
    return Everything(turns, log.getvalue(), runs, troubles)


@pytest.fixture
def book() -> Book:
    return read_book()


@pytest.mark.slow
def test_the_document_is_what_is_counted(everything: Everything, book: Book) -> None:
    assert everything.troubles == []
    counted = {name: amounts_of(turn) for name, turn in everything.turns.items()}
    text = DOCUMENT.read_text("utf-8")
    assert rewritten(text, counted, book) == text, "turns cost something else than before: `make cost`"


@pytest.mark.slow
def test_a_text_answer_takes_the_requests_of_storage_md(everything: Everything) -> None:
    asked = everything.turns["text answer"].asked
    slices = [one.operation for one in asked if (one.service, one.resource) != ("sqs", "input")]
    assert sorted(slices) == sorted(
        ["Query", "BatchGetItem", "PutItem", "SendMessageBatch", "BatchWriteItem", "UpdateItem"]
    )
    amounts = amounts_of(everything.turns["text answer"])
    assert (amounts["write_units"], amounts["read_units"]) == (4, 4)


@pytest.mark.slow
def test_the_logs_and_metrics_are_those_of_the_assumptions(everything: Everything, book: Book) -> None:
    lines = [line for line in everything.log.splitlines() if line]
    each = sum(len(line) + EVENT_BYTES for line in lines) / everything.invocations + LAMBDAS_OWN_BYTES
    assumed = book.assumptions["log_bytes"]
    assert assumed / 2 < each < assumed
    metrics = {
        (*(line[name] for name in directive["Dimensions"][0]), metric["Name"])
        for line in map(json.loads, lines)
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", ())
        for metric in directive["Metrics"]
    }
    assert book.assumptions["metrics"] / 2 < len(metrics) < book.assumptions["metrics"]


def test_the_book_is_whole(book: Book) -> None:
    assert sum(book.turns.values()) == 100
    assert all(dollars > 0 for dollars in fixed_lines(book).values())
    every = [*book.prices.values(), *book.assumptions.values(), *book.limits.values(), *book.steps.values()]
    assert min(every) > 0


def test_every_table_has_its_place_in_the_document() -> None:
    places = ["turns", "picture", "bill", "idle", "limits", "hot_thread", "assumptions"]
    assert sorted(marked(DOCUMENT.read_text("utf-8"))) == sorted(places)
