"""What a terminal is shown: nothing it would obey, on one line, instants and lengths of time as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from infra.operations import shown

NOW = datetime(2025, 1, 1, tzinfo=UTC)
OBEYED = "\x1b[31m\x07\x08\x7f\x9b\u202e\u2066\u200b\ufeff\U000e0041"


def test_nothing_that_a_terminal_obeys_is_left_and_nothing_else_is_lost() -> None:
    assert shown.safe(f"a{OBEYED}b") == (r"a\x1b[31m\x07\x08\x7f\x9b\u202e\u2066\u200b\ufeff\U000e0041b")
    assert shown.safe("Grüße, 水, 🎉 e\u0301") == "Grüße, 水, 🎉 e\u0301"
    for code in (*range(32), *range(127, 160), 0x2028, 0x2029):
        assert shown.safe(chr(code)).isascii()
        assert shown.safe(chr(code)).isprintable()


def test_a_line_is_one_line_and_no_longer_than_it_may_be() -> None:
    assert shown.line("a\n  b\tc\r\n") == "a b c"
    assert shown.line("x" * 200, limit=10) == "x" * 9 + "…"


def test_a_block_keeps_its_lines_and_nothing_moves_back_over_them() -> None:
    assert shown.block("a\tb\r\nc\rd\x1b") == "a\tb\nc\\rd\\x1b"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (1.25, "1.2 s"),
        (61, "1 min 1 s"),
        (3_599, "59 min 59 s"),
        (3_600, "1 h 0 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_a_length_of_time_has_two_units_at_most(seconds: float, text: str) -> None:
    assert shown.duration(timedelta(seconds=seconds)) == text
    assert shown.from_now(NOW + timedelta(seconds=seconds), NOW) == f"in {text}"
    if seconds:
        assert shown.from_now(NOW - timedelta(seconds=seconds), NOW) == f"{text} ago"
