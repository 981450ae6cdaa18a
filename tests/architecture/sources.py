"""The project's Python files, parsed: what the architecture's rules are read off."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("core", "infra", "handlers")
ALL = (*SHIPPED, "tests", "examples", "bench")


@dataclass(frozen=True)
class Source:
    """One file. `path` is relative to the root, with forward slashes."""

    path: str
    text: str

    @property
    def top(self) -> str:
        """The top-level package it belongs to."""
        return self.path.partition("/")[0]

    @property
    def tree(self) -> ast.Module:
        return _parse(self.text)


@cache
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def sources(*tops: str) -> tuple[Source, ...]:
    """Every Python file under these top-level folders, in order of path."""
    files = sorted(path for top in tops for path in (ROOT / top).rglob("*.py"))
    return tuple(Source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in files)
