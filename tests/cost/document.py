"""docs/cost.md: words that people write, and tables between marks, which are counted anew."""

import re
from collections.abc import Mapping

from tests.architecture.sources import ROOT
from tests.cost import tables
from tests.cost.bill import Book
from tests.cost.tally import Amounts

DOCUMENT = ROOT / "docs" / "cost.md"
_BLOCK = re.compile(r"(<!-- counted: (\w+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def rewritten(text: str, counted: Mapping[str, Amounts], book: Book) -> str:
    """The document with its tables as they are now. Raises KeyError for a table that there is not."""
    made = {
        "turns": tables.turns(counted, book),
        "picture": tables.picture(counted, book),
        "bill": tables.bill(counted, book),
        "assumptions": tables.assumptions(book),
        "hot_thread": tables.hot_thread(counted, book),
        "limits": tables.limits(counted, book),
        "idle": tables.idle(book),
    }
    return _BLOCK.sub(lambda block: block[1] + made[block[2]] + block[3], text)


def marked(text: str) -> list[str]:
    """Names of the tables in it."""
    return [block[2] for block in _BLOCK.finditer(text)]
