"""What pyproject.toml cannot say: a wheel also holds the files of the root that `torpor new` makes projects from.

`infra/project/sources.py` finds them there, or in the root of a checkout.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT_FILES = (
    "template.yaml",
    "requirements.lock",
    "layers/agent/requirements.txt",
    "layers/worker/requirements.txt",
    "examples/webhook.py",
)


class BuildWithRootFiles(build_py):
    """As usual, from scratch: a build that is left over holds modules that may be gone."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for name in ROOT_FILES:
            target = Path(self.build_lib, "infra", "project", "files", "root", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, target)


setup(cmdclass={"build_py": BuildWithRootFiles})
