"""A copy of the project to deploy from, so that a build leaves nothing in the tree, and what is built from it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.packaging.parameters import plan
from infra.packaging.template_facts import parameters
from tests.e2e.processes import ROOT, run

LEFT_OUT = (".*", "__pycache__", "*.egg-info", "bench", "build", "dist", "tests")
LINKED = (".venv", ".venv-sam")
"""What `make` would set up again."""
APP = "examples.e2e:app"
"""`tests/e2e/app.py`, where a build finds it."""
MACHINE = dict(plan({}, parameters((ROOT / "template.yaml").read_text())["PythonRuntime"]).parameters)
"""What `make deploy` chooses on this machine."""


@dataclass(frozen=True, slots=True)
class Project:
    """A copy of the project, built."""

    folder: Path

    @property
    def built(self) -> Path:
        """One folder for each function and layer, and the template."""
        return self.folder / ".aws-sam" / "build"


def copy_project(folder: Path) -> Path:
    """All that a user's checkout has once it is set up, tests apart."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    shutil.copy(ROOT / "tests" / "e2e" / "app.py", folder / "examples" / "e2e.py")
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    return folder


def build_project(folder: Path, environ: Mapping[str, str]) -> Project:
    """Copy and build. Packages of the layers come from wherever pip gets them."""
    run("make", "build", cwd=copy_project(folder), environ=environ)
    return Project(folder)
