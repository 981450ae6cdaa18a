"""A state type as JSON: what of a state is its own and how it is written and read, for every kind of type there is.

A pydantic model, a dataclass, or a plain dict (no type). What the author's code raises here becomes `StateUnfit`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, is_dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, TypeAdapter

from core.errors import DefinitionError, PermanentError
from core.state.rebuilt import Rebuilt, ThreadView, rebuilt_fields
from core.text import clean_json, wire_json
from core.tools.boundary import ToolFailed, tool_boundary
from core.tools.content import UnsupportedResult, plain_json

MAX_STATE_BYTES = 262_144
"""Of a thread's own fields as JSON. What a commit changes of it must fit into its one item."""


class StateUnfit(PermanentError):
    """A state, or a patch of one, does not fit the agent's state type. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How states of one type are written and read. Every method raises StateUnfit."""

    state_type: type[Any] | None

    @property
    def rebuilt(self) -> dict[str, Rebuilt]:
        return {} if self.state_type is None else dict(rebuilt_fields(self.state_type))

    def knows(self, key: str) -> bool:
        """Whether the type has an own field of that name; one that takes anything has them all."""
        fields = _field_names(self.state_type)
        return key not in self.rebuilt and (fields is None or key in fields)

    def read(self, own: dict[str, Any]) -> Any:
        """A state of these fields, its views empty."""
        if self.state_type is None:
            return deepcopy(own)
        with author_code():
            return self._adapter.validate_json(wire_json(own), by_alias=False, by_name=True)

    def write(self, state: Any) -> dict[str, Any]:
        """The own fields, as JSON that this type reads again."""
        with author_code():
            dumped = state if self.state_type is None else self._dumped(state)
            own: dict[str, Any] = clean_json(plain_json(dict(dumped)))
        if (size := len(wire_json(own))) > MAX_STATE_BYTES:
            raise StateUnfit(f"the state has {size:,} bytes as JSON, at most {MAX_STATE_BYTES:,} are kept")
        self.read(own)
        return own

    def upgraded(self, stored: dict[str, Any]) -> dict[str, Any]:
        """What is stored, in today's shape, by the type's `state_upgrade`."""
        upgrade = getattr(self.state_type, "state_upgrade", None)
        if upgrade is None or not stored:
            return deepcopy(stored)
        with author_code():
            upgraded: object = upgrade(deepcopy(stored))
            if not isinstance(upgraded, dict):
                raise StateUnfit(f"state_upgrade gave {type(upgraded).__name__}, not a dict")
            own: dict[str, Any] = clean_json(plain_json(upgraded))
        return own

    def with_views(self, state: Any, view: ThreadView) -> Any:
        """The state with its views of the thread filled in."""
        shown = {name: field.show(view) for name, field in self.rebuilt.items()}
        if not shown:
            return state
        if isinstance(state, BaseModel):
            return state.model_copy(update=shown)
        with author_code():
            return replace(state, **shown)

    @property
    def _adapter(self) -> TypeAdapter[Any]:
        state_type: Any = self.state_type
        return _adapter_of(state_type)

    def _dumped(self, state: Any) -> Any:
        return self._adapter.dump_python(
            state,
            mode="json",
            exclude=set(self.rebuilt),
            by_alias=False,
            round_trip=True,
            warnings=False,
        )


def check_state_type(owner: str, state_type: type[Any]) -> None:
    """Raises DefinitionError unless threads can begin with a state of this type, and keep it as JSON."""
    if not (is_dataclass(state_type) or issubclass(state_type, BaseModel | dict)):
        raise DefinitionError(
            f"{owner}: state_type must be a pydantic model or a dataclass, not {state_type.__name__}"
        )
    shape = Shape(state_type)
    try:
        shape.write(shape.with_views(shape.read({}), ThreadView()))
    except StateUnfit as error:
        raise DefinitionError(
            f"{owner}: a new thread's state is {state_type.__name__}() of nothing, which fails: {error}; "
            f"give every field a default"
        ) from error


@contextmanager
def author_code() -> Iterator[None]:
    """Raises StateUnfit for everything raised inside."""
    try:
        with tool_boundary():
            yield
    except ToolFailed as error:
        cause = error.__cause__
        if isinstance(cause, StateUnfit):
            raise cause from None
        text = str(cause) if isinstance(cause, UnsupportedResult) else str(error)
        raise StateUnfit(text.replace("the tool returned", "the state holds")) from error


@lru_cache(maxsize=64)
def _adapter_of(state_type: Any) -> TypeAdapter[Any]:
    return TypeAdapter(state_type)


def _field_names(state_type: type[Any] | None) -> frozenset[str] | None:
    """None if any name will do."""
    if state_type is None or issubclass(state_type, dict):
        return None
    if issubclass(state_type, BaseModel):
        takes_any = state_type.model_config.get("extra") == "allow"
        return None if takes_any else frozenset(state_type.model_fields)
    return frozenset(getattr(state_type, "__dataclass_fields__", ()))
