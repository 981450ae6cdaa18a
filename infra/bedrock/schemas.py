"""Tool schemas for models that take only a part of JSON Schema.

What is left out only tells the model less: a call's arguments are checked against the whole schema before they are
used. Source: AWS's page on tool use with Nova, whose top level knows `type`, `properties` and `required` alone.
"""

from typing import Any

Schema = dict[str, Any]
_TOP = ("type", "properties", "required")
_BESIDE = ("description", "default")
"""What pydantic writes beside a reference."""


def plain_schema(schema: Schema) -> Schema:
    """The schema without references: each is replaced by what it names, or by any object where that holds itself."""
    top = {key: schema[key] for key in _TOP if key in schema}
    plain: Schema = _inlined(top, schema.get("$defs", {}), ())
    return plain


def _inlined(value: Any, named: dict[str, Any], inside: tuple[str, ...]) -> Any:
    match value:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            beside = {key: value[key] for key in _BESIDE if key in value}
            if name in inside or name not in named:
                return {"type": "object", **beside}
            return {**_inlined(named[name], named, (*inside, name)), **beside}
        case dict():
            return {key: _inlined(item, named, inside) for key, item in value.items()}
        case list():
            return [_inlined(item, named, inside) for item in value]
        case _:
            return value
