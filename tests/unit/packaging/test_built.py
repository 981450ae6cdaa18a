"""Byte code and sizes of what `sam build` made."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.packaging.built import MOST_BYTES, compile_code, main, sizes_of


@pytest.fixture
def build(tmp_path: Path) -> Path:
    for name in ("AgentFunction/handler.py", "AgentLayer/python/package/module.py", "other/module.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("def where():\n    return where.__code__.co_filename\n")
    (tmp_path / "template.yaml").write_text("Resources: {}\n")
    return tmp_path


def test_byte_code_is_used_whatever_the_time_of_its_source_and_knows_nothing_of_this_machine(
    build: Path,
) -> None:
    compile_code(build, Path(sys.executable))
    assert not list((build / "other").rglob("*.pyc"))
    made = list(build.rglob("*.pyc"))
    assert [file for file in made if str(build).encode() in file.read_bytes()] == []
    (build / "AgentFunction" / "handler.py").write_text("raise SystemExit('the source was read')\n")
    program = "import handler, package.module; print('both')"
    environ = {"PYTHONPATH": f"{build}/AgentFunction:{build}/AgentLayer/python"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True)
    assert done.stdout == "both\n", done.stderr
    assert len(made) == 2


def test_a_file_that_does_not_compile_stays_as_it_is(build: Path) -> None:
    (build / "AgentFunction" / "broken.py").write_text("def\n")
    compile_code(build, Path(sys.executable))
    assert len(list((build / "AgentFunction").rglob("*.pyc"))) == 1


def test_sizes_are_those_of_layers_and_functions(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sizes_of(build) == {"AgentFunction": 51, "AgentLayer": 51}
    main([str(build)])
    assert "AgentLayer" in capsys.readouterr().out


def test_more_than_lambda_takes_is_refused(build: Path) -> None:
    with (build / "AgentLayer" / "large").open("wb") as large:
        large.truncate(MOST_BYTES - 100)
    with pytest.raises(SystemExit) as ended:
        main([str(build)])
    assert ended.value.code == 1
