"""What anybody wrote can neither pass for a log line of its own nor be obeyed by a terminal that shows an error."""

import json
import logging

import pytest

from core.errors import MisuseError
from handlers.logs import write_line
from infra.cli_stack import FAILED, told
from tests.support.listening import listening

HOSTILE = '\n{"level":"ERROR","action":"forbidden"}\r\n\x85\u2028\x1b[2J\x1b]0;owned\x07"'


def test_a_log_line_is_one_line_whatever_an_id_says() -> None:
    with listening() as kept:
        write_line(logging.WARNING, "a message", action="dead_letter", message_id=HOSTILE)
    (text,) = kept.texts
    assert text.splitlines() == [text]
    assert text.isascii()
    assert json.loads(text)["message_id"] == HOSTILE
    assert kept.of("forbidden") == []


def test_an_error_that_quotes_what_somebody_wrote_is_obeyed_by_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told(MisuseError(f"no such thing: {HOSTILE}"), FAILED) == FAILED
    said = capsys.readouterr().err
    assert not set(said) & {"\x1b", "\x07", "\x85", "\u2028"}
    assert "\\x1b[2J" in said
