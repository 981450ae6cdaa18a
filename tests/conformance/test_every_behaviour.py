"""Every behaviour of core.yaml has the test that bears its name."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent


def _behaviours() -> set[str]:
    return set(re.findall(r"^- \{id: ([a-z-]+),", (HERE / "core.yaml").read_text("utf-8"), re.MULTILINE))


def _tests() -> list[str]:
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(HERE.glob("test_*.py"))]
    nodes = [node for tree in trees for node in tree.body]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node.name for node in functions if node.name.startswith("test_")]


def test_every_behaviour_has_its_test() -> None:
    named = {f"test_{behaviour.replace('-', '_')}" for behaviour in _behaviours()}
    assert named <= set(_tests())


def test_no_behaviour_has_two_tests() -> None:
    assert len(_tests()) == len(set(_tests()))
