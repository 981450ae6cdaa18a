"""`torpor deploy`: a program in place of sam writes down what it is told, an emulator knows who asks."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.clock import SYSTEM_CLOCK
from infra.cli import main
from infra.local.emulator import Emulator
from tests.architecture.template import TEXT

SAM = f"""#!{sys.executable}
import json, os, pathlib, sys
with open("told", "a") as told:
    told.write(json.dumps([sys.argv[1:], os.environ["PATH"], os.environ["SAM_CLI_TELEMETRY"]]) + "\\n")
if "--build-dir" in sys.argv:
    folder = pathlib.Path(sys.argv[sys.argv.index("--build-dir") + 1], "AgentFunction")
    folder.mkdir(parents=True)
    (folder / "module.py").write_text("")
sys.exit(int(os.environ.get("FAILS", "") == sys.argv[1]))
"""
PARAMETERS = 'ModelId=bedrock:m UserSenders="A, B"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a template and a sam. Nobody's credentials but these."""
    for name in [name for name in os.environ if name.startswith("AWS_") and "CONFIG" not in name]:
        if name not in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_EC2_METADATA_DISABLED"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    Path("template.yaml").write_text(TEXT)
    sam = tmp_path / ".venv-sam" / "bin" / "sam"
    sam.parent.mkdir(parents=True)
    sam.write_text(SAM)
    sam.chmod(0o755)
    return tmp_path


@pytest.fixture(scope="module")
def endpoint_url() -> Iterator[str]:
    emulator = Emulator(SYSTEM_CLOCK)
    yield emulator.endpoint_url
    emulator.close()


@pytest.fixture
def account(folder: Path, endpoint_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("ACCESS_KEY_ID", "id"),
        ("SECRET_ACCESS_KEY", "key"),
        ("ENDPOINT_URL", endpoint_url),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)


def _told(folder: Path) -> list[Any]:
    file = folder / "told"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.usefixtures("account")
def test_build_and_deploy_are_told_the_same_parameters(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["deploy", "mine", "--region", "eu-west-1", "--parameters", PARAMETERS]) == 0
    (build, path, telemetry), (deploy, *_) = _told(folder)
    overrides = build[build.index("--parameter-overrides") :]
    assert overrides == deploy[deploy.index("--parameter-overrides") :]
    assert {'ModelId="bedrock:m"', 'UserSenders="A, B"'} < set(overrides)
    assert {one.partition("=")[0] for one in overrides[3:]} == {"PythonRuntime", "Architecture"}
    assert (build[:2], deploy[0]) == (["build", "--build-in-source"], "deploy")
    assert deploy[deploy.index("--stack-name") + 1] == "mine"
    assert deploy[deploy.index("--region") + 1] == "eu-west-1"
    assert (path.split(os.pathsep)[0], telemetry) == (str(Path(sys.executable).parent), "0")
    assert list((folder / ".aws-sam" / "build").rglob("module.*.pyc"))
    said = capsys.readouterr().out
    assert "123456789012 in eu-west-1" in said
    assert "AgentFunction" in said


def test_without_a_stack_it_is_only_built_and_nobody_is_asked_who_you_are(folder: Path) -> None:
    assert main(["deploy", "--build-dir", "elsewhere"]) == 0
    ((build, *_),) = _told(folder)
    assert build[0] == "build"
    assert (folder / "elsewhere" / "AgentFunction").is_dir()


@pytest.mark.usefixtures("account")
def test_what_sam_fails_at_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAILS", "build")
    assert main(["deploy", "mine", "--region", "eu-west-1"]) == 1
    assert len(_told(folder)) == 1
    assert "sam build failed" in capsys.readouterr().err


def test_who_has_no_credentials_or_no_region_is_told_before_anything_is_built(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["deploy", "mine"]) == 1
    assert "no region" in capsys.readouterr().err
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert main(["deploy", "mine"]) == 1
    assert "no AWS credentials" in capsys.readouterr().err
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert main(["deploy", "mine"]) == 1
    assert "nobody" in capsys.readouterr().err
    assert _told(folder) == []


def test_a_wrong_parameter_and_a_missing_template_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["deploy", "mine", "--parameters", "Modell=x"]) == 1
    assert "Modell=x" in capsys.readouterr().err
    (folder / "template.yaml").unlink()
    assert main(["deploy", "mine"]) == 1
    assert "no template.yaml" in capsys.readouterr().err
