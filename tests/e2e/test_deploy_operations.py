"""What people do with a deployed system by the command line, with the rights of the operator's role and no others."""

from collections.abc import Callable

import pytest

from infra.cli import main
from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import says

THREAD = "looked-after"
pytestmark = pytest.mark.parametrize("deployed", ["enforced"], indirect=True)


@pytest.fixture
def as_operator(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of somebody who has taken the role on."""
    for name, value in deployed.stack.environ_of("OperatorRole").items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("as_operator")
def test_an_operator_sees_and_mends_threads(deployed: Deployed, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> str:
        code = main([*arguments, "--stack", deployed.stack.name])
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    deployed.model.play("Are you there?", says("I am."))
    told("send", THREAD, "Are you there?", "--metadata", "user_id=ada")
    assert deployed.mailbox.wait_for_answers(THREAD) == ["I am."]
    assert THREAD in told("threads", "--limit", "1000")
    assert "assistant  I am." in told("show", THREAD, "--tree")
    assert "is settled" in told("settle", THREAD)
    assert told("check", THREAD) == ""
    told("close", THREAD, "--message-id", "last")
    deployed.mailbox.wait_until(lambda: "closed" in told("show", THREAD), "closed")
    deployed.mailbox.send("{not JSON of an operator", group=THREAD)
    deployed.mailbox.wait_until(lambda: bool(_kept(told)), "parked")
    (known_by,) = _kept(told)
    assert main(["dlq", "redrive", known_by]) == 1, "it could only be parked again"
    assert "dropped" in told("dlq", "drop", known_by)
    assert _kept(told) == []


def _kept(told: Callable[..., str]) -> list[str]:
    """Ids of the parked bodies of this test."""
    ids = [line.split()[0] for line in told("dlq", "list").splitlines()]
    return [known_by for known_by in ids if "of an operator" in told("dlq", "show", known_by)]
