"""The agent function's import holds nothing that only tests or the local stack need: a cold start pays for imports."""

import json
import os
import subprocess
import sys

from tests.architecture.sources import ROOT

LOCAL_ONLY = {
    *("moto", "responses", "flask", "flask_cors", "werkzeug", "jinja2", "fastapi", "starlette", "uvicorn"),
    *("pytest", "_pytest", "hypothesis", "cfnlint", "mypy", "tests", "bench"),
}


def test_importing_the_agent_handler_imports_no_emulator_and_no_web_framework() -> None:
    program = "import json, sys, handlers.agent; print(json.dumps(sorted(sys.modules)))"
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("TORPOR_", "AWS_"))}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=bare, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    tops = {module.partition(".")[0] for module in json.loads(done.stdout)}
    assert "handlers" in tops
    assert tops & LOCAL_ONLY == set()
