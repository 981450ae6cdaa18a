"""The README, executed: its code blocks in a fresh folder, its commands against the Makefile."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.cli import main
from tests.wire import frames, sse
from tests.wire.api_servers import AnthropicServer, OpenAiServer
from tests.wire.in_thread import served
from tests.wire.server import ConverseServer
from tests.wire.steps import plays

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(README) if found == language]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The README's files, as a reader would save them."""
    (tmp_path / "examples").mkdir()
    for body in _blocks("python"):
        name = body.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(body)
    scripts = (
        "weather.json",
        "harbour.json",
        "errands.json",
        "notes.json",
        "orders.json",
        "examples/audit.json",
    )
    for name, script in zip(scripts, _blocks("json"), strict=True):
        (tmp_path / name).write_text(script)
    return tmp_path


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True, timeout=120
    )


@pytest.mark.slow
def test_the_readers_agent_passes_the_readers_tests(folder: Path) -> None:
    tests = (
        "test_weather.py",
        "test_harbour.py",
        "test_errands.py",
        "test_notes.py",
        "test_desk.py",
        "test_talk.py",
    )
    done = _run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 passed" in done.stdout
    assert _run(folder, "-c", "from priced import app; assert app.prices").returncode == 0


@pytest.mark.slow
def test_the_readers_agent_can_be_talked_to(folder: Path) -> None:
    done = _run(folder, "-m", "infra.cli", "chat", "--app", "weather:app", "Weather in Oslo?")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clear" in done.stdout


@pytest.mark.slow
def test_the_readers_agent_with_a_worker_of_its_own_answers(folder: Path) -> None:
    done = _run(folder, "-m", "infra.cli", "chat", "--app", "examples.audit:app", "How many words are these?")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "I count 5." in done.stdout


@pytest.mark.slow
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


HELLO = "A whole answer."
SERVERS = {
    "bedrock": (ConverseServer, frames.says(HELLO), "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""),
    "anthropic": (AnthropicServer, sse.messages(sse.text(0, HELLO)), "ANTHROPIC_BASE_URL", ""),
    "openai": (OpenAiServer, sse.chat({"content": HELLO}), "OPENAI_BASE_URL", "/v1"),
}
START = re.compile(r"^((?:\w+=\S+ )+)make chat MODEL=((\w+):\S+)$", re.MULTILINE)
STARTS = START.findall("\n".join(_blocks("sh")))


def test_three_ways_to_start_with_a_real_model_are_shown() -> None:
    assert [provider for _, _, provider in STARTS] == list(SERVERS)


@pytest.mark.slow
@pytest.mark.parametrize(("given", "model", "provider"), STARTS)
def test_a_way_to_start_works_as_it_is_shown(
    given: str, model: str, provider: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serves, reply, address, path = SERVERS[provider]
    said = dict(one.split("=", 1) for one in given.split())
    with served(plays(reply), serves=serves) as server:
        there = {address: server.url + path, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}
        for name, value in (said | there).items():
            monkeypatch.setenv(name, value)
        assert main(["chat", "--model", model, "Hello?"]) == 0
        (received,) = server.requests
    assert HELLO in capsys.readouterr().out
    assert received.model_id == model.partition(":")[2]


def test_models_of_other_providers_are_set_up_when_one_is_named() -> None:
    fresh = ["-o", ".venv/.ready-to-run", "-o", "requirements.lock", "-W", "requirements-models.lock"]
    for model, wanted in (("openai:m", True), ("anthropic:m", True), ("bedrock:m", False), ("", False)):
        made = subprocess.run(
            ["make", "-n", *fresh, "chat", f"MODEL={model}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("requirements-models.lock" in made.stdout) == wanted


def test_the_commands_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z0-9-]+)", README, re.MULTILINE))
    assert named <= targets
    assert {"chat", "test"} <= named
