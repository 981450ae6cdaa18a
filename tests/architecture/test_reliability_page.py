"""docs/reliability.md names tests and rules that are there, and every invariant by its name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
INVARIANTS = (
    "append-only",
    "atomic commit",
    "settle before next",
    "once",
    "well-formed",
    "safe spawn",
    "never stuck",
    "one writer",
    "derived ids",
    "bounded",
)


def test_whatever_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:tests|docs)/[\w./]+)`", PAGE)
    assert len(named) > len(INVARIANTS)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_invariant_has_its_row() -> None:
    assert [name for name in INVARIANTS if f"| **{name}**" not in PAGE] == []
