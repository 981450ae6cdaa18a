"""What a conversation looks like: the root's text as it is, everything of a child behind its name."""

import pytest

from core.blocks import text_content
from core.chunks import TextChunk
from core.entries import ToolCall, ToolResult
from core.slice.notices import CallAnswered, CallStarted, ThreadVisited
from infra.cli_view import ChatView

ROOT, CHILD, GRANDCHILD = (
    ThreadVisited(("t1",)),
    ThreadVisited(("t1", "t1~a")),
    ThreadVisited(("t1", "t1~a", "t1~b")),
)
CALL = ToolCall(call_id="c1", name="look", args={"at": "it"})
RESULT = ToolResult(call_id="c1", content=text_content("seen"))


def _lines(capsys: pytest.CaptureFixture[str], *events: object) -> list[str]:
    view = ChatView()
    view.begin()
    for event in events:
        view.notice(event)
    view.end_line()
    return capsys.readouterr().out.splitlines()


def test_the_roots_text_stands_as_it_is_and_a_childs_behind_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = [TextChunk("one\ntw"), TextChunk("o\n"), TextChunk("three")]
    assert _lines(
        capsys, ROOT, *said, CHILD, *said, GRANDCHILD, TextChunk("deep"), ROOT, TextChunk("end")
    ) == [
        *["one", "two", "three"],
        *["  child 1 | one", "  child 1 | two", "  child 1 | three"],
        "  child 2 | deep",
        "end",
    ]


def test_a_childs_calls_stand_behind_its_name_too(capsys: pytest.CaptureFixture[str]) -> None:
    started, answered = _lines(capsys, CHILD, CallStarted(CALL, "web"), CallAnswered(RESULT))
    assert started.startswith("  child 1 |   [1] look(")
    assert answered == "  child 1 |   [1] = seen"


def test_what_a_compaction_says_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    summariser = ThreadVisited(("t1", "t1~c"), "compaction")
    assert _lines(
        capsys, summariser, TextChunk("so far"), ROOT, TextChunk("yes"), CHILD, TextChunk("no")
    ) == [
        "yes",
        "  child 1 | no",
    ]


def test_only_the_roots_text_is_an_answer() -> None:
    view = ChatView()
    view.begin()
    view.notice(CHILD)
    view.notice(TextChunk("mine"))
    assert view.said_something is False
    view.notice(ROOT)
    view.notice(TextChunk("yours"))
    assert view.said_something is True


def test_what_happens_to_a_child_is_said_by_nobody_and_does_not_break_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view = ChatView()
    view.notice(CHILD)
    view.notice(TextChunk("half"))
    view.failure("t1~b", "error (model): away")
    view.failure(None, "error (model): away")
    view.child_closed("t1~b")
    view.notice(TextChunk(" done"))
    view.end_line()
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "  child 1 | half"
    assert shown[1:4] == ["child 2: error (model): away", "error (model): away", "  (child 2 is closed)"]
    assert shown[4] == "  child 1 |  done"
