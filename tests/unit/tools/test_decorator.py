"""What authors may write with `@tool`, and what is refused when it is written."""

import asyncio
import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from core import DefinitionError, ToolContext, tool


@tool
def greet(name: str, *, punctuation: str = "!") -> str:
    """Greet somebody.

    Politely.
    """
    return f"Hello {name}{punctuation}"


@tool(worker="research", timeout_seconds=60)
async def fetch_page(url: str, ctx: ToolContext) -> str:
    """Fetch a page as text."""
    return f"{url} for {ctx.thread_id}"


def plain(text: str) -> str:
    """Give it back."""
    return text


def test_a_decorated_function_is_still_called_like_the_function_it_is() -> None:
    assert greet("you", punctuation=".") == "Hello you."
    assert greet.__name__ == "greet"  # type: ignore[attr-defined]
    assert list(inspect.signature(greet).parameters) == ["name", "punctuation"]


def test_a_decorated_coroutine_function_is_still_awaited() -> None:
    assert inspect.iscoroutinefunction(fetch_page)
    assert asyncio.run(fetch_page("u", ToolContext.for_test(thread_id="t"))) == "u for t"


def test_the_definition_of_an_inline_tool() -> None:
    definition = greet.tool
    assert (definition.name, definition.description) == ("greet", "Greet somebody.\n\nPolitely.")
    assert definition.worker is None
    assert (definition.timeout_seconds, definition.deadline_seconds) == (10, 3600)
    assert not definition.is_async
    assert definition.signature.context_parameter is None
    assert definition.requires_approval is False


def test_the_definition_of_a_worker_tool() -> None:
    definition = fetch_page.tool
    assert definition.worker == "research"
    assert definition.timeout_seconds == 60
    assert definition.is_async
    assert definition.signature.context_parameter == "ctx"
    assert list(definition.input_schema["properties"]) == ["url"]


def test_one_function_may_become_two_tools() -> None:
    first = tool(name="first", description="One.")(plain)
    second = tool(worker="w", name="second")(first)
    assert (first.tool.name, first.tool.description, first.tool.worker) == ("first", "One.", None)
    assert (second.tool.name, second.tool.description, second.tool.worker) == ("second", "Give it back.", "w")
    assert second("x") == "x"
    assert not hasattr(plain, "tool")


def test_approval_may_depend_on_the_arguments() -> None:
    def is_dear(args: Any) -> bool:
        return bool(args["text"] == "dear")

    assert tool(requires_approval=is_dear)(plain).tool.requires_approval is is_dear
    with pytest.raises(DefinitionError):
        tool(requires_approval="yes")(plain)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "options",
    [
        {"name": ""},
        {"name": "has space"},
        {"name": "ends\n"},
        {"name": "é"},
        {"name": "x" * 65},
        {"name": "receive_event__injected"},
        {"name": "spawn_thread"},
        {"name": "sleep_until"},
        {"description": "  "},
        {"worker": "a.b"},
        {"worker": ""},
        {"worker": "w" * 41},
        {"worker": "w", "inline": True},
        {"inline": False},
        {"timeout_seconds": 0},
        {"timeout_seconds": -1},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": float("inf")},
        {"timeout_seconds": True},
        {"timeout_seconds": 61, "deadline_seconds": 60},
        {"timeout_seconds": 3601},
        {"deadline_seconds": "60"},
        {"deadline_seconds": float("inf")},
    ],
    ids=str,
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        tool(**options)(plain)


def test_the_edges_of_the_alphabet_and_of_times_are_allowed() -> None:
    definition = tool(name="aZ09_-" + "x" * 58, worker="w" * 40, timeout_seconds=60, deadline_seconds=60)(
        plain
    )
    assert definition.tool.deadline_seconds == 60


def _undocumented(text: str) -> str:
    return text


def _variadic(*words: str) -> str:
    """Join."""
    return " ".join(words)


def _keywords(**words: str) -> str:
    """Join."""
    return " ".join(words)


def _positional(text: str, /) -> str:
    """Give it back."""
    return text


def _untyped(text) -> str:  # type: ignore[no-untyped-def]
    """Give it back."""
    return str(text)


def _unresolvable(text: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821
    """Give it back."""
    return str(text)


def _unschematic(text: Callable[[], int]) -> str:
    """Give it back."""
    return str(text)


def _foreign(text: inspect.Signature) -> str:
    """Give it back."""
    return str(text)


def _two_contexts(first: ToolContext, second: ToolContext) -> str:
    """Give it back."""
    return first.call_id + second.call_id


def _generator(text: str) -> Any:
    """Give it back."""
    yield text


@pytest.mark.parametrize(
    ("function", "culprit"),
    [
        (_undocumented, "description"),
        (_variadic, "words"),
        (_keywords, "words"),
        (_positional, "text"),
        (_untyped, "text"),
        (_unresolvable, "Nowhere"),
        (_unschematic, "argument"),
        (_foreign, "Signature"),
        (_two_contexts, "second"),
        (_generator, "yields"),
    ],
)
def test_functions_that_no_model_could_call_are_refused_by_name(function: Any, culprit: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        tool(function)
    assert function.__name__ in str(caught.value)
    assert culprit in str(caught.value)


def test_a_callable_that_is_no_function_needs_a_name_and_a_description() -> None:
    shout = functools.partial(plain, text="x")
    with pytest.raises(DefinitionError):
        tool(name="shout")(shout)
    assert tool(name="shout", description="Shout.")(shout)() == "x"


@pytest.mark.parametrize("thing", ["research", 3, dict], ids=str)
def test_only_functions_are_decorated(thing: Any) -> None:
    with pytest.raises(DefinitionError):
        tool(thing)


@pytest.mark.parametrize(
    "schema",
    [{}, {"type": "string"}, *({"type": "object", key: []} for key in ("anyOf", "oneOf", "allOf"))],
    ids=str,
)
def test_schemas_that_providers_refuse_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        dataclasses.replace(greet.tool, input_schema=schema)
