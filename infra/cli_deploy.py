"""`torpor deploy`: from the template in this folder to a running stack, by sam."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from core.errors import SettingsError
from infra.packaging.account import account
from infra.packaging.built import MOST_BYTES, compile_code, most_at_once, report, sizes_of
from infra.packaging.parameters import ARCHITECTURE, RUNTIME, parsed, plan
from infra.packaging.sam import TEMPLATE, Sam
from infra.packaging.template_facts import parameters
from infra.packaging.template_file import read_template

DONE, FAILED = 0, 1
SAM_HERE = Path(".venv-sam", "bin", "sam")
"""Where `make deploy` installs it: its pins are others than ours."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What was asked for. Without a stack's name it is only built."""

    stack: str | None
    region: str | None
    parameters: str
    build_folder: Path


def deploy(asked: Deployment) -> int:
    """Returns the exit code."""
    try:
        _deploy(asked)
    except SettingsError as error:
        print(f"torpor: {error}", file=sys.stderr)
        return FAILED
    return DONE


def _deploy(asked: Deployment) -> None:
    known = parameters(read_template(Path(TEMPLATE)))
    planned = plan(parsed(asked.parameters, known), known.get(RUNTIME, ()))
    sam = Sam(_sam(), planned, asked.build_folder)
    what = f"{planned.parameters[RUNTIME]} on {planned.parameters[ARCHITECTURE]}"
    if asked.stack is None:
        _say(f"Building for {what}")
        _build(sam)
        return
    to = account(asked.region)
    _say(f"Deploying {asked.stack} to account {to.number} in {to.region}: {what}")
    _build(sam)
    sam.deploy(asked.stack, to.region)


def _build(sam: Sam) -> None:
    sam.build()
    compile_code(sam.build_folder, sam.plan.python)
    sizes = sizes_of(sam.build_folder)
    _say(report(sizes))
    if most_at_once(sizes) > MOST_BYTES:
        raise SettingsError(
            "that is more than Lambda takes: leave something out, or move it to a function of its own"
        )


def _sam() -> Path:
    if SAM_HERE.exists():
        return SAM_HERE.absolute()
    found = shutil.which("sam")
    if found is None:
        raise SettingsError("sam is not installed: `make deploy` does it, in an environment of its own")
    return Path(found)


def _say(text: str) -> None:
    print(text, flush=True)
