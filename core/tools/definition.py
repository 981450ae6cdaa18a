"""A tool as a value: what a model is told about it, where it runs, and for how long.

Apart from the decorator because everything but the author's module meets only this.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any

from core.checks import check_positive, is_text
from core.errors import DefinitionError
from core.strict import TOP_LEVEL_FORBIDDEN
from core.tools.names import check_tool_name, check_worker_name
from core.tools.schema import Signature

DEFAULT_INLINE_TIMEOUT_SECONDS = 10.0
DEFAULT_WORKER_TIMEOUT_SECONDS = 60.0
DEFAULT_DEADLINE_SECONDS = 3_600.0

Approval = bool | Callable[[Mapping[str, Any]], bool]
"""Whether a person is asked first: always, never, or as a function of the arguments says."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """The definition behind a decorated function. Raises DefinitionError if it could not be offered to a model."""

    name: str
    description: str
    input_schema: dict[str, Any] = field(hash=False)
    """JSON Schema of the arguments. Shared: copy before changing."""
    function: Callable[..., Any]
    signature: Signature = field(repr=False, compare=False)
    is_async: bool
    worker: str | None = None
    """The worker it runs on; None: inside the slice."""
    timeout_seconds: float
    """Bounds one run."""
    deadline_seconds: float = DEFAULT_DEADLINE_SECONDS
    """Bounds the call, redeliveries and waiting in the queue included."""
    requires_approval: Approval = False
    builtin: bool = False
    """Torpor's own: it changes the thread itself (`core/slice/builtin/`)."""

    def __post_init__(self) -> None:
        if not self.builtin:
            check_tool_name(self.name)
        owner = f"tool {self.name!r}"
        if not (is_text(self.description) and self.description.strip()):
            raise DefinitionError(
                f"{owner} has no description: write a docstring, the model chooses tools by it"
            )
        self._check_schema(owner)
        if self.worker is not None:
            check_worker_name(self.worker)
        check_positive(owner, "timeout_seconds", self.timeout_seconds)
        check_positive(owner, "deadline_seconds", self.deadline_seconds)
        if self.deadline_seconds < self.timeout_seconds:
            raise DefinitionError(
                f"{owner}: deadline_seconds ({self.deadline_seconds:g}) bounds the whole call and cannot be shorter "
                f"than timeout_seconds ({self.timeout_seconds:g}), which bounds one run"
            )
        if not (isinstance(self.requires_approval, bool) or callable(self.requires_approval)):
            raise DefinitionError(f"{owner}: requires_approval is a bool or a function of the arguments")
        if iscoroutinefunction(self.requires_approval):
            raise DefinitionError(f"{owner}: requires_approval is asked in mid-turn: it cannot be async")

    def _check_schema(self, owner: str) -> None:
        if self.input_schema.get("type") != "object":
            raise DefinitionError(f"{owner}: the input schema must be of type object")
        for key in TOP_LEVEL_FORBIDDEN:
            if key in self.input_schema:
                raise DefinitionError(
                    f"{owner}: the input schema has a top-level {key}, which providers refuse"
                )
