"""The rules of architecture.md and style.md that a parser can check, each a pure function from a file to violations.

Apart from the tests so that `test_rules_bite` can hold them against planted violations: a rule that finds nothing
must be known to find something.
"""

import ast
import sys
from collections.abc import Iterator

from tests.architecture.sources import Source

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
# The one per-record boundary: a record that fails must not fail the records beside it.
BROAD_EXCEPT_ALLOWED = ("handlers/batch.py", "core/tools/boundary.py")
MAY_IMPORT = {"core": ("core",), "infra": ("core", "infra"), "handlers": ("core", "infra", "handlers")}
OURS = ("core", "infra", "handlers", "tests", "examples", "bench")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def imported_tops(source: Source) -> Iterator[tuple[int, str]]:
    """Line and top-level package of every import, those inside functions and `TYPE_CHECKING` included."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            top = source.top if node.level else (node.module or "").partition(".")[0]
            yield node.lineno, top


def wrong_direction(source: Source) -> list[str]:
    """Imports that do not point `handlers → infra → core`."""
    forbidden = set(OURS) - set(MAY_IMPORT[source.top])
    return [f"{source.path}:{line} imports {top}" for line, top in imported_tops(source) if top in forbidden]


def foreign_to_core(source: Source) -> list[str]:
    """Imports other than the standard library, pydantic and core itself."""
    allowed = sys.stdlib_module_names | {"core", "pydantic"}
    return [
        f"{source.path}:{line} imports {top}" for line, top in imported_tops(source) if top not in allowed
    ]


def too_long(source: Source) -> list[str]:
    """The file and the functions over their limit; decorators do not count, docstrings do."""
    lines = len(source.text.splitlines())
    found = [f"{source.path} has {lines} lines"] if lines > MAX_FILE_LINES else []
    for node in ast.walk(source.tree):
        if isinstance(node, FunctionNode) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                found.append(f"{source.path}:{node.lineno} {node.name} has {length} lines")
    return found


def undocumented(source: Source) -> list[str]:
    """A file that does not open by saying what it holds. Empty `__init__.py` files hold nothing."""
    empty = not source.text.strip()
    return [] if empty or ast.get_docstring(source.tree) else [f"{source.path} has no docstring"]


def broad_excepts(source: Source) -> list[str]:
    """`except:`, `except Exception`, `suppress(Exception)` and their kin, where they are not allowed."""
    if source.path in BROAD_EXCEPT_ALLOWED:
        return []
    return [f"{source.path}:{line} catches everything" for line in _catch_all_lines(source.tree)]


def _catch_all_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if node.type is None or _names_everything(node.type):
                yield node.lineno
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2] == "suppress"
            and any(_names_everything(argument) for argument in node.args)
        ):
            yield node.lineno


def _names_everything(expression: ast.expr) -> bool:
    if isinstance(expression, ast.Tuple):
        return any(_names_everything(element) for element in expression.elts)
    return ast.unparse(expression).rpartition(".")[2] in ("Exception", "BaseException")


def prints(source: Source) -> list[str]:
    """Calls of `print`: logs are structured, and carry no content."""
    return [
        f"{source.path}:{node.lineno} prints"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def unkept_ports(source: Source) -> list[str]:
    """Classes with coroutine methods that are not a Protocol, or whose docstring, the contract, is missing."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and any(
            isinstance(part, ast.AsyncFunctionDef) for part in node.body
        ):
            if not any(ast.unparse(base).endswith("Protocol") for base in node.bases):
                found.append(f"{source.path}:{node.lineno} {node.name} is no Protocol")
            if not ast.get_docstring(node):
                found.append(f"{source.path}:{node.lineno} {node.name} has no docstring")
    return found
