"""What `make build` makes: within its sizes, without what does not run, and a template that sam finds nothing in."""

import pytest

from infra.packaging.built import sizes_of
from tests.e2e.processes import ROOT, SAM, environment, run
from tests.e2e.project import Project

MEBIBYTE = 2**20
MOST_BYTES = {"AgentLayer": 100 * MEBIBYTE, "WorkerLayer": 40 * MEBIBYTE}
"""Unzipped, byte code included: about a third above what they have."""
MOST_BYTES_OF_CODE = 6 * MEBIBYTE
AWS_SDK = {"boto3", "botocore"}


def test_everything_built_is_within_its_size(project: Project) -> None:
    sizes = sizes_of(project.built)
    assert {"AgentFunction", "AgentLayer", "LibraryFunction", "WorkerLayer"} <= set(sizes)
    assert {
        name: size for name, size in sizes.items() if size > MOST_BYTES.get(name, MOST_BYTES_OF_CODE)
    } == {}


@pytest.mark.parametrize(
    ("layer", "holds"), [("AgentLayer", AWS_SDK), ("WorkerLayer", set[str]())], ids=["agent", "worker"]
)
def test_only_the_agents_layer_brings_an_sdk_and_only_once(
    project: Project, layer: str, holds: set[str]
) -> None:
    there = (project.built / layer).glob("*/boto*")
    found = [path.name for path in there if path.name in AWS_SDK]
    assert sorted(found) == sorted(holds)


def test_functions_hold_no_tests_and_no_local_stack(project: Project) -> None:
    for left_out in ("tests", "infra/local", "infra/memory", "bench"):
        assert list(project.built.glob(f"*Function/{left_out}")) == []


def test_sam_finds_nothing_in_the_template(project: Project) -> None:
    environ = environment(project.folder, "http://127.0.0.1:9")
    run(SAM, "validate", "--lint", "--template", ROOT / "template.yaml", cwd=project.folder, environ=environ)
