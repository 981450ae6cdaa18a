"""Names that people choose (agents, tools, workers) and the ones Torpor keeps for itself.

One alphabet for all of them: the strictest model provider's for tool names, of which queue names allow every character.
"""

import re

from core.errors import DefinitionError

EVENT_TOOL_NAME = "receive_event__injected"
"""The call a model sees in front of an injected event. Never a tool: a model that calls it gets an error."""

BUILTIN_TOOL_NAMES = (
    "spawn_thread",
    "report_to_parent",
    "close_thread",
    "send_message_to_child",
    "cancel_subscription",
    "sleep",
    "sleep_until",
    "sleep_until_event_or_input",
)

RESERVED_TOOL_NAMES = frozenset({EVENT_TOOL_NAME, *BUILTIN_TOOL_NAMES})

MAX_NAME_CHARACTERS = 64
MAX_WORKER_NAME_CHARACTERS = 40
"""A queue's name has at most 80 characters, of which the stack's name and ours need the rest."""

_ALPHABET = re.compile(r"[A-Za-z0-9_-]+")


def check_agent_name(name: object) -> None:
    """Raises DefinitionError unless `name` may be an agent's."""
    _check("agent", name, MAX_NAME_CHARACTERS)


def check_route_name(name: object) -> None:
    """Raises DefinitionError unless `name` may be a supervisor's route."""
    _check("route", name, MAX_NAME_CHARACTERS)


def check_tool_name(name: object) -> None:
    """Raises DefinitionError unless `name` may be the name of a tool that an application defines."""
    _check("tool", name, MAX_NAME_CHARACTERS)
    if name in RESERVED_TOOL_NAMES:
        raise DefinitionError(f"tool name {name!r} is reserved: choose another with @tool(name=…)")


def check_worker_name(name: object) -> None:
    """Raises DefinitionError unless `name` may be a worker's: it becomes part of queue and function names."""
    _check("worker", name, MAX_WORKER_NAME_CHARACTERS)


def _check(kind: str, name: object, limit: int) -> None:
    if not (isinstance(name, str) and len(name) <= limit and _ALPHABET.fullmatch(name)):
        raise DefinitionError(f"{kind} name {name!r} is not 1 to {limit} of A-Z, a-z, 0-9, _ and -")
