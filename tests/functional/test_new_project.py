"""`torpor new`: the project's own tests pass, in its own folder, and it is written as Torpor is."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra.cli import main
from tests.architecture.sources import ROOT

pytestmark = pytest.mark.slow

COMMAND = re.compile(r"^\.venv/bin/torpor (new.*)$", re.MULTILINE)


def _run(folder: Path, *arguments: str) -> str:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    assert "make test" in _run(home, "-m", "infra.cli", "new", "my-agent")
    return home / "my-agent"


def test_its_tests_pass(folder: Path) -> None:
    assert "3 passed" in _run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error")


def test_it_is_formatted_linted_and_a_template(folder: Path) -> None:
    options = ("--isolated", "--no-cache", "--line-length", "110")
    _run(folder, "-m", "ruff", "format", "--check", *options, ".")
    _run(folder, "-m", "ruff", "check", *options, "--select", "E,F,I,B,UP", "--ignore", "E501", ".")
    _run(folder, str(Path(sys.executable).with_name("cfn-lint")), "template.yaml")


def test_its_makefile_says_what_can_be_done(folder: Path) -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make"], cwd=folder, env=outside, capture_output=True, text=True, check=True)
    targets = [line.split()[1] for line in done.stdout.splitlines()]
    assert targets == ["help", "chat", "test", "build", "deploy"]


def test_the_readmes_commands_make_a_project_and_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "torpor"
    here.mkdir()
    shutil.copy(ROOT / "template.yaml", here)
    monkeypatch.chdir(here)
    commands = [shlex.split(one) for one in COMMAND.findall((ROOT / "README.md").read_text())]
    assert [command[0] for command in commands] == ["new", "new-worker"]
    assert [main(command) for command in commands] == [0, 0]
    assert (tmp_path / "my-agent" / "my_agent" / "agent.py").exists()
    assert "# BEGIN worker audit\n" in (here / "template.yaml").read_text()
