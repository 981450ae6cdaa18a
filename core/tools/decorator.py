"""`@tool`: makes a typed function a tool. Apart from `Tool` because it is all about how authors write them."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from core.errors import DefinitionError
from core.tools.definition import (
    DEFAULT_DEADLINE_SECONDS,
    DEFAULT_INLINE_TIMEOUT_SECONDS,
    DEFAULT_WORKER_TIMEOUT_SECONDS,
    Approval,
    Tool,
)
from core.tools.schema import read_signature

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class ToolFunction(Protocol[P, R_co]):
    """A decorated function: an ordinary function that also carries its definition."""

    @property
    def tool(self) -> Tool:
        """What the function is as a tool."""
        ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class _Decorator(Protocol):
    def __call__(self, function: Callable[P, R_co], /) -> ToolFunction[P, R_co]: ...


@overload
def tool(function: Callable[P, R_co], /) -> ToolFunction[P, R_co]: ...


@overload
def tool(
    *,
    inline: bool | None = None,
    worker: str | None = None,
    name: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = None,
    deadline_seconds: float = DEFAULT_DEADLINE_SECONDS,
    requires_approval: Approval = False,
) -> _Decorator: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    inline: bool | None = None,
    worker: str | None = None,
    name: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = None,
    deadline_seconds: float = DEFAULT_DEADLINE_SECONDS,
    requires_approval: Approval = False,
) -> Any:
    """Make a function a tool; it stays an ordinary function and carries its definition as `.tool`.

    Arguments come from the signature (annotations that pydantic understands; a `ToolContext` parameter is filled in,
    not shown to the model), the description from the docstring, the name from the function; the last two can be given.

    `worker` names the worker function it runs in; without it the tool is inline, it runs inside the slice.
    `timeout_seconds` bounds one run (inline 10, worker 60), `deadline_seconds` the whole call (3,600).
    `requires_approval` asks a person first, always or if a function of the arguments object says so; one that raises
    says so too. It is given JSON, converted to the parameters' types and with their defaults.

    A sync function runs in a thread of its own. Neither that nor blocking code in an `async def` can be killed: the
    call is answered at the timeout, the code runs on until it ends. Raises DefinitionError.
    """
    decorate = functools.partial(
        _decorated,
        name=name,
        description=description,
        worker=_placement(inline, worker),
        timeout_seconds=_timeout(timeout_seconds, worker),
        deadline_seconds=deadline_seconds,
        requires_approval=requires_approval,
    )
    return decorate if function is None else decorate(function)


def _placement(inline: bool | None, worker: str | None) -> str | None:
    if inline and worker is not None:
        raise DefinitionError("@tool: inline=True runs in the slice and worker=… elsewhere: give one of them")
    if inline is False and worker is None:
        raise DefinitionError("@tool: a tool that is not inline needs worker=…")
    return worker


def _timeout(timeout_seconds: float | None, worker: str | None) -> float:
    if timeout_seconds is not None:
        return timeout_seconds
    return DEFAULT_INLINE_TIMEOUT_SECONDS if worker is None else DEFAULT_WORKER_TIMEOUT_SECONDS


def _decorated(
    function: Any, /, *, name: str | None, description: str | None, **placement: Any
) -> ToolFunction[..., Any]:
    if not callable(function) or isinstance(function, type):
        raise DefinitionError(f"@tool decorates functions, not {function!r}; its options are given by name")
    name = getattr(function, "__name__", type(function).__name__) if name is None else name
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionError(f"tool {name!r} yields: a tool returns one result")
    signature = read_signature(name, function)
    return _carrying(
        Tool(
            name=name,
            description=_docstring(function) if description is None else description,
            input_schema=signature.json_schema(),
            function=function,
            signature=signature,
            is_async=inspect.iscoroutinefunction(function),
            **placement,
        )
    )


def _docstring(function: Callable[..., Any]) -> str:
    """Only a function's own: other callables inherit their class's, which says nothing about the tool."""
    return (inspect.getdoc(function) or "") if inspect.isroutine(function) else ""


def _carrying(definition: Tool) -> ToolFunction[..., Any]:
    """A function that does what the tool's does: the original may be decorated twice, or not be the author's."""
    function = definition.function
    if definition.is_async:

        @functools.wraps(function)
        async def call(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **kwargs)

    else:

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    call.tool = definition  # type: ignore[attr-defined]
    return cast(ToolFunction[..., Any], call)
