"""The research example's tools, called as ordinary functions: what they find, write and refuse."""

from pathlib import Path

import pytest

from core import ToolContext
from core.state import AgentState
from examples.research import (
    MAX_SHOWN_CHARACTERS,
    app,
    list_documents,
    list_reports,
    plan_search,
    read_document,
    search_documents,
    write_report,
)
from examples.text_files import MAX_FILE_BYTES


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few documents of the test's own, one folder below the place they may not leave."""
    documents = tmp_path / "documents"
    (documents / "sub").mkdir(parents=True)
    (documents / "bees.md").write_text(
        "# Bees\n\nBees dance.\n\nHoney is stored in combs.\n\nA queen lays eggs.\n"
    )
    (documents / "sub" / "honey.txt").write_text("Honey\n\nHoney honey honey keeps for years.\n")
    (documents / "picture.md").write_bytes(b"\x89PNG\xff")
    (documents / ".hidden.md").write_text("honey")
    (tmp_path / "secret.md").write_text("honey")
    (documents / "link.md").symlink_to(tmp_path / "secret.md")
    monkeypatch.setenv("TORPOR_DOCUMENTS", str(documents))
    monkeypatch.setenv("TORPOR_REPORTS", str(tmp_path / "reports"))


def paths(query: str, folder: str = ".") -> list[str]:
    return [hit["path"] for hit in search_documents(query, folder)["hits"]]


def test_tools_run_on_two_workers_and_one_inside_the_slice() -> None:
    assert set(app.workers()) == {"library", "writing"}
    assert plan_search.tool.worker is None


@pytest.mark.parametrize(
    ("question", "folder", "queries"),
    [
        ("How do bees dance?", ".", ["bees dance", "dance"]),
        ("Tell me about honey", ".", ["honey"]),
        ("hello!", ".", []),
        ("honey, in the folder sub/old.", "sub/old", ["honey"]),
        ("honey in folder ../.. now", "../..", ["honey now", "honey"]),
        ("蜂蜜", ".", ["蜂蜜"]),
    ],
)
def test_a_plan_keeps_the_words_that_tell_something(question: str, folder: str, queries: list[str]) -> None:
    ctx = ToolContext.for_test(state=AgentState(report="the last one"))
    assert plan_search(question, ctx) == {"folder": folder, "queries": queries}
    assert (ctx.state.query, ctx.state.step, ctx.state.report) == (question, 1, None)
    assert ctx.state.scratchpad == f"1. {', '.join(queries) or 'nothing to search for'}\n"


def test_search_finds_text_and_nothing_outside_hidden_or_binary() -> None:
    assert paths("Honey?") == ["sub/honey.txt", "bees.md"]
    assert paths("honey", "sub") == ["sub/honey.txt"]
    assert paths("dancing queens") == ["bees.md"]
    assert paths("quantum") == []
    assert list_documents() == "- Bees (bees.md)\n- Honey (sub/honey.txt)"


def test_reading_gives_the_passages_asked_for_and_notes_the_source() -> None:
    ctx = ToolContext.for_test()
    assert read_document("sub/../bees.md", ctx).startswith("## Bees\n\nBees dance.")
    assert [(source.url, source.title) for source in ctx.sources] == [("bees.md", "Bees")]


def test_reading_about_something_leaves_the_rest_out(tmp_path: Path) -> None:
    paragraphs = [f"paragraph {number}" for number in range(9)]
    (tmp_path / "documents" / "long.md").write_text("\n\n".join(["# Long", *paragraphs]))
    assert read_document("long.md", ToolContext.for_test(), about="7 5 3") == (
        "## Long\n\nparagraph 3\n\nparagraph 5\n\nparagraph 7\n"
    )


def test_long_documents_are_cut_and_huge_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "documents" / "long.md"
    file.write_text("x" * MAX_FILE_BYTES)
    assert len(read_document("long.md", ToolContext.for_test())) < MAX_SHOWN_CHARACTERS + 200
    file.write_text("x" * (MAX_FILE_BYTES + 1))
    with pytest.raises(ValueError, match=r".+"):
        read_document("long.md", ToolContext.for_test())


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "/etc/passwd", "link.md", "picture.md", "none.md", "sub", "bees.md\0", ".", "~/x.md"],
)
def test_what_may_not_be_read_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_document(path, ToolContext.for_test())


@pytest.mark.parametrize("folder", ["..", "/", "none", "bees.md"])
def test_folders_outside_or_missing_are_refused(folder: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        search_documents("honey", folder)
    with pytest.raises(ValueError, match=r".+"):
        list_documents(folder)


def test_a_report_has_its_sources_and_is_one_file_per_call(tmp_path: Path) -> None:
    first, second = ToolContext.for_test(call_id="c1"), ToolContext.for_test(call_id="c2")
    for ctx in (first, first, second):
        text = write_report("On Bees,\n twice", "They dance.", ["bees.md", "bees.md"], ctx)
        assert text.startswith("# On Bees, twice\n\nThey dance.\n\n## Sources\n\n- bees.md\n")
        assert text.startswith((ctx.state_patch or {})["report"])
    files = list((tmp_path / "reports").iterdir())
    assert len(files) == 2
    assert all(file.read_text().startswith("# On Bees, twice\n") for file in files)
    assert list_reports() == "\n".join(f"- {file.name}" for file in sorted(files))


def test_a_report_stays_in_its_folder_whatever_it_is_called(tmp_path: Path) -> None:
    write_report("../../蜂 \0", "text", ["bees.md"], ToolContext.for_test())
    assert [file.parent.name for file in tmp_path.rglob("*report*.md")] == ["reports"]


@pytest.mark.parametrize(("body", "sources"), [("text", []), ("x" * 200_001, ["bees.md"])])
def test_a_report_without_sources_or_too_long_is_refused(body: str, sources: list[str]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        write_report("Bees", body, sources, ToolContext.for_test())


def test_no_reports_yet_is_said() -> None:
    assert list_reports()
