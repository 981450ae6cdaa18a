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
