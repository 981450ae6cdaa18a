"""Commands as a user runs them, told nothing of whoever runs the tests but where their packages come from."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAM = ROOT / ".venv-sam" / "bin" / "sam"
AWS_CLI = ROOT / ".venv-awscli" / "bin" / "aws"
REGION = "us-east-1"
COMMAND_SECONDS = 1200
NOT_TOLD = ("AWS_", "SAM_", "TORPOR_", "MAKE", "MFLAGS", "STACK", "REGION", "PARAMETERS", "PYTHONPATH")
"""Beginnings of variables that would change what a command does: settings of AWS, sam and make."""


def environment(folder: Path, endpoint_url: str) -> dict[str, str]:
    """Of whoever deploys to an emulator: its credentials, settings in `folder`, and the Python of the template on the
    PATH.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_TOLD)}
    path = (Path(sys.executable).parent, SAM.parent, kept.get("PATH", os.defpath))
    return kept | {
        "PATH": os.pathsep.join(map(str, path)),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        "SAM_CLI_TELEMETRY": "0",
        "__SAM_CLI_APP_DIR": str(folder),
    }


def with_aws_cli(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """`aws` on the PATH, from `folder`. Version 1, which a package registry has, asks AWS itself for queues whatever
    the environment says, so it is told on the command line.
    """
    command = folder / "aws"
    command.write_text(f'#!/bin/sh\nexec {AWS_CLI} --endpoint-url {environ["AWS_ENDPOINT_URL"]} "$@"\n')
    command.chmod(0o755)
    return {**environ, "PATH": os.pathsep.join([str(folder), environ["PATH"]])}


def run(*command: str | Path, cwd: Path, environ: Mapping[str, str]) -> str:
    """What it prints. Fails the test with all of it if the command fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_SECONDS,
    )
    if done.returncode != 0:
        shown = " ".join(map(str, command))
        pytest.fail(f"{shown}\nended with {done.returncode}:\n{done.stdout[-6000:]}", pytrace=False)
    return done.stdout
