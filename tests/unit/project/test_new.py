"""What a new project is made of, and what it may be called."""

import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import pytest

from core.errors import DefinitionError
from infra.cli import main
from infra.project.new import ROOT_FILES, Project, make, package_name
from infra.project.requirement import requirement, url_of
from infra.project.sources import root_file
from tests.architecture.sources import ROOT
from tests.architecture.template import TEXT

PROJECT = Project("my_agent", "torpor==1")


def test_nothing_of_torpors_own_example_and_no_mark_is_left_in_it() -> None:
    left = re.compile(r"@[A-Z]+@|library|writing|examples\.|tests/architecture", re.IGNORECASE)
    assert [(path, left.findall(text)) for path, text in _written().items() if left.search(text)] == []


def _written() -> dict[str, str]:
    """All but the layers' packages, whose comment speaks of the standard library."""
    return {path: text for path, text in PROJECT.files().items() if not path.startswith("layers/")}


def test_its_template_serves_its_app_and_passes_on_what_is_said_here() -> None:
    template = PROJECT.files()["template.yaml"]
    assert "Default: my_agent.agent:app" in template
    assert re.findall(r"BEGIN worker (\S+)", template) == ["weather"]
    assert "Handler: my_agent.webhook.handler" in template
    resources = re.compile(r"^  (\w+):$", re.M)
    ours = {name for name in resources.findall(TEXT) if not name.startswith(("Library", "Writing"))}
    assert {name for name in resources.findall(template) if not name.startswith("Weather")} == ours


def test_it_pins_what_torpor_was_tested_with_and_the_sam_that_deploys_torpor() -> None:
    files = PROJECT.files()
    pins = re.compile(r"^[a-z].*==.*$", re.M)
    assert pins.findall(files["requirements.lock"]) == pins.findall((ROOT / "requirements.lock").read_text())
    sam = re.compile(r"^SAM := .*$", re.M)
    assert sam.findall(files["Makefile"]) == sam.findall((ROOT / "Makefile").read_text())
    assert "\ntorpor==1\n" in files["requirements.txt"]


def test_a_wheel_and_a_source_archive_carry_every_file_of_the_root_that_a_project_is_made_from() -> None:
    carried = (ROOT / "setup.py").read_text()
    archived = (ROOT / "MANIFEST.in").read_text().split()
    for name in ("template.yaml", "requirements.lock", *ROOT_FILES.values()):
        assert root_file(name) == (ROOT / name).read_text()
        assert f'"{name}"' in carried
        assert any(fnmatch(name, pattern) for pattern in archived)


@pytest.mark.parametrize(
    "name", ["", "My", "1st", "a-b", "class", "core", "infra", "json", "tests", "layers", "pytest"]
)
def test_a_name_that_python_or_the_project_has_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError):
        Project(name, "torpor==1")


@pytest.mark.parametrize(("folder", "name"), [("My Agent", "my_agent"), ("a/b-c.d", "b_c_d"), ("2nd", "2nd")])
def test_a_project_is_called_after_its_folder(folder: str, name: str) -> None:
    assert package_name(Path(folder)) == name


def test_an_empty_folder_is_filled_and_any_other_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(PROJECT, tmp_path)
    (tmp_path / "Makefile").write_text("mine")
    assert main(["new", str(tmp_path), "--name", "my_agent"]) == 2
    assert main(["new", str(tmp_path / "Makefile"), "--name", "my_agent"]) == 2
    assert (tmp_path / "Makefile").read_text() == "mine"
    assert "not empty" in capsys.readouterr().err


def test_where_nothing_can_be_made_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing" / "folder")
    for folder in ("file/sub", "nowhere"):
        assert main(["new", str(tmp_path / folder), "--name", "my_agent"]) == 2
    assert capsys.readouterr().err.count("cannot be made") == 2


def test_what_comes_next_can_be_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", str(tmp_path / "My agent's")]) == 0
    typed = capsys.readouterr().out.partition("Next: cd ")[2]
    assert shlex.split(typed) == [str(tmp_path / "My agent's"), "&&", "make", "test"]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("torpor==1.2", "torpor[local]==1.2"),
        ("torpor[local,models]>=1", "torpor[local,models]>=1"),
        (
            "git+https://example.com/torpor.git@main",
            "torpor[local] @ git+https://example.com/torpor.git@main",
        ),
        (str(ROOT), f"torpor[local] @ {ROOT.as_uri()}"),
        (None, f"torpor[local] @ {ROOT.as_uri()}"),
    ],
)
def test_torpor_comes_from_where_it_was_or_from_where_one_says(given: str | None, line: str) -> None:
    assert requirement(given) == line


def test_what_pip_could_not_install_is_refused() -> None:
    with pytest.raises(DefinitionError):
        requirement("./missing.whl")


def test_a_commit_of_a_repository_is_named_as_pip_names_it() -> None:
    origin = {"url": "https://example.com/torpor.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}
    assert url_of(origin) == "git+https://example.com/torpor.git@c0ffee"
    assert url_of({"url": "file:///torpor.whl", "archive_info": {}}) == "file:///torpor.whl"
