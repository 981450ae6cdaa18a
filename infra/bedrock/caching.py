"""Cache points: where a request says that what stands before may be kept for the next one.

Placed when a request is sent, never stored. Behind the tools and the system prompt, which seldom change, and behind
the last two user messages: the older of these was the newest of the last request, so its cache is found again. That
is four, the most there may be. None ever follows a reasoning block, which no user message has.
"""

from typing import Any, Final

from infra.bedrock.capabilities import Caching

CACHED_MESSAGES: Final = 2
_POINT: Final = {"cachePoint": {"type": "default"}}


def add_cache_points(arguments: dict[str, Any], caching: Caching) -> None:
    """Add them to the arguments of `converse_stream`, in place."""
    if "system" in arguments:
        arguments["system"].append(_POINT)
    if caching.tools and "toolConfig" in arguments:
        arguments["toolConfig"]["tools"].append(_POINT)
    users = [message for message in arguments["messages"] if message["role"] == "user"]
    for message in users[-CACHED_MESSAGES:]:
        if caching.after & message["content"][-1].keys():
            message["content"].append(_POINT)
