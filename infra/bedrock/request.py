"""A model request as the arguments of `converse_stream`. Pure; what only a model decides comes as its capabilities.

The request is well-formed already (`core/strict.py`). What is decided here, at send time, is never stored: media that
this model does not take, whether it may reason, where its cache points stand.
"""

from collections.abc import Iterator
from typing import Any, assert_never

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.media import decode_base64
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultContent,
    ResultPart,
    ToolSpec,
)
from infra.bedrock.caching import add_cache_points
from infra.bedrock.capabilities import Capabilities
from infra.bedrock.media import accompany_documents, document, image, limit_media, without_media
from infra.bedrock.schemas import plain_schema
from infra.reasoning import answers_unreasoned_calls

Block = dict[str, Any]


def converse_request(request: ModelRequest, model_id: str, capabilities: Capabilities) -> dict[str, Any]:
    """The keyword arguments of `converse_stream`."""
    reasons = may_reason(request, capabilities)
    sends_reasoning = reasons or capabilities.reasoning is None
    messages = [_message(message, capabilities, sends_reasoning) for message in request.messages]
    limit_media(messages)
    accompany_documents(messages)
    arguments: dict[str, Any] = {
        "modelId": model_id,
        "messages": messages,
        "inferenceConfig": _inference(request, capabilities, reasons),
    }
    if request.instructions.strip():
        arguments["system"] = [{"text": request.instructions}]
    if request.tools:
        arguments["toolConfig"] = {"tools": [_tool(spec, capabilities) for spec in request.tools]}
    if request.guardrail is not None:
        identifier, _, version = request.guardrail.rpartition(":")
        arguments["guardrailConfig"] = {"guardrailIdentifier": identifier, "guardrailVersion": version}
    if reasons:
        arguments["additionalModelRequestFields"] = {"thinking": _thinking(request, capabilities)}
    if capabilities.caching is not None:
        add_cache_points(arguments, capabilities.caching)
    return arguments


def may_reason(request: ModelRequest, capabilities: Capabilities) -> bool:
    """Whether reasoning is asked for in this request. If not, none may be sent back either: it would be refused."""
    if request.reasoning_tokens is None or capabilities.reasoning is None:
        return False
    return not answers_unreasoned_calls(request)


def _inference(request: ModelRequest, capabilities: Capabilities, reasons: bool) -> dict[str, Any]:
    """A temperature is refused by models that reason."""
    inference: dict[str, Any] = {"maxTokens": request.max_output_tokens}
    if request.temperature is not None and capabilities.temperature and not reasons:
        inference["temperature"] = request.temperature
    return inference


def _thinking(request: ModelRequest, capabilities: Capabilities) -> dict[str, Any]:
    if capabilities.reasoning == "adaptive":
        return {"type": "adaptive"}
    return {"type": "enabled", "budget_tokens": request.reasoning_tokens}


def _tool(spec: ToolSpec, capabilities: Capabilities) -> Block:
    schema = {"json": spec.schema if capabilities.whole_schemas else plain_schema(spec.schema)}
    return {"toolSpec": {"name": spec.name, "description": spec.description, "inputSchema": schema}}


def _message(message: RequestMessage, capabilities: Capabilities, sends_reasoning: bool) -> dict[str, Any]:
    content = [
        block
        for part in message.parts
        if sends_reasoning or not isinstance(part, ReasoningPart)
        for block in _blocks(part, capabilities)
    ]
    return {"role": message.role, "content": content}


def _blocks(part: Part, capabilities: Capabilities) -> Iterator[Block]:
    match part:
        case TextBlock(text=text):
            yield {"text": text}
        case ImageBlock():
            yield image(part, capabilities)
        case DocumentBlock():
            yield document(part, capabilities)
        case ReasoningPart():
            yield from _reasoning(part)
        case CallPart():
            yield {"toolUse": {"toolUseId": part.call_id, "name": part.name, "input": part.args}}
        case ResultPart():
            yield {"toolResult": _result(part, capabilities)}
        case _:
            assert_never(part)


def _reasoning(part: ReasoningPart) -> Iterator[Block]:
    """Redacted bytes are kept as base64; damaged ones cannot be sent back."""
    if part.redacted is None:
        yield {"reasoningContent": {"reasoningText": {"text": part.text, "signature": part.signature}}}
    elif redacted := decode_base64(part.redacted):
        yield {"reasoningContent": {"redactedContent": redacted}}


def _result(part: ResultPart, capabilities: Capabilities) -> dict[str, Any]:
    content = [_result_content(one, capabilities) for one in part.content]
    result = {"toolUseId": part.call_id, "content": content}
    if capabilities.result_status:
        return {**result, "status": "error" if part.is_error else "success"}
    return {**result, "content": [{"text": "(error)"}, *content]} if part.is_error else result


def _result_content(content: ResultContent, capabilities: Capabilities) -> Block:
    match content:
        case TextBlock(text=text):
            return {"text": text}
        case JsonObject(data=data):
            return {"json": data}
        case ImageBlock() | DocumentBlock() if not capabilities.media_in_results:
            return without_media(content)
        case ImageBlock():
            return image(content, capabilities)
        case DocumentBlock():
            return document(content, capabilities)
        case _:
            assert_never(content)
