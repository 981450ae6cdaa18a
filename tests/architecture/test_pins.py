"""What is installed is pinned, complete and named without an address: set-up is the same everywhere."""

import re
import tomllib
from importlib.metadata import requires, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.sources import ROOT

LOCKS = ("requirements.lock", "requirements-models.lock", "requirements-dev.lock")
"""Each on top of those before it."""
CONFIGS = (*LOCKS, "pyproject.toml", "Makefile", ".ci/run")


def pins(*names: str) -> dict[str, str]:
    lines = [line for name in names for line in (ROOT / name).read_text().splitlines()]
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def unmet(requirement: Requirement, locked: dict[str, str]) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return False
    pinned = locked.get(canonicalize_name(requirement.name))
    return pinned is None or not requirement.specifier.contains(pinned, prereleases=True)


def test_the_locks_hold_what_pyproject_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    running = project["project"]["dependencies"] + extras["local"]
    running += project["build-system"]["requires"]
    checking = project["dependency-groups"]["dev"]
    assert [r for r in running if unmet(Requirement(r), pins(LOCKS[0]))] == []
    assert [r for r in extras["models"] if unmet(Requirement(r), pins(*LOCKS[:2]))] == []
    assert [r for r in checking if unmet(Requirement(r), pins(*LOCKS))] == []


def test_each_lock_is_complete_and_installed() -> None:
    for names in (LOCKS[:1], LOCKS[:2], LOCKS):
        locked = pins(*names)
        assert [name for name, pinned in locked.items() if version(name) != pinned] == []
        needed = [(name, Requirement(text)) for name in locked for text in requires(name) or []]
        assert [f"{name} needs {needs}" for name, needs in needed if unmet(needs, locked)] == []


def test_nothing_names_a_registry() -> None:
    address = re.compile(r"://|index[-_]url|find[-_]links|trusted[-_]host")
    named = [(name, address.findall((ROOT / name).read_text())) for name in CONFIGS]
    assert [(name, found) for name, found in named if found] == []
