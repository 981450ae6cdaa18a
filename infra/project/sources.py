"""The files that projects are made from: those that are only for them, and Torpor's own, such as its template.

In a checkout Torpor's own lie in its root. A wheel carries them here (`setup.py`).
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_FILES = files("infra.project") / "files"
_CHECKOUT = Path(__file__).parents[2]


def project_file(name: str) -> str:
    """The text of one that only projects have, placeholders in it."""
    return (_FILES / f"{name}.in").read_text("utf-8")


def root_file(name: str) -> str:
    """The text of one of Torpor's own, by its path in a checkout."""
    carried: Traversable = _FILES / "root" / name
    return (carried if carried.is_file() else _CHECKOUT / name).read_text("utf-8")
