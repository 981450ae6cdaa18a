"""A project of one's own: made by an installed wheel of Torpor, in environments of its own, deployed by its Makefile.

The set-up is a person's first command, and takes packages from a network.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import boto3
import pytest

from infra.packaging.built import MOST_BYTES, most_at_once, sizes_of
from tests.e2e.mailbox import Mailbox
from tests.e2e.ministack import LOG, running
from tests.e2e.processes import REGION, ROOT, environment, run
from tests.e2e.project import LEFT_OUT, lend_sam

NAME = "my_agent"
NOBODY = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True)
class Place:
    """The project's folder, and whose commands run in it."""

    folder: Path
    wheel: Path
    environ: dict[str, str]

    def do(self, *command: str, **variables: str) -> str:
        return run(*command, cwd=self.folder, environ=self.environ | variables)

    @property
    def built(self) -> Path:
        return self.folder / ".aws-sam" / "build"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A project that has been made, set up and tested."""
    with TemporaryDirectory(prefix="torpor-new-") as name:
        home = Path(name)
        environ = environment(home, NOBODY)
        there = Place(home / NAME, _wheel(home, environ), environ)
        run("torpor", "new", there.folder, "--torpor", there.wheel, cwd=home, environ=environ)
        lend_sam(there.folder)
        assert "3 passed" in there.do("make", "test")
        yield there


def _wheel(home: Path, environ: dict[str, str]) -> Path:
    """Built from a copy: a build leaves files behind."""
    source = home / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*LEFT_OUT))
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q")
    run("python", "-m", "pip", "wheel", *options, "-w", home, source, cwd=home, environ=environ)
    (wheel,) = home.glob("*.whl")
    return wheel


def test_the_agent_can_be_talked_to(place: Place) -> None:
    assert "Ask me how warm it is" in place.do("make", "chat", "TEXT=hello")
    assert "That is 88.7 °F." in place.do("make", "chat", "TEXT=How warm is it in Cairo?")


def test_an_installed_torpor_makes_the_same_project_as_a_checkout(place: Place) -> None:
    """And knows what it was installed from."""
    again = place.folder.parent / "again"
    place.do(".venv/bin/torpor", "new", str(again), "--name", NAME)
    made = {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    assert {path: (place.folder / path).read_bytes() for path in made} == made
    assert place.wheel.as_uri() in (again / "requirements.txt").read_text()


def _check_build(place: Place) -> None:
    """Only what runs, each package once, compiled."""
    sizes = sizes_of(place.built)
    assert most_at_once(sizes) < MOST_BYTES / 3
    for name, size in sizes.items():
        bound = {"AgentLayer": 80e6, "WorkerLayer": 30e6}.get(name, 5e6)
        assert size < bound, name
    _check_code(place.built / "AgentFunction")
    assert _copies(place.built, "boto3") == ["AgentLayer/python/boto3"]
    assert _copies(place.built, "core") == sorted(
        f"{name}/core" for name in sizes if name.endswith("Function")
    )
    assert list((place.built / "WorkerLayer").rglob("pydantic/__pycache__/main.*.pyc"))


def _check_code(function: Path) -> None:
    assert sorted(path.name for path in function.iterdir()) == ["core", "handlers", "infra", NAME]
    assert not (function / "infra" / "local").exists()
    assert list(function.rglob("test_*")) == []
    assert list((function / NAME / "__pycache__").iterdir())


def _copies(build: Path, package: str) -> list[str]:
    """Of a package of that name, not of parts of others that are called so."""
    found = (path for path in build.rglob(package) if path.is_dir() and path.parent.name != "aws_xray_sdk")
    return sorted(path.relative_to(build).as_posix() for path in found)


def test_two_commands_from_nothing_to_an_answer_of_the_deployed_agent(place: Place) -> None:
    """`make test` was the first."""
    with TemporaryDirectory(prefix="torpor-e2e-") as name, running(Path(name)) as url:
        given = "PARAMETERS=SenderCheck=off LogLevel=DEBUG"
        assert "Sizes, unzipped" in place.do("make", "deploy", given, AWS_ENDPOINT_URL=url)
        _check_build(place)
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        there = {"region_name": REGION, "endpoint_url": url, **keys}
        stacks = boto3.client("cloudformation", **there).describe_stacks(StackName="my-agent")["Stacks"]
        outputs = {one["OutputKey"]: one["OutputValue"] for one in stacks[0]["Outputs"]}
        sqs = boto3.client("sqs", **there)
        log = Path(name, LOG)
        mailbox = Mailbox(
            *(sqs, outputs["InputQueueUrl"], outputs["OutputQueueUrl"]),
            why=lambda: log.read_text(errors="replace")[-6000:],
        )
        mailbox.say("t1", "How warm is it in Lima?")
        assert mailbox.wait_for_answers("t1") == ["That is 64.4 °F."]
