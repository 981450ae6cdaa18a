"""torpor export and import: a tree of threads leaves one local stack and goes on in another."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.local import LocalTorpor
from tests.functional.on_stack import Commands
from tests.functional.team_app import SPEC


@pytest.fixture
def two_stacks() -> Iterator[tuple[LocalTorpor, LocalTorpor]]:
    with LocalTorpor(app=SPEC) as source, LocalTorpor(app=SPEC) as target:
        yield source, target


@pytest.mark.slow
def test_a_tree_is_exported_and_imported_elsewhere_with_the_same_histories(
    two_stacks: tuple[LocalTorpor, LocalTorpor], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, target = two_stacks
    for text in ("watch", "go"):
        source.send(
            {"type": "user_message", "thread_id": "t1", "content": text, "metadata": {"user_id": "u"}}
        )
        source.drain()
    file = tmp_path / "t1.jsonl"
    there, elsewhere = Commands(source, capsys), Commands(target, capsys)
    assert there.run("export", "t1", "--to", str(file))[0] == 0
    assert there.run("export", "t1")[1] == file.read_text().splitlines()
    assert [path.name for path in tmp_path.iterdir()] == ["t1.jsonl"]
    code, lines, _ = elsewhere.run("import", str(file))
    threads = list(
        dict.fromkeys(
            line["commit"]["thread_id"]
            for line in map(json.loads, file.read_text().splitlines())
            if "commit" in line
        )
    )
    assert code == 0
    assert [line.partition(":")[0] for line in lines] == threads
    assert len(threads) > 1
    for thread_id in threads:
        assert target.history(thread_id) == source.history(thread_id)
    assert target.outputs() == [], "nothing is sent"
    assert elsewhere.run("import", str(file))[0] == 0
    target.send({"type": "user_message", "thread_id": "t1", "content": "hello"})
    target.drain()
    assert target.outputs("t1")[-1]["metadata"] == {"user_id": "u"}
    code, _, error = elsewhere.run("import", str(file))
    assert code == 2
    assert "already" in error
    assert elsewhere.run("import", str(tmp_path / "none"))[0] == 2
    code, lines, _ = there.run("erase", "t1", "--tree")
    erased = [line.partition(":")[0] for line in lines if line.partition(":")[0] in threads]
    assert (code, sorted(erased)) == (0, sorted(threads)), "each is told once"


def test_a_file_that_cannot_be_written_leaves_nothing_half_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with LocalTorpor(app=SPEC) as local:
        commands = Commands(local, capsys)
        local.send({"type": "user_message", "thread_id": "t1", "content": "hello"})
        local.drain()
        for thread_id, file in (
            ("t1", tmp_path / "none" / "file"),
            ("t1", tmp_path),
            ("t2", tmp_path / "file"),
        ):
            code, lines, error = commands.run("export", thread_id, "--to", str(file))
            assert (code, lines, len(error.splitlines())) == (2, [], 1)
    assert list(tmp_path.iterdir()) == []
    assert not tmp_path.with_name(tmp_path.name + ".part").exists()
