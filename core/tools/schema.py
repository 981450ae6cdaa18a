"""Reading a function's signature as a tool's arguments: a pydantic model that checks them, and its JSON Schema.

Apart from the decorator because the rules of what can be a tool are all here. The model's fields carry a prefix that
an alias takes away again, so that a parameter may have any name (`schema`, `copy`, `_x`), pydantic's own included.
"""

import inspect
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from core.errors import DefinitionError
from core.tools.context import ToolContext

_PREFIX = "argument_"

_REFUSED_KINDS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "a model can only name arguments, so there can be no *{0}",
    inspect.Parameter.VAR_KEYWORD: "a model must be told every argument, so there can be no **{0}",
    inspect.Parameter.POSITIONAL_ONLY: "arguments are passed by name, so {0} cannot be positional-only",
}


@dataclass(frozen=True)
class Signature:
    """A tool's arguments, without its context."""

    model: type[BaseModel]
    """Validates an arguments object; unknown names are refused."""
    context_parameter: str | None
    """The parameter that takes the ToolContext."""

    def json_schema(self) -> dict[str, Any]:
        """The arguments object's JSON Schema, for a model. Raises DefinitionError if a type has none."""
        try:
            schema = self.model.model_json_schema(schema_generator=_SchemaForModels)
        except PydanticUserError as exc:
            raise DefinitionError(
                f"tool {self.model.__name__!r}: an argument cannot be told: {exc.message}"
            ) from exc
        except ValueError as exc:  # pydantic's for what it cannot write as JSON
            raise DefinitionError(f"tool {self.model.__name__!r}: an argument cannot be told: {exc}") from exc
        if not _is_json(schema):
            raise DefinitionError(f"tool {self.model.__name__!r}: an argument's schema is not JSON")
        schema.pop("title", None)
        schema.setdefault("properties", {})
        if len(schema["properties"]) != len(self.model.model_fields):
            raise DefinitionError(f"tool {self.model.__name__!r}: two arguments have one name")
        return schema

    def keywords(self, arguments: BaseModel) -> dict[str, Any]:
        """The validated arguments under their parameters' names, defaults filled in."""
        fields = type(arguments).model_fields
        return {field.removeprefix(_PREFIX): getattr(arguments, field) for field in fields}

    def as_run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as JSON, by what the function would be given: converted to its types, defaults filled in.

        Raises what pydantic and the author's types raise.
        """
        return self.model.model_validate(arguments).model_dump(mode="json", by_alias=True, warnings=False)


class _SchemaForModels(GenerateJsonSchema):
    """Without generated titles, which only cost tokens, and without a warning for defaults that are not JSON."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

    def default_schema(self, schema: Any) -> dict[str, Any]:
        """A default that JSON has no word for, such as infinity, still holds, but is not told."""
        told = super().default_schema(schema)
        return told if _is_json(told.get("default")) else {k: v for k, v in told.items() if k != "default"}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def read_signature(name: str, function: Callable[..., Any]) -> Signature:
    """Raises DefinitionError, naming the tool and the parameter, if the function cannot be a tool."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as exc:
        raise DefinitionError(f"tool {name!r}: its signature cannot be read: {exc}") from exc
    hints = _hints(name, function, parameters)
    contexts = [parameter.name for parameter in parameters if _is_context(hints[parameter.name])]
    if len(contexts) > 1:
        raise DefinitionError(f"tool {name!r}: more than one ToolContext: {', '.join(contexts)}")
    fields = {
        _PREFIX + p.name: _field(hints[p.name], p.default) for p in parameters if p.name not in contexts
    }
    return Signature(model=_model(name, fields), context_parameter=contexts[0] if contexts else None)


def _hints(
    name: str, function: Callable[..., Any], parameters: typing.Iterable[inspect.Parameter]
) -> dict[str, Any]:
    """The parameters' types; the return type is left alone, it may be importable for type checkers only."""
    for parameter in parameters:
        if refusal := _REFUSED_KINDS.get(parameter.kind):
            raise DefinitionError(f"tool {name!r}: {refusal.format(parameter.name)}")
        if parameter.annotation is inspect.Parameter.empty:
            raise DefinitionError(f"tool {name!r}: parameter {parameter.name!r} has no type annotation")
    holder = SimpleNamespace(__annotations__={p.name: p.annotation for p in parameters})
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return typing.get_type_hints(holder, globalns=namespace, include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as exc:
        raise DefinitionError(f"tool {name!r}: an annotation cannot be resolved: {exc}") from exc


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or ToolContext in typing.get_args(hint)


def _field(hint: Any, default: Any) -> Any:
    return hint if default is inspect.Parameter.empty else (hint, default)


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    config = ConfigDict(extra="forbid", alias_generator=lambda field: field.removeprefix(_PREFIX))
    try:
        return create_model(name, __config__=config, **fields)
    except (PydanticUserError, PydanticUndefinedAnnotation) as exc:
        raise DefinitionError(f"tool {name!r}: an argument's type is not usable: {exc.message}") from exc
