"""`torpor chat` asks approvals and choices at the prompt, and shows who sleeps."""

import pytest

from infra.cli import main
from tests.functional.test_chat import Terminal, torpor
from tests.functional.waiting_app import SPEC

pytestmark = pytest.mark.slow


def test_what_is_asked_is_answered_by_the_next_line_and_anything_else_is_said_to_the_agent() -> None:
    typed = [
        *["pay 5", "y", "paint a wall", "2", "wipe", "n not mine"],
        *["pay 5", '{"amount": "much"}', '{"amount": 3}', "paint it", "never mind", "good bye"],
    ]
    done = torpor("chat", "--app", SPEC, typed="\n".join(typed))
    assert (done.returncode, done.stderr) == (0, "")
    words = ("Bank", "Painter", "Disk", "You said")
    bank, painter, disk, edited, ended, last = [
        line for line in done.stdout.splitlines() if line.startswith(words)
    ]
    assert (bank, painter) == ("Bank: paid 5", "Painter: a wall is green")
    assert "not mine" in disk
    assert '{"amount":3}' in edited
    assert "Interrupted" in ended
    assert last == "You said: good bye"


def test_nobody_can_be_asked_by_a_single_question_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--app", SPEC, "pay 5"]) == 1
    told = capsys.readouterr().out
    assert '"amount": 5' in told
    assert "without TEXT" in told


def test_a_short_sleep_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--app", SPEC, "doze"]) == 0
    told = capsys.readouterr().out
    assert "asleep until" in told
    assert "Awake" in told


def test_on_a_terminal_a_sleeper_is_woken_by_what_is_typed_and_a_question_is_answered() -> None:
    terminal = Terminal("--app", SPEC)
    terminal.wait_for("> ")
    for typed, shown in (("nap", "asleep until"), ("wake up", "Awake"), ("pay 5", "amount"), ("y", "paid 5")):
        terminal.type(f"{typed}\n")
        terminal.wait_for("> ")
        assert shown in terminal.shown
    terminal.type("\x04")
    assert terminal.end() == 0
