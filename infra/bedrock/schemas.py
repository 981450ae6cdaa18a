"""Tool schemas for models that take only a part of JSON Schema.

What is left out only tells the model less: a call's arguments are checked against the whole schema before they are
used. Source: AWS's page on tool use with Nova, whose top level knows `type`, `properties` and `required` alone.
"""

from typing import Any

Schema = dict[str, Any]
_TOP = ("type", "properties", "required")
_BESIDE = ("description", "default")
"""What pydantic writes beside a reference."""
DEEPEST = 8
"""Of references inside what others name. Types that name each other would grow by the factorial of their number."""
MOST_INLINED = 200


def plain_schema(schema: Schema) -> Schema:
    """The schema without references: each is replaced by what it names, or by any object where that holds itself.

    By any object, too, below the depth to which all of them take no more than MOST_INLINED replacements.
    """
    top = {key: schema[key] for key in _TOP if key in schema}
    for depth in range(DEEPEST, 0, -1):
        attempt = _Inlining(schema.get("$defs", {}), depth)
        plain = attempt.schema(top)
        if attempt.inlined <= MOST_INLINED:
            return plain
    return _Inlining({}, 0).schema(top)


class _Inlining:
    """One attempt, to one depth. Beyond MOST_INLINED it only shows that there are more."""

    def __init__(self, named: dict[str, Any], depth: int) -> None:
        self._named = named
        self._depth = depth
        self.inlined = 0

    def schema(self, top: Schema) -> Schema:
        plain: Schema = self._plain(top, ())
        return plain

    def _plain(self, value: Any, inside: tuple[str, ...]) -> Any:
        match value:
            case {"$ref": str(reference)}:
                name = reference.rpartition("/")[2]
                beside = {key: value[key] for key in _BESIDE if key in value}
                if name in inside or name not in self._named or len(inside) == self._depth:
                    return {"type": "object", **beside}
                self.inlined += 1
                if self.inlined > MOST_INLINED:
                    return {"type": "object", **beside}
                return {**self._plain(self._named[name], (*inside, name)), **beside}
            case dict():
                return {key: self._plain(item, inside) for key, item in value.items()}
            case list():
                return [self._plain(item, inside) for item in value]
            case _:
                return value
