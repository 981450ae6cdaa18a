"""`python -m tests.cost` (`make cost`): counts everything anew and rewrites the tables of docs/cost.md."""

import sys

from tests.cost.bill import read_book
from tests.cost.counted import count_all, counter
from tests.cost.document import DOCUMENT, rewritten
from tests.cost.tally import amounts_of


def main() -> None:
    """Say whether anything changed."""
    book, before = read_book(), DOCUMENT.read_text("utf-8")
    with counter() as (on, _):
        counted = {name: amounts_of(turn) for name, turn in count_all(on).items()}
    after = rewritten(before, counted, book)
    DOCUMENT.write_text(after, "utf-8")
    sys.stdout.write(f"docs/cost.md: {'rewritten' if after != before else 'as it was'}\n")


if __name__ == "__main__":
    main()
