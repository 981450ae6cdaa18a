"""What the command line refuses before it asks anybody: endpoints that are none, and values that mean nothing."""

import pytest

from infra.cli import main

Captured = pytest.CaptureFixture[str]

COMMANDS = [
    ["threads"],
    ["show", "t1"],
    ["send", "t1", "x"],
    ["check", "t1"],
    ["settle", "t1"],
    ["dlq", "list"],
    ["erase", "t1"],
    ["export", "t1"],
    ["import", "file"],
    ["fork", "t1", "--at", "1", "--to", "t2"],
    ["ask", "x"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_an_endpoint_that_is_empty_never_means_a_deployed_stack(
    command: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert main([*command, "--endpoint", ""]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "endpoint ''" in said.err


@pytest.mark.parametrize(
    "url", ["here", "http://", "http://a_b", "http://h:99999", "http://h:x", "ftp://h", "http://[::1"]
)
def test_what_is_no_endpoint_is_said_in_one_line(url: str, capsys: Captured) -> None:
    assert main(["threads", "--endpoint", url]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["threads", "--limit", "0"],
        ["dlq", "list", "--limit", "-1"],
        ["show", "t1", "--limit", "many"],
        ["show", "t1", "--after", "-5"],
        ["ask", "x", "--timeout", "nan"],
        ["ask", "x", "--timeout", "-1"],
        ["ask", "x", "--timeout", "inf"],
        ["ask", "x", "--timeout", "soon"],
        ["ask", "x", "--metadata", "no equals"],
        ["send", "t1", "x", "--metadata", "=no key"],
    ],
    ids=" ".join,
)
def test_values_that_mean_nothing_are_refused(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert arguments[-2] in capsys.readouterr().err
