"""Knowing by its message that a request was too long: no provider has an error code for it that all models share."""

import re
from typing import Final

_OVERFLOW: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"input is too long",  # Bedrock itself
        r"prompt is too long",  # Claude: "prompt is too long: 215000 tokens > 200000 maximum"
        r"exceeds? (the )?(model'?s? )?(maximum |available )?context (limit|length|window|size)",  # Claude, llama.cpp
        r"maximum context length",  # OpenAI, Llama, Mistral, models served by vLLM
        r"too many input tokens|max input tokens",  # Titan, Cohere
        r"input tokens? exceed|number of input tokens exceeds",  # Nova
        r"expected maxLength: \d+, actual: \d+",  # older models, in characters
    )
)


def says_overflow(message: str) -> bool:
    """Whether an error's message says that the request is longer than the model's window."""
    return any(pattern.search(message) for pattern in _OVERFLOW)
