"""`torpor settle` on a local stack: real queues and schedules, and the functions that take on from there."""

from collections.abc import Iterator

import pytest

from infra.local import LocalTorpor
from tests.functional.local_app import SPEC
from tests.functional.on_stack import Commands, cut_off
from tests.functional.sleeper import SPEC as SLEEPER

pytestmark = pytest.mark.slow


@pytest.fixture(params=[SPEC, SLEEPER])
def commands(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Iterator[Commands]:
    with LocalTorpor(app=request.param) as local:
        yield Commands(local, capsys)


TEXTS = {SPEC: "two calls", SLEEPER: "sleep 86400"}
LAST = {SPEC: 'Found: tide is a word\n{"noted": "moon"}', SLEEPER: "Awake."}


def test_a_thread_that_was_cut_off_goes_on_when_it_is_settled(
    commands: Commands, request: pytest.FixtureRequest
) -> None:
    local = commands.local
    spec = request.node.callspec.params["commands"]
    cut_off(commands.stack, spec, type="user_message", thread_id="t1", content=TEXTS[spec])
    local.drain()
    assert local.outputs() == []
    code, would, _ = commands.run("settle", "t1", "--dry-run")
    assert (code, local.outputs()) == (0, [])
    code, done, complaint = commands.run("settle", "t1")
    assert (code, done[-1], complaint) == (0, "commit 1 is settled", "")
    assert [line.removeprefix("sent ") for line in done[:-1]] == [
        line.removeprefix("would send ") for line in would
    ]
    local.advance(seconds=2 * 86_400)
    assert local.outputs("t1")[-1]["text"] == LAST[spec]
    code, would, told = commands.run("settle", "t1", "--dry-run")
    assert (code, would, len(told.splitlines())) == (0, [], 1)
    code, (said,), _ = commands.run("settle", "t1")
    assert (code, said.endswith("is settled")) == (0, True)


def test_a_thread_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with LocalTorpor(app=SLEEPER) as local:
        for more in ((), ("--dry-run",)):
            code, lines, complaint = Commands(local, capsys).run("settle", "nobody", *more)
            assert (code, lines) == (2, [])
            assert "nobody" in complaint
