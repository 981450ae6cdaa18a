"""What an agent is and does. Imports the standard library and pydantic, nothing else.

The names here are what authors of agents and tools need; everything else is imported from its module.
"""

from core.agent import Agent
from core.app import App, load_app
from core.blocks import DocumentBlock, ImageBlock, JsonBlock, TextBlock
from core.errors import DefinitionError
from core.prices import Price
from core.settings import Limits, Settings
from core.sources import Source
from core.supervisor import Supervisor
from core.tools import ToolContext, ToolResult, tool
from core.tools.asking import Answered, AskAuth, AskChoice

__all__ = [
    "Agent",
    "Answered",
    "App",
    "AskAuth",
    "AskChoice",
    "DefinitionError",
    "DocumentBlock",
    "ImageBlock",
    "JsonBlock",
    "Limits",
    "Price",
    "Settings",
    "Source",
    "Supervisor",
    "TextBlock",
    "ToolContext",
    "ToolResult",
    "load_app",
    "tool",
]
