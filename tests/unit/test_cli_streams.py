"""Whatever the standard streams are, a command ends with an exit code, and says no more than a line about them."""

import subprocess
import sys

import pytest

SAYS = "\n".join(
    [
        "import sys",
        "from infra.cli_streams import with_streams",
        "def work():",
        "    print(len(sys.stdin.read()), '\\u00b7 \\u2192')",
        "    return 5",
        "sys.exit(with_streams(work))",
    ]
)


@pytest.mark.parametrize(
    ("streams", "code", "said", "lines"),
    [
        ("</dev/null", 5, "0 · →\n", 0),
        ("<&-", 5, "0 · →\n", 0),
        (">&- </dev/null", 5, "", 0),
        ("2>&- >&- </dev/null", 5, "", 0),
        ("</dev/null | true", 0, "", 0),
        ("</dev/null >/dev/full", 1, "", 1),
        ("< <(printf 'a\\xff')", 5, "2 · →\n", 0),
    ],
)
@pytest.mark.parametrize("buffered", ["", "1"])
def test_streams_that_are_closed_full_or_no_text(
    streams: str, code: int, said: str, lines: int, buffered: str
) -> None:
    if "/dev/full" in streams and sys.platform != "linux":
        pytest.skip("has no /dev/full")
    settings = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PYTHONUNBUFFERED": buffered}
    done = _bash(f"set -o pipefail; {_COMMAND} {streams}", settings)
    assert (done.returncode, done.stdout) == (code, said)
    assert len(done.stderr.splitlines()) == lines


def test_what_a_terminal_cannot_show_is_replaced() -> None:
    done = _bash(f"{_COMMAND} </dev/null", {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout, done.stderr) == (5, "0 ? ?\n", "")


_COMMAND = '"$PYTHON" -c "$SAYS"'


def _bash(command: str, settings: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    environment = {"PYTHON": sys.executable, "SAYS": SAYS, **settings}
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
