"""`torpor new-worker`, on a template on disk."""

import stat
from pathlib import Path

import pytest

from infra.cli import main
from tests.architecture.template import TEXT


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "template.yaml"
    file.write_text(TEXT + "# mine\n")
    file.chmod(0o640)
    return file


def test_a_worker_is_added_and_the_rest_stays(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-worker", "audit", "--timeout", "30"]) == 0
    text = template.read_text()
    assert "# BEGIN worker audit" in text
    assert "VisibilityTimeout: 180\n" in text
    assert text.endswith("# mine\n")
    assert stat.S_IMODE(template.stat().st_mode) == 0o640
    assert '@tool(worker="audit")' in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["library"], ["no"], ["audit", "--timeout", "1000"]])
def test_what_is_refused_changes_nothing(
    arguments: list[str], template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-worker", *arguments]) == 2
    assert template.read_text() == TEXT + "# mine\n"
    assert [path.name for path in template.parent.iterdir()] == ["template.yaml"]
    assert capsys.readouterr().err.startswith("torpor: ")


def test_without_a_template_it_says_where_it_looked(
    template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template.unlink()
    assert main(["new-worker", "audit"]) == 2
    assert str(template.parent) in capsys.readouterr().err


def test_line_ends_and_links_stay_as_they_were(template: Path) -> None:
    template.unlink()
    kept = template.parent / "kept.yaml"
    kept.write_bytes(TEXT.replace("\n", "\r\n").encode())
    template.symlink_to(kept)
    assert main(["new-worker", "audit"]) == 0
    assert template.is_symlink()
    assert b"# BEGIN worker audit\r\n" in kept.read_bytes()
    assert kept.read_bytes().count(b"\n") == kept.read_bytes().count(b"\r\n")


def test_what_is_no_text_is_refused_and_told(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template.write_bytes(b"\xff\xfe")
    assert main(["new-worker", "audit"]) == 2
    template.unlink()
    template.mkdir()
    assert main(["new-worker", "audit"]) == 2
    assert capsys.readouterr().err.count("torpor: template.yaml cannot be read") == 2
