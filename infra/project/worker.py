"""A new worker in a template on disk: all of it or nothing."""

import os
import tempfile
from pathlib import Path

from core.errors import DefinitionError
from infra.project.blocks import Worker, with_worker
from infra.project.sources import root_file


def add_worker(file: Path, worker: Worker) -> None:
    """Add the worker to the template. Raises DefinitionError, and changes nothing, if it does not fit."""
    try:
        template = file.read_text("utf-8")
    except FileNotFoundError as error:
        raise DefinitionError(f"there is no {file.name} in {file.absolute().parent}") from error
    _replace(file, with_worker(template, worker, root_file("template.yaml")))


def _replace(file: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.absolute().parent, delete=False) as new:
        new.write(text)
    Path(new.name).chmod(file.stat().st_mode)
    os.replace(new.name, file)
