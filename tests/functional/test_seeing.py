"""`torpor threads`, `show`, `send`, `answer`, `cancel` and `close` against a local stack, as a person uses them."""

import io
from argparse import Namespace
from collections.abc import Iterator
from datetime import datetime

import pytest

from infra.cli_show import show_thread
from infra.local import LocalTorpor
from tests.functional.on_stack import Commands
from tests.functional.waiting_app import SPEC

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    with LocalTorpor(app=SPEC) as local:
        yield local


@pytest.fixture
def commands(local: LocalTorpor, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(local, capsys)


def told(commands: Commands, *arguments: str) -> str:
    """What a command that succeeds says, once everything rests."""
    code, lines, complaint = commands.run(*arguments)
    assert (code, complaint) == (0, "")
    commands.local.drain()
    return "\n".join(lines)


def test_a_person_talks_to_a_thread_answers_it_and_ends_it(commands: Commands) -> None:
    assert told(commands, "send", "t1", "pay 5", "--metadata", "user_id=ada").startswith("sent as cli-")
    assert "a person: approval of pay" in told(commands, "show", "t1")
    assert commands.run("answer", "t1", "--choice", "green")[0] == 2, "it asks for an approval"
    told(commands, "answer", "t1", "--approve", "--args", '{"amount": 3}', "--comment", "less")
    assert "paid 3" in told(commands, "show", "t1")
    told(commands, "send", "t1", "paint it")
    assert "choice of paint, Which colour for it? of red, green" in told(commands, "show", "t1")
    for misfit in (["--approve"], ["--choice", "blue"]):
        assert commands.run("answer", "t1", *misfit)[0] == 2
    told(commands, "answer", "t1", "--choice", "green")
    told(commands, "send", "t1", "nap")
    assert "waits for sleep" in told(commands, "show", "t1", "--tree")
    told(commands, "cancel", "t1")
    assert "at rest" in told(commands, "show", "t1")
    told(commands, "close", "t1")
    assert "closed" in told(commands, "show", "t1", "--limit", "1")
    texts = [one["text"] for one in commands.local.outputs("t1") if one["type"] == "assistant_message"]
    assert "it is green" in texts[1]


def test_what_is_sent_again_under_its_id_counts_once(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe"))
        assert told(commands, "send", "t2", "-", "--message-id", "mine") == "sent as mine"
    assert [entry["kind"] for entry in commands.local.history("t2")] == ["user", "assistant"]
    for _ in range(2):
        told(commands, "send", "t2", "twice")
    assert len(commands.local.history("t2")) == 6


@pytest.mark.parametrize(
    "arguments",
    [
        ("send", "no thread", "x"),
        ("send", "t~x~y", "x"),
        ("send", "t9", "x", "--message-id", "m" * 129),
        ("answer", "t9"),
        ("answer", "t9", "--approve"),
        ("answer", "t9", "--choice", "red", "--args", "{}"),
        ("answer", "t9", "--approve", "--args", "[]"),
        ("answer", "t9", "--approve", "--args", "{"),
        ("show", "t9"),
        ("threads", "--after", "no thread"),
    ],
    ids=range(10),
)
def test_what_is_said_wrongly_is_told_in_one_line_and_not_sent(
    commands: Commands, arguments: tuple[str, ...]
) -> None:
    code, lines, complaint = commands.run(*arguments)
    assert (code, lines, len(complaint.splitlines())) == (2, [], 1)
    commands.local.drain()
    assert commands.local.history("t9") == []


def test_an_answer_says_which_question_it_is_for_where_there_are_several(commands: Commands) -> None:
    for thread_id in ("t3", "t4"):
        told(commands, "send", thread_id, "pay 5")
    code, _, complaint = commands.run("answer", "t3", "call_nobody", "--refuse")
    assert (code, "call_" in complaint) == (2, True)
    call_id = commands.local.history("t3")[-1]["call_id"]
    told(commands, "answer", "t3", call_id, "--refuse", "--comment", "not now")
    assert "refused" in told(commands, "show", "t3")


def test_threads_are_listed_with_what_they_are(commands: Commands) -> None:
    told(commands, "send", "rests", "hi")
    told(commands, "send", "waits", "pay 5")
    found: dict[str, str] = {}
    more: list[str] = []
    while True:
        code, lines, told_beside = commands.run("threads", "--limit", "2", *more)
        assert (code, len(lines) <= 2) == (0, True)
        assert "read units" in told_beside
        found |= {line.split()[0]: line for line in lines}
        if "--after" not in told_beside:
            break
        more = ["--after", told_beside.rpartition("--after ")[2].strip()]
    assert found["rests"].split()[1:5] == ["1", "commit", "rests", "since"]
    assert found["waits"].endswith("1 commit  waits")


class Driving:
    """A clock whose waits let the stack work, and say the next thing."""

    def __init__(self, local: LocalTorpor, *bodies: dict[str, str]) -> None:
        self._local = local
        self._left = list(bodies)

    def now(self) -> datetime:
        return self._local.clock.now()

    async def sleep(self, seconds: float) -> None:
        self._local.send({"thread_id": "t5", **self._left.pop(0)})
        self._local.drain()


def test_following_shows_what_comes_until_the_thread_is_closed(
    commands: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    told(commands, "send", "t5", "first")
    chosen = {"thread": "t5", "tree": False, "follow": True, "after": None, "limit": 5, "full": False}
    options = Namespace(**chosen, stack="any", region=None, endpoint=commands.local.endpoint_url)
    second = {"type": "user_message", "content": "second"}
    assert show_thread(options, Driving(commands.local, second, {"type": "close"})) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if " user " in line] == ["first", "second"]
    assert lines[1].strip() == lines[-2].strip() == "waits for nothing but what is said next"
