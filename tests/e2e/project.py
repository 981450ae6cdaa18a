"""A copy of the project to deploy from, so that a build leaves nothing in the tree, and what is built from it."""

import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.packaging.parameters import plan
from infra.packaging.template_facts import parameters
from tests.e2e.processes import ROOT, SAM, run

LEFT_OUT = (".*", "__pycache__", "*.egg-info", "bench", "build", "dist", "tests")
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
    _set_up(folder)
    return folder


def _set_up(folder: Path) -> None:
    """What `make` would do, without a network: environments of its own, so that nothing can be installed into ours,
    that see what ours have installed.
    """
    venv = folder / ".venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=folder, environ={})
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "ours.pth").write_text(
        f"{folder}\nimport site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    command = venv / "bin" / "torpor"
    command.write_text(f"#!{venv}/bin/python\nfrom infra.cli import main\nraise SystemExit(main())\n")
    command.chmod(0o755)
    (venv / ".ready-to-run").touch()
    lend_sam(folder)


def lend_sam(folder: Path) -> None:
    """Ours, in a folder of its own: should make set it up after all, nothing is written into ours."""
    sam = folder / ".venv-sam"
    (sam / "bin").mkdir(parents=True)
    (sam / "bin" / "sam").symlink_to(SAM)
    for stamp in SAM.parents[1].glob(".ready-*"):
        (sam / stamp.name).touch()


def build_project(folder: Path, environ: Mapping[str, str]) -> Project:
    """Copy and build. Packages of the layers come from wherever pip gets them."""
    run("make", "build", cwd=copy_project(folder), environ=environ)
    return Project(folder)
