"""Each handler runs with what its layer brings: imported, built and called in a process that finds nothing else.

Alone because it needs processes: in this one, everything is installed.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.sources import ROOT
from tests.architecture.template import functions, resources

LAMBDA_HAS = ["boto3"]
"""The runtime's own, for whoever brings none."""
COPIED = {"core", "examples", "handlers", "infra"}
RUN = """
import importlib, json, sys

found, handlers = json.loads(sys.argv[1])
found = {*found, *sys.stdlib_module_names}

class OnlyThese:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in found and not name.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"no {name} in the layer", name=name)

class Context:
    get_remaining_time_in_millis = staticmethod(lambda: 1000)

sys.meta_path.insert(0, OnlyThese)
answers = {name: importlib.import_module(name).handler({"Records": []}, Context) for name in handlers}
print(json.dumps(answers))
"""


def distributions(requirement: Requirement) -> Iterator[str]:
    """The requirement's distribution, and all that it needs here."""
    yield canonicalize_name(requirement.name)
    extras = requirement.extras or {""}
    for text in importlib.metadata.requires(requirement.name) or []:
        needed = Requirement(text)
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
            yield from distributions(needed)


def modules_of(layer: str) -> set[str]:
    """The top-level modules that a function with this layer finds."""
    folder = ROOT / resources("Serverless::LayerVersion")[layer]["ContentUri"]
    lines = (folder / "requirements.txt").read_text("utf-8").splitlines()
    names = [line for line in lines if line[:1] not in "#-"] + LAMBDA_HAS
    brought = {distribution for name in names for distribution in distributions(Requirement(name))}
    tops = importlib.metadata.packages_distributions()
    return {top for top, of in tops.items() if brought & {canonicalize_name(name) for name in of}} | COPIED


@pytest.mark.parametrize("layer", ["AgentLayer", "WorkerLayer"])
def test_handlers_run_with_their_layers_packages_alone_and_answer_for_each_record(layer: str) -> None:
    mine = [f for f in functions() if f.properties["Layers"] == [layer]]
    handlers = {str(f.properties["Handler"]).removesuffix(".handler") for f in mine}
    environ = dict(os.environ) | {"AWS_REGION": "us-east-1"}
    for function in mine:
        environ |= function.environment
    given = json.dumps([sorted(modules_of(layer)), sorted(handlers)])
    ran = subprocess.run(
        [sys.executable, "-c", RUN, given], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {name: {"batchItemFailures": []} for name in handlers}


def test_whoever_runs_slices_has_the_agents_layer_and_everybody_else_the_small_one() -> None:
    layers = {function.name: function.properties["Layers"] for function in functions()}
    agents = {function.name for function in functions() if "TORPOR_TABLE" in function.environment}
    assert layers == {name: ["AgentLayer" if name in agents else "WorkerLayer"] for name in layers}
