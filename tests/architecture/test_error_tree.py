"""The one error tree: every error of ours hangs in it, and is drawn where `core/errors.py` opens."""

import ast

from core import errors
from tests.architecture.sources import SHIPPED, sources


def _errors() -> dict[str, tuple[str, str]]:
    """By name, the parent and the file of each class that descends from TorporError."""
    classes = {
        node.name: ([ast.unparse(base) for base in node.bases], source.path)
        for source in sources(*SHIPPED)
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
    }
    found = {"TorporError": ("Exception", "core/errors.py")}
    for _ in classes:
        for name, (bases, path) in classes.items():
            if parents := [base for base in bases if base in found]:
                found.setdefault(name, (parents[0], path))
    return found


def _drawn() -> dict[str, str]:
    """By name, its line in the drawing."""
    lines = [line.lstrip("│├└─ ") for line in (errors.__doc__ or "").splitlines() if "──" in line]
    return {line.split()[0]: line for line in lines}


def test_every_error_is_drawn_with_the_file_it_stands_in() -> None:
    ours, drawn = _errors(), _drawn()
    assert set(drawn) == set(ours) - {"TorporError"}
    elsewhere = {name: path for name, (_, path) in ours.items() if path != "core/errors.py"}
    assert {name for name, path in elsewhere.items() if f"`{path}`" not in drawn[name]} == set()


def test_nothing_else_is_raised_on_purpose() -> None:
    strangers = [
        f"{source.path}: {node.name}"
        for source in sources(*SHIPPED)
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
        and node.name not in _errors()
    ]
    assert strangers == []
