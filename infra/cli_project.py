"""`torpor new` and `torpor new-worker`: what they were asked, and what comes next."""

import shlex
import sys
from pathlib import Path

from core.errors import DefinitionError, PermanentError, SettingsError
from infra.project.blocks import Worker
from infra.project.new import Project, make, package_name
from infra.project.requirement import requirement
from infra.project.worker import add_worker

DONE, MISUSED = 0, 2
TEMPLATE = Path("template.yaml")


def new(folder: Path, name: str | None, torpor: str | None) -> int:
    """Make a project. Returns the exit code."""
    try:
        make(Project(name or package_name(folder), requirement(torpor)), folder)
    except DefinitionError as error:
        return _refuse(error)
    print(f"Made {folder}. Next: cd {shlex.quote(str(folder))} && make test")
    return DONE


def new_worker(name: str, timeout_seconds: int) -> int:
    """Add a worker to the template of this folder. Returns the exit code."""
    try:
        add_worker(TEMPLATE, Worker(name, timeout_seconds))
    except (DefinitionError, SettingsError) as error:
        return _refuse(error)
    print(f'{TEMPLATE} has worker {name}. Give it tools with @tool(worker="{name}"), then: make deploy')
    return DONE


def _refuse(error: PermanentError) -> int:
    print(f"torpor: {error}", file=sys.stderr)
    return MISUSED
