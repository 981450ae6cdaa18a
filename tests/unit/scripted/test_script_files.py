"""Script files: found by model name, read once, and mistakes told with file, rule and field."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.errors import DefinitionError
from infra.models import model_for
from infra.scripted.script import load_script
from tests.unit.scripted.playing import SleepingClock, request, text_of, user

GOOD = {"context_window": 8000, "rules": [{"when": {"user": "(?i)hi"}, "reply": {"text": "hello"}}]}


def written(folder: Path, script: Any, name: str = "s.json") -> Path:
    path = folder / name
    path.write_text(script if isinstance(script, str) else json.dumps(script), encoding="utf-8")
    return path


@pytest.mark.parametrize("absolute", [True, False])
async def test_a_path_is_relative_to_the_root_unless_absolute(tmp_path: Path, absolute: bool) -> None:
    path = written(tmp_path, GOOD)
    name = f"script:{path}" if absolute else "script:s.json"
    played = model_for(name, Path("/nowhere") if absolute else tmp_path, SleepingClock())
    assert played.signs_reasoning
    chunks = [chunk async for chunk in played.stream(request(user("hi")), timeout_seconds=1)]
    assert text_of(chunks) == "hello"


@pytest.mark.parametrize("name", ["nobody:knows", "script", "script:", ""])
def test_unknown_providers_are_refused_naming_those_there_are(name: str) -> None:
    with pytest.raises(DefinitionError, match="script:"):
        model_for(name, Path(), SleepingClock())


def test_a_script_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    first = load_script(path)
    assert load_script(path) is first
    written(tmp_path, {"rules": []})
    os.utime(path, (1, 1))
    assert load_script(path).rules == ()


REPLY: dict[str, Any] = {"text": "x"}

MISTAKES: list[tuple[Any, str]] = [
    ("not json", ""),
    ("[]", ""),
    ('{"rules": [{"when": {"turns": NaN}, "reply": {}}]}', ""),
    ({}, "rules"),
    ({"rules": [], "context_window": 0}, "context_window"),
    ({"rules": [{"reply": {}}]}, "rules[0].when"),
    ({"rules": [{"when": {}, "reply": REPLY}, {"when": {"usr": "x"}, "reply": REPLY}]}, "rules[1].when.usr"),
    ({"rules": [{"when": {"user": "("}, "reply": REPLY}]}, "rules[0].when.user"),
    ({"rules": [{"when": {"turns": "1"}, "reply": REPLY}]}, "rules[0].when.turns"),
    ({"rules": [{"when": {}, "reply": {"error": "boom"}}]}, "rules[0].reply.error"),
    ({"rules": [{"when": {}, "reply": {"chunk_size": 0}}]}, "rules[0].reply.chunk_size"),
    (
        {"rules": [{"when": {}, "reply": {"reasoning": {"redacted": "?"}}}]},
        "rules[0].reply.reasoning[0].redacted",
    ),
    ({"rules": [{"when": {}, "reply": {"reasoning": [{}]}}]}, "rules[0].reply.reasoning[0]"),
    ({"rules": [{"when": {}, "reply": {"tool_calls": [{"args": {}}]}}]}, "rules[0].reply.tool_calls[0].name"),
    (
        {"rules": [{"when": {}, "reply": {"tool_calls": [{"name": "a", "args": {"b": 1}, "raw_args": ""}]}}]},
        "rules[0].reply.tool_calls[0]",
    ),
]


@pytest.mark.parametrize(("script", "place"), MISTAKES)
def test_mistakes_name_file_rule_and_field(tmp_path: Path, script: Any, place: str) -> None:
    path = written(tmp_path, script)
    with pytest.raises(DefinitionError) as raised:
        load_script(path)
    assert str(path) in str(raised.value)
    assert place in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"gone\.json"):
        load_script(tmp_path / "gone.json")
