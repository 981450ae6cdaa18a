"""Tools: typed functions that a model may call. How they are written, described, checked and run."""

from core.tools.arguments import BadArguments, validate_arguments
from core.tools.context import ToolContext
from core.tools.decorator import ToolFunction, tool
from core.tools.definition import Tool
from core.tools.names import BUILTIN_TOOL_NAMES, EVENT_TOOL_NAME
from core.tools.result import ToolResult, error_result, to_result
from core.tools.run import ToolRun, run_tool

__all__ = [
    "BUILTIN_TOOL_NAMES",
    "EVENT_TOOL_NAME",
    "BadArguments",
    "Tool",
    "ToolContext",
    "ToolFunction",
    "ToolResult",
    "ToolRun",
    "error_result",
    "run_tool",
    "to_result",
    "tool",
    "validate_arguments",
]
