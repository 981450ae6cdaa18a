"""What every role of the template may do, as the table that docs/security.md shows. Written, not kept by hand.

Apart from the test that compares them because a person runs it: `python -m tests.architecture.permissions`.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.architecture.sources import ROOT
from tests.architecture.template import functions, resources, statements_of

PAGE = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- permissions -->\n", "<!-- /permissions -->\n"
OF_EVERY_FUNCTION = ("logs:", "xray:")
"""What is said beside the table: each has its own log group, and X-Ray."""


def table() -> str:
    """One line per statement; a worker's role stands for all of them."""
    head = "| role | may | on | if |\n| --- | --- | --- | --- |\n"
    return head + "".join(f"{row}\n" for row in dict.fromkeys(_rows()))


def _rows() -> Iterator[str]:
    for role in resources("IAM::Role"):
        for statement in statements_of(role):
            allowed = _listed(statement["Action"])
            if not allowed[0].startswith(OF_EVERY_FUNCTION):
                places = dict.fromkeys(_any_worker(_place(one)) for one in _listed(statement["Resource"]))
                actions = " ".join(f"`{action}`" for action in allowed)
                where = " ".join(f"`{place}`" for place in places)
                yield f"| `{_any_worker(role)}` | {actions} | {where} | {_condition(statement)} |"


def _condition(statement: Any) -> str:
    found = [
        f"`{key}` is {' or '.join(f'`{_any_worker(_place(value))}`' for value in _listed(values))}"
        for by_key in statement.get("Condition", {}).values()
        for key, values in by_key.items()
    ]
    return ", ".join(found)


def _place(resource: str) -> str:
    found = re.fullmatch(r"arn:\$\{AWS::Partition\}:([a-z]+):.*:([^:]+)", resource)
    return f"{found[1]} {found[2]}" if found else resource.replace(".Arn", "")


def _any_worker(name: str) -> str:
    """Logical ids begin with the worker's as a word, keys of its records with its own name."""
    for worker in (function for function in functions() if function.worker):
        for prefix, any_one in (
            (worker.name.removesuffix("Function"), "<Worker>"),
            (f"{worker.worker}#", "<worker>#"),
        ):
            if name.startswith(prefix):
                return any_one + name.removeprefix(prefix)
    return name


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def written(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
