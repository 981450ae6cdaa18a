"""A template with a worker that `torpor new-worker` added passes what Torpor's own template passes.

In a copy of the project, where a tool runs on that worker: the tests read the files of the root they lie in.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra.project.blocks import Worker
from infra.project.worker import add_worker
from tests.architecture.sources import ROOT

COPIED = (
    "core",
    "handlers",
    "infra",
    "examples",
    "layers",
    "tests/architecture",
    "tests/events",
    "tests/unit",
    "tests/conftest.py",
)
ROOT_FILES = ("pyproject.toml", "Makefile", "README.md", "template.yaml")
WORKER = Worker("library-index_2", 100)
"""Its name has all that a name can have, and begins with another worker's."""
MOVED = '@tool(worker="writing", timeout_seconds=30)\ndef list_reports'


def _copy(folder: Path) -> None:
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    for file in (*ROOT.glob("*.lock"), *(ROOT / name for name in ROOT_FILES)):
        shutil.copy(file, folder)


@pytest.mark.slow
def test_it_passes_the_tests_of_the_template(tmp_path: Path) -> None:
    _copy(tmp_path)
    add_worker(tmp_path / "template.yaml", WORKER)
    example = tmp_path / "examples" / "research.py"
    source = example.read_text()
    assert MOVED in source
    # 97 s: the local stack then gives the worker the timeout that the template has.
    moved = MOVED.replace("writing", WORKER.name).replace("=30", "=97")
    example.write_text(source.replace(MOVED, moved))
    tests = [str(path) for path in (tmp_path / "tests" / "architecture").glob("test_template*.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    linted = [str(Path(sys.executable).with_name("cfn-lint")), "template.yaml"]
    done = subprocess.run(linted, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
