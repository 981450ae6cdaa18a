"""Converse's rules that depend on the model: reasoning, caching, media, sampling."""

import json
from collections.abc import Iterator
from typing import Any

from tests.wire.rules_blocks import kind_of

Body = dict[str, Any]


def model_faults(model_id: str, body: Body) -> Iterator[str]:
    """What this model would refuse."""
    yield from _reasoning_faults(model_id, body)
    yield from _limit_faults(body)
    if "nova" in model_id:
        yield from _nova_faults(body)
    if "claude" not in model_id:
        yield from _schema_faults(body)
    if not any(known in model_id for known in ("claude", "nova", "llama")):
        yield from _plain_faults(body)
    yield from _guardrail_faults(body.get("guardrailConfig"))


def _reasoning_faults(model_id: str, body: Body) -> Iterator[str]:
    """Claude's: with reasoning on, answered calls come behind reasoning; with it off, none is sent back."""
    if "claude" not in model_id:
        return
    assistants = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
    answers = any("toolResult" in block for block in body["messages"][-1]["content"])
    if _thinking(body) is None:
        if any("reasoningContent" in block for content in assistants for block in content):
            yield "reasoning is off, and some is sent"
    elif answers and kind_of(assistants[-1][0]) != "reasoningContent":
        yield "reasoning is on, and the calls that are answered come without"


def _limit_faults(body: Body) -> Iterator[str]:
    inference, thinking = body["inferenceConfig"], _thinking(body)
    if not isinstance(inference.get("maxTokens"), int) or inference["maxTokens"] < 1:
        yield "inferenceConfig: no maxTokens"
    if inference.keys() - {"maxTokens", "temperature"}:
        yield f"inferenceConfig: {sorted(inference)}"
    if thinking is None:
        return
    if "temperature" in inference:
        yield "reasoning is on, and a temperature given"
    match thinking:
        case {"type": "adaptive", **rest} if not rest:
            pass
        case {"type": "enabled", "budget_tokens": int(budget), **rest} if not rest:
            if not 1024 <= budget < inference["maxTokens"]:
                yield f"a reasoning budget of {budget}"
        case _:
            yield f"thinking: {thinking}"


def _thinking(body: Body) -> Any:
    return body.get("additionalModelRequestFields", {}).get("thinking")


def _nova_faults(body: Body) -> Iterator[str]:
    if any("cachePoint" in tool for tool in body.get("toolConfig", {}).get("tools", [])):
        yield "Nova takes no cache point among tools"
    if "additionalModelRequestFields" in body:
        yield "Nova takes no thinking"


def _schema_faults(body: Body) -> Iterator[str]:
    """Nova's, which are also safe for a model of which nothing is known."""
    for tool in body.get("toolConfig", {}).get("tools", []):
        schema = tool.get("toolSpec", {}).get("inputSchema", {}).get("json", {})
        if found := schema.keys() - {"type", "properties", "required"}:
            yield f"a schema with {sorted(found)} at its top"
        if '"$ref"' in json.dumps(schema):
            yield "a schema with references"


def _plain_faults(body: Body) -> Iterator[str]:
    """Of a model of which nothing is known: the least that any has."""
    kinds = {kind_of(block) for message in body["messages"] for block in message["content"]}
    if found := kinds & {"image", "document", "cachePoint"}:
        yield f"an unknown model is sent {sorted(found)}"
    for message in body["messages"]:
        for block in message["content"]:
            if "toolResult" in block and "status" in block["toolResult"]:
                yield "an unknown model is sent a result's status"


def _guardrail_faults(guardrail: Body | None) -> Iterator[str]:
    if guardrail is not None and guardrail.keys() != {"guardrailIdentifier", "guardrailVersion"}:
        yield f"guardrailConfig: {sorted(guardrail)}"
