"""A model request in the library's terms. Pure; well-formed already (`core/strict.py`).

Text goes as one string wherever there is nothing else: servers of one's own often know no other form.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never, cast

from pydantic_ai import BinaryContent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from core import request as asked
from core.blocks import DocumentBlock, ImageBlock, TextBlock
from infra.library_models.media import shown_media
from infra.reasoning import answers_unreasoned_calls

REDACTED = "redacted_thinking"
"""The library's mark of a redacted block, whose bytes it keeps as the signature."""

Shown = list[str | BinaryContent]


@dataclass(frozen=True, slots=True)
class LibraryRequest:
    """What `model_request_stream` takes."""

    messages: list[ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters


def library_request(request: asked.ModelRequest, model: Model[Any], timeout_seconds: float) -> LibraryRequest:
    """The request for this model."""
    reasons = request.reasoning_tokens is not None and not answers_unreasoned_calls(request)
    messages = [_message(message, model, _sends_reasoning(model, reasons)) for message in request.messages]
    if request.instructions.strip() and isinstance(newest := messages[-1], ModelRequest):
        newest.instructions = request.instructions
    tools = [
        ToolDefinition(
            name=spec.name,
            description=spec.description,
            parameters_json_schema=spec.schema,
            strict=False,
        )
        for spec in request.tools
    ]
    settings = _settings(request, model, reasons, timeout_seconds)
    return LibraryRequest(messages, settings, ModelRequestParameters(function_tools=tools))


def _sends_reasoning(model: Model[Any], reasons: bool) -> bool:
    """A model that is not told to reason gets none back, unless it reasons untold."""
    profile: dict[str, Any] = {**model.profile}
    untold = profile.get("thinking_always_enabled") or profile.get("thinking_enabled_by_default")
    return reasons or bool(untold)


def _settings(
    request: asked.ModelRequest, model: Model[Any], reasons: bool, timeout_seconds: float
) -> ModelSettings:
    """A temperature is refused by models that reason."""
    profile: dict[str, Any] = {**model.profile}
    settings = ModelSettings(max_tokens=request.max_output_tokens, timeout=timeout_seconds)
    if request.temperature is not None and not reasons:
        settings["temperature"] = request.temperature
    if profile.get("supports_cache"):
        settings["cache"] = True
    if reasons and model.system == "anthropic" and not profile.get("anthropic_supports_adaptive_thinking"):
        thinking = {"type": "enabled", "budget_tokens": request.reasoning_tokens}
        settings = cast(ModelSettings, {**settings, "anthropic_thinking": thinking})
    elif reasons and profile.get("supports_thinking"):
        settings["thinking"] = True
    return settings


def _message(message: asked.RequestMessage, model: Model[Any], sends_reasoning: bool) -> ModelMessage:
    if message.role == "user":
        return ModelRequest(_user_parts(message.parts))
    kept = [part for part in message.parts if sends_reasoning or not isinstance(part, asked.ReasoningPart)]
    return ModelResponse([_assistant_part(part, model) for part in kept], provider_name=model.system)


def _user_parts(parts: Sequence[asked.Part]) -> list[ModelRequestPart]:
    """Results first, as they stand; then the rest as one prompt."""
    results = [_result(part) for part in parts if isinstance(part, asked.ResultPart)]
    shown: Shown = []
    for part in parts:
        if isinstance(part, TextBlock):
            shown.append(part.text)
        elif isinstance(part, ImageBlock | DocumentBlock):
            shown += shown_media(part)
    return [*results, UserPromptPart(_joined(shown))] if shown else [*results]


def _assistant_part(part: asked.Part, model: Model[Any]) -> ModelResponsePart:
    match part:
        case TextBlock(text=text):
            return TextPart(text)
        case asked.ReasoningPart(redacted=str(redacted)):
            return ThinkingPart("", id=REDACTED, signature=redacted, provider_name=model.system)
        case asked.ReasoningPart():
            return ThinkingPart(part.text, signature=part.signature, provider_name=model.system)
        case asked.CallPart():
            return ToolCallPart(part.name, part.args, part.call_id)
        case ImageBlock() | DocumentBlock() | asked.ResultPart():
            raise AssertionError("only the user sends these: the strict check has seen to it")
        case _:
            assert_never(part)


def _result(part: asked.ResultPart) -> ToolReturnPart:
    shown: Shown = []
    for content in part.content:
        match content:
            case TextBlock(text=text):
                shown.append(text)
            case asked.JsonObject(data=data):
                shown.append(json.dumps(data, ensure_ascii=False))
            case ImageBlock() | DocumentBlock():
                shown += shown_media(content)
            case _:
                assert_never(content)
    return ToolReturnPart(
        part.name, _joined(shown), part.call_id, outcome="failed" if part.is_error else "success"
    )


def _joined(shown: Shown) -> Any:
    """One text, if there is nothing else."""
    texts = [one for one in shown if isinstance(one, str)]
    return "\n\n".join(texts) if len(texts) == len(shown) else shown
