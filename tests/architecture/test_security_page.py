"""docs/security.md says what is: its permissions are the template's, and each test that it names is there."""

import ast
import re

from tests.architecture.permissions import PAGE, written
from tests.architecture.sources import sources

TEXT = PAGE.read_text("utf-8")
NAMED = frozenset(re.findall(r"`(test_\w+)`", TEXT))


def _rows() -> list[str]:
    """Of the tables of attacks."""
    section = TEXT.partition("\n## Hostile tenants\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [line for line in lines if not line.startswith(("| attack |", "| ---"))]


def test_the_page_tells_what_each_role_may_do() -> None:
    assert written(TEXT) == TEXT, "python -m tests.architecture.permissions"


def test_each_attack_has_a_bound_and_a_test() -> None:
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in _rows()]
    assert len(cells) > 30
    assert [
        attack for attack, bound, _, tests in cells if not bound or not NAMED & set(re.findall(r"\w+", tests))
    ] == []


def test_each_test_that_it_names_is_there() -> None:
    nodes = [node for source in sources("tests") for node in source.tree.body]
    there = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert sorted(NAMED - there) == []
