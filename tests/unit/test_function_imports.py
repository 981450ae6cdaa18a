"""Workers and the relay import no asynchronous AWS client, neither at import nor when their container is built."""

import json
import os
import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT
from tests.unit.test_function_settings import ENVIRON

UNWANTED = {"aioboto3", "aiobotocore", "aiohttp", "moto", "flask", "werkzeug", "pytest", "tests"}
BUILD = """
import json, os, sys
from core.clock import SYSTEM_CLOCK
from handlers import timer_relay, tool_worker
from handlers.bootstrap import build_relay_container, build_worker_container
at_import = sorted(sys.modules)
build_worker_container(os.environ, SYSTEM_CLOCK).close()
build_relay_container(os.environ, SYSTEM_CLOCK).close()
print(json.dumps([at_import, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def modules() -> list[set[str]]:
    """Top-level modules after the import, and after the containers were built."""
    environ = dict(os.environ) | ENVIRON | {"TORPOR_APP": "examples.research:app", "AWS_REGION": "us-east-1"}
    done = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [{name.partition(".")[0] for name in names} for names in json.loads(done.stdout)]


def test_nothing_unwanted_is_imported(modules: list[set[str]]) -> None:
    at_import, built = modules
    assert built & UNWANTED == set()
    assert "boto3" not in at_import
    assert "boto3" in built
