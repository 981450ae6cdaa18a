"""Whether a call needs a person's approval: a function of the author's may decide, and must not be trusted to."""

from collections.abc import Mapping
from typing import Any

from core.tools.boundary import ToolFailed, tool_boundary
from core.tools.definition import Tool


def needs_approval(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """What the tool's `requires_approval` says of what would be run. One that raises, or gives no bool, says yes."""
    if isinstance(tool.requires_approval, bool):
        return tool.requires_approval
    try:
        with tool_boundary():
            return tool.requires_approval(tool.signature.as_run(arguments)) is not False
    except ToolFailed:
        return True
