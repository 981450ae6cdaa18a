"""`torpor` as a person or a script uses it: real processes, a pipe or a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from infra.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-W", "error", "-m", "infra.cli"]
RUN = f"TORPOR_TEST_RUN={os.getpid()}"
"""In the environment of what this run starts: others may run the same tests on this machine."""
ENVIRON = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **dict([RUN.split("=")])}
LONGEST_SECONDS = 60
PATIENCE_SECONDS = 3
APP = "tests.functional.local_app:app"


def torpor(*arguments: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=ENVIRON,
        input=typed,
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )


class Terminal:
    """`torpor chat` on a terminal of its own, a session leader."""

    def __init__(self, *arguments: str) -> None:
        self.shown = ""
        self._pid, self._file = pty.fork()
        if self._pid == 0:
            os.chdir(ROOT)
            os.execve(sys.executable, [*COMMAND, "chat", *arguments], ENVIRON)

    def wait_for(self, text: str) -> None:
        """Read until `text` comes after what was read before."""
        start, give_up_at = len(self.shown), monotonic() + LONGEST_SECONDS
        while text not in self.shown[start:]:
            assert monotonic() < give_up_at, self.shown
            assert self._read(), self.shown

    def type(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def end(self, *, pressing: str = "") -> int:
        """Read to the end, the keys pressed again each time that nothing comes of it; the exit code."""
        while pressing and not select.select([self._file], [], [], PATIENCE_SECONDS)[0]:
            self.type(pressing)
        while self._read():
            pass
        os.close(self._file)
        _, status = os.waitpid(self._pid, 0)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        assert select.select([self._file], [], [], LONGEST_SECONDS)[0], self.shown
        try:
            data = os.read(self._file, 65_536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)


def _worker_processes() -> set[str]:
    """Process ids of the worker processes that a chat of this test run started."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            worker = b"infra.local.worker_process" in command
            ours = worker and RUN.encode() in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if ours:
            found.add(entry.name)
    return found


def test_the_research_example_answers_through_worker_processes_in_parallel() -> None:
    done = torpor("chat", "What makes spring tides so high?")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert re.search(r"\[2\] search_documents\(.*library\n +\[3\] search_documents\(.*library\n", done.stdout)
    for number in range(1, 7):
        assert re.search(rf"^ +\[{number}\] = ", done.stdout, re.MULTILINE)
    assert "Saved as " in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout
    assert "script:examples/research.json" in done.stdout.splitlines()[0]


def test_the_team_example_shows_who_does_what_and_ends_with_the_leads_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENVIRON, "TORPOR_BOARD", str(tmp_path))
    done = torpor("chat", "--app", "examples.team:app", "What makes spring tides so high?")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    shown = done.stdout.splitlines()
    for child in (1, 2, 3):
        assert [line for line in shown if line.startswith(f"  child {child} | ")]
        assert f"  (child {child} is closed)" in shown
    own = [line for line in shown if not line.startswith("  ")]
    assert "The board says: What makes spring tides so high?" in own
    (notice,) = tmp_path.glob("*.md")
    assert own[-1] == f"Published as {notice}"


