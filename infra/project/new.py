"""A project of one's own: an agent with a tool of each kind, its test, and a template that deploys it like Torpor's own
example. The files of a project are a function of what was asked; writing them comes last.
"""

import re
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

from core.errors import DefinitionError
from infra.project.blocks import Worker, with_worker, without_worker, workers
from infra.project.sources import project_file, root_file

WORKER = Worker("weather", 90)
"""The one that the project's agent uses."""
TAKEN = frozenset({"core", "handlers", "infra", "layers", "tests"})
"""Packages that lie beside the project's in a function, and its own folders."""
PROJECT_FILES = {
    ".gitignore": "gitignore",
    "Makefile": "Makefile",
    "README.md": "README.md",
    "requirements.txt": "requirements.txt",
    "@NAME@/agent.py": "agent.py",
    "@NAME@/script.json": "script.json",
    "tests/test_agent.py": "test_agent.py",
}
"""Path in the project and what it is made from."""
ROOT_FILES = {
    "layers/agent/requirements.txt": "layers/agent/requirements.txt",
    "layers/worker/requirements.txt": "layers/worker/requirements.txt",
    "@NAME@/webhook.py": "examples/webhook.py",
}
"""Path in the project and in Torpor, taken as they are."""
LOCK_HEADER = "# The versions Torpor was tested with; .venv and the layers are held to them.\n"
TEMPLATE_HEADER = (
    "# The deployed system, made by `torpor new` and yours to edit; `torpor new-worker` adds workers.\n#\n"
)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_FIRST_PARAGRAPH = re.compile(r"\A(?:#.+\n)+#\n")


@dataclass(frozen=True, slots=True)
class Project:
    """What is made. `name` is its package's and its agent's, `requirement` a line for pip that installs Torpor."""

    name: str
    requirement: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or iskeyword(self.name):
            raise DefinitionError(
                f"{self.name!r} cannot be a package: choose --name, 1-40 of a-z, 0-9, _, a letter first"
            )
        if self.name in TAKEN or self.name in sys.stdlib_module_names or _is_installed(self.name):
            raise DefinitionError(
                f"{self.name!r} is a package or folder that is there already: choose another --name"
            )

    @property
    def stack(self) -> str:
        """Its stack's name, unless another is chosen: those have hyphens."""
        return self.name.replace("_", "-")

    def files(self) -> dict[str, str]:
        """Every file's text by its path."""
        made = {path: self._filled(project_file(source)) for path, source in PROJECT_FILES.items()}
        taken = {path: root_file(source) for path, source in ROOT_FILES.items()}
        lock = LOCK_HEADER + re.sub(r"^#.*\n", "", root_file("requirements.lock"), flags=re.M)
        template = self._template(root_file("template.yaml"))
        all_files = {
            **made,
            **taken,
            "@NAME@/__init__.py": "",
            "requirements.lock": lock,
            "template.yaml": template,
        }
        return {self._filled(path): text for path, text in all_files.items()}

    def _filled(self, text: str) -> str:
        for mark, value in (("NAME", self.name), ("STACK", self.stack), ("REQUIREMENT", self.requirement)):
            text = text.replace(f"@{mark}@", value)
        return text

    def _template(self, ours: str) -> str:
        """Torpor's own, with this project's worker, app and webhook."""
        template = _FIRST_PARAGRAPH.sub(TEMPLATE_HEADER, ours)
        for worker in workers(ours):
            template = without_worker(template, worker)
        template = with_worker(template, WORKER, ours)
        template = template.replace("Default: examples.research:app", f"Default: {self.name}.agent:app")
        return template.replace("Handler: examples.", f"Handler: {self.name}.")


def package_name(folder: Path) -> str:
    """What a project in this folder is called, unless its name is chosen."""
    return re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")


def make(project: Project, folder: Path) -> None:
    """Write the project. Raises DefinitionError, and writes nothing, unless the folder is empty or not there."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise DefinitionError(f"{folder} is there and not empty")
    try:
        for path, text in project.files().items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    except OSError as error:
        raise DefinitionError(f"{folder} cannot be made: {error}") from error


def _is_installed(name: str) -> bool:
    """Whether Python finds such a module: a project could not be told from it. A bare folder is none."""
    found: ModuleSpec | None = find_spec(name)
    return found is not None and found.origin is not None
