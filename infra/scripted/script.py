"""The file of a scripted model: its shape, its checks and its loading (contract.md, "Scripted models").

Apart from the model that plays it: a file is read and judged once, wherever it is played.
"""

import base64
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NoReturn

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from core.chunks import Usage
from core.errors import DefinitionError

ScriptedError = Literal["throttled", "disconnect", "overflow", "invalid", "server"]
Regex = re.Pattern[str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class When(_Part):
    """When a rule holds: all keys that are given must."""

    user: Regex | None = None
    tool_result: str | None = None
    """A tool's name, in full."""
    result: Regex | None = None
    event: Regex | bool | None = None
    """A pattern for the event's text or for what its call names; or only whether there is one."""
    contains: Regex | None = None
    depth: int | None = None
    turns: int | None = None
    compaction: bool | None = None
    routing: bool | None = None
    """Whether a supervisor asks who is to answer."""
    attempt: int | None = None
    _keys: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _keep_order(cls, data: Any, handler: ModelWrapValidatorHandler["When"]) -> "When":
        when = handler(data)
        when._keys = tuple(data) if isinstance(data, dict) else ()
        return when

    @property
    def keys(self) -> tuple[str, ...]:
        """The given keys in the file's order: groups come from the first regex given."""
        return self._keys


class ScriptedReasoning(_Part):
    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    """Base64."""

    @field_validator("redacted")
    @classmethod
    def _base64(cls, redacted: str | None) -> str | None:
        base64.b64decode(redacted or "", validate=True)
        return redacted

    @model_validator(mode="after")
    def _one_kind(self) -> "ScriptedReasoning":
        if (self.redacted is None) == (not self.text and self.signature is None):
            raise ValueError("give either redacted, or text with or without a signature")
        return self


class ScriptedCall(_Part):
    name: str
    args: dict[str, Any] = {}
    raw_args: str | None = None
    id: str | None = None
    """Accepted for the sake of recorded scripts. A model's own ids are not trusted, so it goes nowhere."""

    @model_validator(mode="after")
    def _one_kind(self) -> "ScriptedCall":
        if self.args and self.raw_args is not None:
            raise ValueError("give either args or raw_args")
        return self


class Reply(_Part):
    """What the model streams: reasoning, text, calls, in this order; all may be absent."""

    text: str = ""
    reasoning: tuple[ScriptedReasoning, ...] = Field(default=(), strict=False)
    tool_calls: tuple[ScriptedCall, ...] = Field(default=(), strict=False)
    stop_reason: str | None = None
    usage: Usage | None = None
    """Fields it does not give keep their default, characters / 4."""
    chunk_size: int = Field(default=20, ge=1)
    """Characters."""
    delay_ms: int = Field(default=0, ge=0)
    """Before each piece, and before an error."""
    error: ScriptedError | None = None

    @field_validator("reasoning", mode="before")
    @classmethod
    def _one_or_many(cls, reasoning: Any) -> Any:
        return [reasoning] if isinstance(reasoning, dict) else reasoning


class Rule(_Part):
    when: When
    reply: Reply


class Script(_Part):
    """A whole file."""

    rules: tuple[Rule, ...] = Field(strict=False)
    context_window: int | None = Field(default=None, ge=1)
    """Tokens, at four characters each. None is endless."""


def load_script(path: Path) -> Script:
    """The script in a file; read again only when the file changes.

    Raises DefinitionError that names the file and, for each mistake, the rule (counted from 0) and the field.
    """
    try:
        stat = path.stat()
        return _parsed(path, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise DefinitionError(f"scripted model {path}: cannot be read ({error.strerror})") from error


@lru_cache(maxsize=64)
def _parsed(path: Path, _changed_at_ns: int, _size_bytes: int) -> Script:
    try:
        return Script.model_validate(strict_json(path.read_bytes()))
    except ValidationError as error:
        mistakes = "; ".join(
            f"{_place(mistake['loc'])}: {mistake['msg']}" for mistake in error.errors(include_input=False)
        )
        raise DefinitionError(f"scripted model {path}: {mistakes}") from error
    except ValueError as error:
        raise DefinitionError(f"scripted model {path}: not JSON ({error})") from error


def strict_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError, for NaN and the infinities too, which are not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _place(location: tuple[int | str, ...]) -> str:
    """`rules[2].reply.text`."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return steps.lstrip(".") or "the file"