def test_a_conversation_in_a_pipe_keeps_its_thread() -> None:
    done = torpor("chat", "--app", APP, "--thread", "mine", typed="hello\ntwo calls\n\ngood bye\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    said = [line for line in done.stdout.splitlines() if line.startswith(("You said", "Found"))]
    assert said == ["You said: hello", "Found: tide is a word", "You said: good bye"]


def test_a_script_that_is_asked_for_is_played_without_a_remark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "mine.json"
    script.write_text('{"rules": [{"when": {}, "reply": {"text": "Mine: {user}\\u001b[31m"}}]}')
    assert main(["chat", "--app", APP, "--model", f"script:{script}", "hello"]) == 0
    assert capsys.readouterr().out == "Mine: hello[31m\n"


def test_an_answer_that_fails_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "broken.json"
    script.write_text('{"rules": [{"when": {}, "reply": {"error": "invalid"}}]}')
    assert main(["chat", "--app", APP, "--model", f"script:{script}", "hello"]) == 1
    assert "error (model)" in capsys.readouterr().out


def test_a_model_that_cannot_be_had_is_replaced_by_the_bundled_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    assert main(["chat", "--app", "tests.functional.bedrock_app:app", "hello"]) == 0
    remark, *conversation = capsys.readouterr().out.splitlines()
    assert "bedrock:some-model" in remark
    assert "--model" in remark
    assert conversation


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--app", "nowhere:app"], "nowhere"),
        (["--app", "examples.research"], "module:attribute"),
        (["--thread", "not an id"], "not an id"),
        (["--model", "unknown:model"], "unknown:model"),
        (["--model", "script:nowhere.json"], "nowhere.json"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chat", *arguments, "hello"]) == 2
    told = capsys.readouterr().err
    assert named in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("config", ["", "[default\nnonsense"], ids=["no such profile", "a broken file"])
def test_aws_settings_that_cannot_be_used_are_said_in_one_line(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(config)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert main(["chat", "--app", APP, "--model", "bedrock:m", "hello"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_arguments_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "chat" in capsys.readouterr().out


def test_it_knows_its_version() -> None:
    told = torpor("--version")
    assert told.returncode == 0
    assert re.fullmatch(r"torpor \d+\.\d+\.\d+\n", told.stdout)


def test_on_a_terminal_it_streams_outlives_its_workers_and_ends_with_the_input() -> None:
    before = _worker_processes()
    terminal = Terminal("--app", APP)
    terminal.wait_for("> ")
    terminal.type("two calls\n")
    terminal.wait_for("Found: tide is a word")
    terminal.wait_for("> ")
    workers = _worker_processes() - before
    assert len(workers) == 2
    for worker in workers:
        os.kill(int(worker), signal.SIGKILL)
    terminal.type("two calls\n")  # its workers are started again
    terminal.wait_for("Found: tide is a word")
    terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "\x1b[2m" in terminal.shown
    assert _worker_processes() <= before


def test_a_model_that_cannot_be_reached_is_tried_again_and_ctrl_c_ends_the_wait(tmp_path: Path) -> None:
    script = tmp_path / "down.json"
    script.write_text('{"rules": [{"when": {}, "reply": {"error": "throttled"}}]}')
    terminal = Terminal("--app", APP, "--model", f"script:{script}", "hello")
    terminal.wait_for("Ctrl-C")
    assert re.search(r"\d+ s\b", terminal.shown)
    terminal.type("\x03")
    assert terminal.end(pressing="\x03") == 130


@pytest.mark.parametrize("when", ["at the prompt", "in mid-answer"])
def test_ctrl_c_ends_it_cleanly(when: str) -> None:
    before = _worker_processes()
    terminal = Terminal("--app", APP)
    terminal.wait_for("> ")
    if when == "in mid-answer":
        terminal.type("slowly\n")
        terminal.wait_for("O")
    terminal.type("\x03")
    assert terminal.end(pressing="\x03") == 130
    assert "Traceback" not in terminal.shown
    assert _worker_processes() <= before


def test_a_reader_that_has_seen_enough_ends_nothing_badly() -> None:
    program = f"{sys.executable} -m infra.cli chat --app {APP} 'two calls' | head -n 1"
    done = subprocess.run(
        program, shell=True, cwd=ROOT, env=ENVIRON, capture_output=True, text=True, timeout=LONGEST_SECONDS
    )
    assert (done.stderr, len(done.stdout.splitlines())) == ("", 1)


def test_workers_do_not_outlive_a_chat_that_is_killed() -> None:
    before = _worker_processes()
    terminal = Terminal("--app", APP)
    terminal.wait_for("> ")
    terminal.type("two calls\n")
    terminal.wait_for("Found: tide is a word")
    left = _worker_processes() - before
    os.kill(terminal._pid, signal.SIGKILL)
    assert terminal.end() == -signal.SIGKILL
    for worker in left:
        _wait_for_end(worker)


def _wait_for_end(process_id: str) -> None:
    try:
        handle = os.pidfd_open(int(process_id))
    except ProcessLookupError:
        return
    with os.fdopen(handle, "rb", closefd=True):
        assert select.select([handle], [], [], LONGEST_SECONDS)[0]
