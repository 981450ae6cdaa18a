"""The README, executed: its code blocks in a fresh folder, its commands against the Makefile."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(README) if found == language]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The README's files, as a reader would save them."""
    for body in _blocks("python"):
        name = body.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(body)
    (script,) = _blocks("json")
    (tmp_path / "weather.json").write_text(script)
    return tmp_path


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True, timeout=120
    )


def test_the_readers_agent_passes_the_readers_tests(folder: Path) -> None:
    done = _run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_weather.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_readers_agent_can_be_talked_to(folder: Path) -> None:
    done = _run(folder, "-m", "infra.cli", "chat", "--app", "weather:app", "Weather in Oslo?")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clear" in done.stdout


def test_a_worker_of_ones_own_answers_a_real_call(folder: Path) -> None:
    program = """
import json
from infra.local import LocalTorpor
from my_worker import answer
call = {"thread_id": "t1", "call_id": "c1", "args": {"city": "Oslo"}}
with LocalTorpor(app="weather:app", model="script:weather.json") as local:
    local.send(answer(json.dumps(call)))
    local.drain()
    print(json.dumps(local.parked() if hasattr(local, "parked") else []))
"""
    (folder / "program.py").write_text(program)
    done = _run(folder, "program.py")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_the_commands_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE))
    assert named <= targets
    assert {"chat", "test"} <= named
