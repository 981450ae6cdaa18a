"""A new worker in a template on disk: all of it or nothing."""

from pathlib import Path

from infra.packaging.template_file import read_template, replace_template
from infra.project.blocks import Worker, with_worker
from infra.project.sources import root_file


def add_worker(file: Path, worker: Worker) -> None:
    """Add the worker to the template. Raises DefinitionError if it does not fit, SettingsError if there is no template;
    both change nothing.
    """
    replace_template(file, with_worker(read_template(file), worker, root_file("template.yaml")))
