"""The code of a function: complete, small, and without what Lambda never runs."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from infra.packaging.code import copy_code, main
from tests.architecture.sources import ROOT

MOST_BYTES = 3_000_000
IMPORT_ALL = """
import importlib, pathlib, sys
code, packages = sys.argv[1:]
sys.path[:] = [code, *(path for path in sys.path if path), packages]
for file in sorted(pathlib.Path(code).rglob("*.py")):
    name = ".".join(file.relative_to(code).with_suffix("").parts).removesuffix(".__init__")
    if not name.startswith("infra.library_models"):  # needs packages that only some installations have
        assert importlib.import_module(name).__file__ == str(file), name
"""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    copy_code(tmp_path / "code", [ROOT / "examples"])
    return tmp_path / "code"


def test_every_module_of_it_is_imported_from_it_with_nothing_of_the_checkout(code: Path) -> None:
    """Without `site`, so that no installation of Torpor is on the path either."""
    command = [sys.executable, "-S", "-P", "-c", IMPORT_ALL, str(code), sysconfig.get_path("purelib")]
    done = subprocess.run(
        command, cwd=code, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_it_holds_neither_tests_nor_the_local_stack_nor_the_command_line(code: Path) -> None:
    names = {path.relative_to(code).as_posix() for path in code.rglob("*")}
    assert {path.name for path in code.iterdir()} == {"core", "examples", "handlers", "infra"}
    assert {"handlers/agent.py", "infra/scripted/model.py", "examples/research.json"} <= names
    unwanted = {
        "infra/local",
        "infra/memory",
        "infra/packaging",
        "infra/project",
        "infra/cli.py",
        "infra/cli_chat.py",
    }
    assert names & unwanted == set()
    assert [name for name in names if "test" in name or "__pycache__" in name] == []


def test_it_is_small(code: Path) -> None:
    assert sum(file.stat().st_size for file in code.rglob("*") if file.is_file()) < MOST_BYTES


def test_an_application_is_folders_and_files_and_all_of_them_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("app/core.txt", "app/infra/local/mine.py", "app/.secret", "script.json"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}")
    main(["code", "app", "script.json"])
    copied = sorted(path.relative_to("code").as_posix() for path in Path("code").rglob("*") if path.is_file())
    mine = [name for name in copied if name.startswith(("app/", "script"))]
    assert mine == ["app/core.txt", "app/infra/local/mine.py", "script.json"]
    with pytest.raises(SystemExit):
        main(["code", "missing"])
    assert "there is no missing" in capsys.readouterr().err
