"""What each model on Bedrock can take: one table, by model id. A new model is a row; an unknown one gets text, tools.

Apart from the translation so that no model's name stands anywhere else. Sources: AWS's tables of Converse features and
of prompt caching, and for Claude the provider's pages on extended and adaptive thinking, all read in 2026.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

Reasoning = Literal["budget", "adaptive"]
"""How a model is asked to reason: with a number of tokens, or told that it may."""

BlockKind = Literal["text", "toolResult", "image"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caching:
    """Where a model takes cache points. In the system prompt: always."""

    tools: bool
    after: frozenset[BlockKind]
    """Kinds of user content a point may stand behind. Behind a document other than PDF it breaks the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Of one model. The defaults are what any model that converses with tools can be expected to take."""

    images: bool = False
    documents: bool = False
    media_in_results: bool = False
    s3: bool = False
    """Whether it reads images and documents from S3 by itself."""
    result_status: bool = False
    """Whether a result may say that it is an error; for the others a text says so."""
    whole_schemas: bool = False
    """Whether tools may be described by all of JSON Schema, references included."""
    temperature: bool = True
    reasoning: Reasoning | None = None
    """None: it cannot be asked to reason. It may do so by itself."""
    signs_reasoning: bool = True
    caching: Caching | None = None
    context_window: int | None = None
    """Tokens, where known."""


UNKNOWN = Capabilities()

_CACHING = Caching(tools=True, after=frozenset({"text", "toolResult", "image"}))
_TEXT_CACHING = Caching(tools=False, after=frozenset({"text"}))


_CLAUDE = Capabilities(
    images=True,
    documents=True,
    media_in_results=True,
    result_status=True,
    whole_schemas=True,
    context_window=200_000,
)
_CACHING_CLAUDE = replace(_CLAUDE, caching=_CACHING)
_THINKING_CLAUDE = replace(_CACHING_CLAUDE, reasoning="budget")
_ADAPTIVE_CLAUDE = replace(_CACHING_CLAUDE, reasoning="adaptive")
_NOVA_MICRO = Capabilities(result_status=True, caching=_TEXT_CACHING, context_window=128_000)
_NOVA = replace(
    _NOVA_MICRO, images=True, documents=True, media_in_results=True, s3=True, context_window=300_000
)
_READER = Capabilities(documents=True, context_window=128_000)
_SEER = replace(_READER, images=True)

_TABLE: tuple[tuple[str, Capabilities], ...] = (
    (r"anthropic\.claude-(v2|instant)", replace(_READER, context_window=100_000)),
    (r"anthropic\.claude-3-5-haiku", replace(_CACHING_CLAUDE, images=False, media_in_results=False)),
    (r"anthropic\.claude-3-(5-sonnet|haiku|sonnet|opus)", _CLAUDE),
    (r"anthropic\.claude-3-7-sonnet", _THINKING_CLAUDE),
    (r"anthropic\.claude-(opus|sonnet)-4-20\d{6}", _THINKING_CLAUDE),
    (r"anthropic\.claude-[a-z]+-4-[15]\b", _THINKING_CLAUDE),
    (r"anthropic\.claude-[a-z]+-4-6\b", _ADAPTIVE_CLAUDE),
    # Newer than these: besides, they refuse a temperature.
    (r"anthropic\.claude-[a-z]+-\d", replace(_ADAPTIVE_CLAUDE, temperature=False)),
    (r"amazon\.nova-micro", _NOVA_MICRO),
    (r"amazon\.nova-(premier|2-)", replace(_NOVA, context_window=1_000_000)),
    (r"amazon\.nova-", _NOVA),
    (r"meta\.llama(4|3-2-(11|90)b)|mistral\.pixtral", _SEER),
    (r"meta\.llama3-[123]|mistral\.mistral-large|cohere\.command-r", _READER),
    (r"ai21\.jamba-1-5", replace(_READER, context_window=256_000)),
    (r"deepseek\.", replace(_READER, signs_reasoning=False)),
    (r"openai\.gpt-oss|qwen\.", Capabilities(signs_reasoning=False, context_window=128_000)),
)
"""Patterns of the id's beginning; the first that fits decides."""

_LEAD = re.compile(r"arn:[^/]*/|(us|eu|ap|apac|au|ca|jp|sa|us-gov|global)\.(?=[a-z0-9]+\.)")


def capabilities_of(model_id: str) -> Capabilities:
    """Of a model id, an inference profile's id, or an ARN. `UNKNOWN` where it does not tell the model."""
    bare = model_id
    while lead := _LEAD.match(bare):
        bare = bare[lead.end() :]
    return next((found for pattern, found in _TABLE if re.match(pattern, bare)), UNKNOWN)
