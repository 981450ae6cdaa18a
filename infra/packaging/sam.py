"""`sam build` and `sam deploy`, as programs: what they are told, and in which environment."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import SettingsError
from infra.packaging.parameters import Plan

TEMPLATE = "template.yaml"


@dataclass(frozen=True, slots=True)
class Sam:
    """One deployment's sam. Both commands raise SettingsError if sam fails; it has said why."""

    program: Path
    plan: Plan
    build_folder: Path

    def build(self) -> None:
        """Build the template of this folder."""
        self._run(
            "build", "--build-in-source", "--template-file", TEMPLATE, "--build-dir", str(self.build_folder)
        )

    def deploy(self, stack: str, region: str) -> None:
        """Create or update the stack; an update without changes is fine. The code goes through a bucket of sam's."""
        options = [
            "--stack-name",
            stack,
            "--region",
            region,
            "--capabilities",
            "CAPABILITY_IAM",
            "--resolve-s3",
        ]
        quiet = ["--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"]
        self._run("deploy", "--template-file", str(self.build_folder / TEMPLATE), *options, *quiet)

    def _run(self, command: str, *options: str) -> None:
        parameters = ["--parameter-overrides", *self.plan.overrides()]
        words = [str(self.program), command, *options, *parameters]
        done = subprocess.run(words, env=_environment(os.environ, self.plan.python), check=False)
        if done.returncode:
            raise SettingsError(f"sam {command} failed ({done.returncode}); what it says above is why")


def _environment(environ: Mapping[str, str], python: Path) -> dict[str, str]:
    """sam looks for the runtime's Python on the PATH; nothing is told to anybody else."""
    path = os.pathsep.join([str(python.parent), environ.get("PATH", os.defpath)])
    return {"SAM_CLI_TELEMETRY": "0", **environ, "PATH": path}
