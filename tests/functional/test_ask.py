"""`torpor ask`: what it prints where, and its exit codes; on a stack that runs, and on one of its own."""

from collections.abc import Iterator

import pytest

from infra.cli import main
from infra.local import LocalTorpor
from tests.functional.asked_app import SPEC

pytestmark = pytest.mark.slow

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    """One stack for all; it runs when a test lets it."""
    with LocalTorpor(app=SPEC) as stack:
        yield stack


def _ask(local: LocalTorpor, text: str, thread_id: str, *more: str) -> int:
    """Ask, let the stack run, and ask again: that goes on waiting."""
    where = ["--endpoint", local.endpoint_url, "--thread", thread_id, "--message-id", "m1", "--timeout", "0"]
    assert main(["ask", text, *where, *more]) == 3
    local.drain()
    return main(["ask", text, *where, *more])


def test_the_answer_and_what_it_cites_go_to_stdout(local: LocalTorpor, capsys: Captured) -> None:
    assert _ask(local, "find tides", "cites") == 0
    told = capsys.readouterr()
    assert told.out == "Found: tides is on page 7\n\n[1] On \ufffd[31mtides https://books/1\n"
    queued, again = told.err.splitlines()
    assert "not been taken in" in queued
    assert again.endswith("--thread cites --message-id m1")


def test_an_answer_without_sources_is_all_that_is_printed(local: LocalTorpor, capsys: Captured) -> None:
    assert _ask(local, "hello", "plain") == 0
    assert capsys.readouterr().out == "You said: hello\n"


def test_who_asks_goes_along(local: LocalTorpor) -> None:
    assert _ask(local, "hello", "known", "--metadata", "user_id=ann", "--metadata", "note=a=b") == 0
    assert local.history("known")[0]["metadata"] == {"user_id": "ann", "note": "a=b"}


def test_what_the_thread_waits_for_goes_to_stderr(local: LocalTorpor, capsys: Captured) -> None:
    assert _ask(local, "nap", "naps") == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "waits for the end of sleep at" in told.err


def test_no_answer_that_will_ever_come_is_a_failure(local: LocalTorpor, capsys: Captured) -> None:
    assert _ask(local, "fail", "fails") == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "(failed): model: " in told.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--thread", "a b"], 2, "thread_id"),
        (["--message-id", ""], 2, "message_id"),
        (["--app", "nowhere:app"], 2, "nowhere"),
    ],
)
def test_what_is_used_wrongly_is_said_in_one_line(
    local: LocalTorpor, capsys: Captured, arguments: list[str], code: int, said: str
) -> None:
    where = [] if "--app" in arguments else ["--endpoint", local.endpoint_url]
    assert main(["ask", "hello", *where, *arguments]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_stack_of_its_own_lives_as_long_as_the_question(capsys: Captured) -> None:
    assert main(["ask", "find tides", "--app", SPEC]) == 0
    assert capsys.readouterr().out.startswith("Found: tides is on page 7\n\n[1] ")


def test_help_tells_the_exit_codes(capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["ask", "--help"])
    assert "3 not answered yet" in " ".join(capsys.readouterr().out.split())
