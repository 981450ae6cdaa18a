"""Schemas without references: whole where that is small, bounded where types name each other."""

import json

import pytest

from infra.bedrock.schemas import Schema, plain_schema


def _naming_each_other(count: int) -> Schema:
    names = [f"N{index}" for index in range(count)]
    fields = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    return {
        "type": "object",
        "properties": {"x": fields["N0"]},
        "$defs": {name: {"type": "object", "properties": fields} for name in names},
    }


@pytest.mark.parametrize("count", [3, 8, 12, 60, 300])
def test_types_that_name_each_other_stay_small(count: int) -> None:
    plain = plain_schema(_naming_each_other(count))
    text = json.dumps(plain)
    assert "$ref" not in text
    assert len(text) < 200_000
    assert plain["properties"]["x"]["type"] == "object"


def test_types_inside_types_are_whole() -> None:
    named = {f"L{level}": {"properties": {"next": {"$ref": f"#/$defs/L{level + 1}"}}} for level in range(5)}
    last = {"type": "string", "enum": ["deep"]}
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/L0", "description": "Kept."}},
        "$defs": {**named, "L5": last},
    }
    found = plain_schema(schema)["properties"]["x"]
    assert found["description"] == "Kept."
    for _ in range(5):
        found = found["properties"]["next"]
    assert found == last
