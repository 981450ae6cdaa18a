"""Workers of a template as text: a new one is like those that are there, and nothing else changes."""

import difflib

import pytest

from core.errors import DefinitionError
from infra.project.blocks import Worker, block_of, with_worker, without_worker, workers
from tests.architecture.template import TEXT, functions

WORKERS = workers(TEXT)
LAST = list(WORKERS.values())[-1]


def _bare() -> str:
    """Torpor's template without a worker."""
    bare = TEXT
    for name in WORKERS:
        bare = without_worker(bare, name)
    return bare


def test_the_workers_of_the_template_are_found() -> None:
    assert set(WORKERS) == {function.worker for function in functions() if function.worker}
    assert len(WORKERS) > 1


@pytest.mark.parametrize("one", WORKERS.values(), ids=WORKERS)
@pytest.mark.parametrize("other", WORKERS.values(), ids=WORKERS)
def test_a_block_is_what_any_other_block_makes_of_it(one: Worker, other: Worker) -> None:
    assert one.like(block_of(TEXT, other.name), other) == block_of(TEXT, one.name)


def test_the_last_worker_removed_and_added_gives_the_template_as_it_was() -> None:
    assert with_worker(without_worker(TEXT, LAST.name), LAST, TEXT) == TEXT


def test_all_removed_and_added_give_the_template_as_it_was() -> None:
    made = _bare()
    assert not any(worker.prefix in made for worker in WORKERS.values())
    for worker in WORKERS.values():
        made = with_worker(made, worker, TEXT)
    assert made == TEXT


@pytest.mark.parametrize(
    "name", ["dead", "dead-letter", "library-index_2", "librarian", "a--b", "x_", "Input2"]
)
def test_any_worker_added_and_removed_gives_the_template_as_it_was(name: str) -> None:
    made = with_worker(TEXT, Worker(name, 60), TEXT)
    assert [*workers(made)] == [*WORKERS, name]
    assert without_worker(made, name) == TEXT


def test_without_a_worker_a_new_one_is_the_last_resource_wherever_that_is() -> None:
    head, outputs = _bare().split("\nOutputs:\n")
    parameters_at = head.index("\nParameters:\n") + 1
    turned = f"{head[:parameters_at]}Outputs:\n{outputs}\n{head[parameters_at:]}"
    made = with_worker(turned, Worker("audit", 60), TEXT)
    assert made.endswith("  # END worker audit\n")
    assert without_worker(made, "audit").rstrip() == turned.rstrip()
    with pytest.raises(DefinitionError, match="Resources"):
        with_worker(turned.replace("\nResources:", "\nThings:"), Worker("audit", 60), TEXT)


def test_a_new_worker_changes_no_line_but_the_ends_of_the_maps_it_joins() -> None:
    made = with_worker(TEXT, Worker("report-writer2", 100), TEXT)
    changes = list(difflib.ndiff(TEXT.splitlines(), made.splitlines()))
    gone = [line.strip("- ") for line in changes if line.startswith("- ")]
    added = [line[2:] for line in changes if line.startswith("+ ")]
    assert all(line.endswith("}") and f"{line[:-1]}," in "".join(added) for line in gone)
    assert len(gone) == 5
    assert {"      Timeout: 100", "      VisibilityTimeout: 600", "  # END worker report-writer2"} <= set(
        added
    )
    assert sum("ReportWriter2Role.RoleId" in line for line in added) == 2


@pytest.mark.parametrize("name", ["", "a b", "ä", "-", "2nd", "on", "Yes", "a" * 41, "a: b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError):
        Worker(name, 90)


@pytest.mark.parametrize("timeout_seconds", [-1, 3, 901])
def test_a_timeout_that_no_worker_can_have_is_refused(timeout_seconds: int) -> None:
    with pytest.raises(DefinitionError):
        Worker("audit", timeout_seconds)


@pytest.mark.parametrize("name", [*WORKERS, "Library", "agent", "dead-letters", "webhook", "input"])
def test_a_name_that_the_template_uses_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="already"):
        with_worker(TEXT, Worker(name, 90), TEXT)


@pytest.mark.parametrize("variable", ["TORPOR_WORKER_QUEUES", "TORPOR_DEAD_LETTER_QUEUES", "TORPOR_SENDERS"])
def test_a_template_in_which_one_function_is_told_otherwise_is_refused(variable: str) -> None:
    """Every place of each map in turn: a worker that only one of two functions knows would be worse than none."""
    stated = f"{variable}: !Sub >-"
    *heads, last = TEXT.split(stated)
    for place in range(len(heads)):
        parts = [*heads, last]
        parts[place : place + 2] = [f"{parts[place]}{variable}: !Sub |-{parts[place + 1]}"]
        with pytest.raises(DefinitionError, match=variable):
            with_worker(stated.join(parts), Worker("audit", 90), TEXT)
    with pytest.raises(DefinitionError, match=variable):
        with_worker(TEXT.replace(variable, "OTHER"), Worker("audit", 90), TEXT)
