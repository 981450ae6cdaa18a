"""A tool's result with its patch of the state: what the model is told, and what changes. For results from anywhere."""

from collections.abc import Mapping
from typing import Any

from core.blocks import text_content
from core.entries import ToolResult
from core.state.edits import Edit
from core.state.shape import StateUnfit
from core.state.stored import patched

UNFIT = "The state was not changed. {error}"
"""Stands before what a tool gave, in a result that is an error because of it."""


def with_patch(
    result: ToolResult,
    patch: Mapping[str, Any] | None,
    state_type: type[Any] | None,
    stored: Mapping[str, Any] | None,
) -> tuple[ToolResult, tuple[Edit, ...]]:
    """The result as it is told, and the edits of the state. One whose patch does not fit is an error, with none."""
    try:
        return result, patched(state_type, stored, patch) if patch else ()
    except StateUnfit as error:
        return without_change(result, error), ()


def without_change(result: ToolResult, error: StateUnfit) -> ToolResult:
    """The result, as an error that says why the state stays as it was."""
    content = (*text_content(UNFIT.format(error=error)), *result.content)
    return result.model_copy(update={"content": content, "outcome": "error"})
