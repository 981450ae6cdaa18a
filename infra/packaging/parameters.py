"""The parameters of a deployment: the person's, and those that must match the machine which builds.

`sam build` and `sam deploy` get the same ones: layers hold machine code, for one Python and one architecture.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import SettingsError

RUNTIME, ARCHITECTURE = "PythonRuntime", "Architecture"
ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
"""Lambda's word for what a machine calls itself."""
_ASK = "import sys, pip; print('python%d.%d' % sys.version_info[:2])"
ASK_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Plan:
    """What is built, and with which Python."""

    parameters: Mapping[str, str]
    python: Path

    def overrides(self) -> list[str]:
        """As sam takes them; a backslash it takes for the beginning of something else."""
        return [f'{name}="{_escaped(value)}"' for name, value in self.parameters.items()]


def parsed(text: str, known: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """From `Name=value Name="a value" …`. Raises SettingsError for what template or sam do not take."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SettingsError(f"parameters: {error} in {text}") from error
    found = {}
    for word in words:
        name, is_one, value = word.partition("=")
        if not is_one or name not in known:
            raise SettingsError(f"{word}: parameters are Name=value, of {', '.join(known)}")
        if known[name] and value not in known[name]:
            raise SettingsError(f"{name} is one of {', '.join(known[name])}, not {value!r}")
        if "\\" in value:
            raise SettingsError(f"{name}: a backslash does not get through sam: {value}")
        found[name] = value
    return found


def plan(given: Mapping[str, str], runtimes: tuple[str, ...]) -> Plan:
    """The given parameters with those that fit this machine. Raises SettingsError if it has no Python of `runtimes`,
    which are all that the template allows.

    The Python that runs this comes first. A runtime that is given is taken, if the machine has it.
    """
    if not runtimes:
        raise SettingsError(f"the template must have a parameter {RUNTIME} with AllowedValues")
    wanted = (given[RUNTIME],) if RUNTIME in given else runtimes
    own_first = sorted(reversed(wanted), key=lambda name: name != _own())
    runtime, python = next(
        ((name, python) for name in own_first if (python := python_of(name))), (None, Path())
    )
    if runtime is None:
        raise SettingsError(
            f"layers are built with the Python that runs them: this machine has no {' and no '.join(wanted)} with pip. "
            f"Install one, or choose {RUNTIME} of {', '.join(runtimes)}"
        )
    machine = given.get(ARCHITECTURE) or ARCHITECTURES.get(platform.machine().lower())
    if machine is None:
        raise SettingsError(f"Lambda has no {platform.machine()}: choose {ARCHITECTURE}=x86_64 or arm64")
    return Plan({**given, RUNTIME: runtime, ARCHITECTURE: machine}, python)


def _own() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def python_of(runtime: str) -> Path | None:
    """The Python of that name: beside the one that runs this, else on the PATH."""
    for folder in (str(Path(sys.executable).parent), *os.get_exec_path()):
        found = shutil.which(runtime, path=folder)
        if found and _is(runtime, found):
            return Path(found)
    return None


def _is(name: str, python: str) -> bool:
    """Whether it runs, as what it is called, and has pip: some that lie on a PATH are only signposts."""
    try:
        done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, timeout=ASK_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == name


def _escaped(value: str) -> str:
    return value.replace('"', '\\"')
