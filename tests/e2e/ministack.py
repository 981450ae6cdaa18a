"""ministack as a process: an emulator of AWS that is not ours, for a second opinion. `make e2e` installs it."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

COMMAND = Path(__file__).parents[2] / ".venv-ministack" / "bin" / "ministack"
HEALTH = "/_ministack/health"
LOG = "ministack.log"
"""What it and the functions print, in its folder."""
PID = "ministack.pid"
"""Its process id, there too."""
START_SECONDS = 60.0
STOP_SECONDS = 5.0


@contextmanager
def running(folder: Path, **variables: str) -> Iterator[str]:
    """Its URL, once it is ready. It listens on loopback only, and is told nothing of whoever runs it."""
    if not COMMAND.exists():
        pytest.fail("ministack is not installed: run `make e2e`", pytrace=False)
    port = _free_port()
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        **variables,
    }
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            [COMMAND], cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        (folder / PID).write_text(str(process.pid))
        try:
            _wait_until_ready(process, f"http://127.0.0.1:{port}{HEALTH}", folder / LOG)
            yield f"http://127.0.0.1:{port}"
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """It and the function processes it started, which are one group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    waited = 0.0
    while waited < START_SECONDS:
        try:
            with urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            pass  # not listening yet
        try:
            process.wait(0.25)
            break
        except subprocess.TimeoutExpired:
            waited += 0.25
    pytest.fail(f"ministack did not start:\n{log.read_text(errors='replace')[-2000:]}", pytrace=False)
