"""Messages in the forms that providers take, each valid by its provider's rules whatever was appended."""

from core.state.exports.anthropic import anthropic_messages
from core.state.exports.converse import converse_messages
from core.state.exports.openai_chat import openai_messages

__all__ = ["anthropic_messages", "converse_messages", "openai_messages"]
