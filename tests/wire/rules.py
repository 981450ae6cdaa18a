"""Converse's rules, by platform.md, on a request as it arrives: what Bedrock would refuse, in words.

Independent of the renderer, the strict check and the adapter, on purpose: it reads the JSON of the wire, and shares
nothing with what wrote it.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.wire.rules_blocks import block_faults, kind_of, result_faults
from tests.wire.rules_models import model_faults

Body = dict[str, Any]
_TOP = {
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "guardrailConfig",
    "additionalModelRequestFields",
}
_MOST_POINTS = 4


def faults_of(model_id: str, body: Body) -> list[str]:
    """What is wrong with a request; empty if nothing is."""
    return [
        *(f"unknown field {name}" for name in sorted(body.keys() - _TOP)),
        *_role_faults(body["messages"]),
        *_content_faults(body["messages"]),
        *_answer_faults(body["messages"]),
        *_tool_faults(body),
        *_cache_faults(body),
        *_system_faults(body.get("system")),
        *_repeated(body["messages"]),
        *model_faults(model_id, body),
    ]


def _role_faults(messages: list[Body]) -> Iterator[str]:
    roles = [message["role"] for message in messages]
    if not roles or roles[0] != "user" or roles[-1] != "user":
        yield f"roles begin or end with another than user: {roles}"
    if any(before == after for before, after in pairwise(roles)):
        yield f"roles do not alternate: {roles}"


def _content_faults(messages: list[Body]) -> Iterator[str]:
    for index, message in enumerate(messages):
        where, content = f"messages[{index}]", message["content"]
        if not content:
            yield f"{where}: empty content"
            continue
        for position, block in enumerate(content):
            yield from block_faults(block, message["role"], f"{where}.content[{position}]")
        kinds = [kind_of(block) for block in content]
        if "document" in kinds and "text" not in kinds:
            yield f"{where}: a document without a text beside it"
        if kinds[-1] == "reasoningContent":
            yield f"{where}: ends in reasoning"


def _answer_faults(messages: list[Body]) -> Iterator[str]:
    """Each call answered once, in the next message, before anything else; nothing else answered."""
    asked: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        answered = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
        if answered != asked:
            yield f"{where}: answers {answered}, asked were {asked}"
        if any("toolResult" not in block for block in message["content"][: len(answered)]):
            yield f"{where}: something stands before a result"
        for block in message["content"]:
            if "toolResult" in block:
                yield from result_faults(block["toolResult"], where)
        asked = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]


def _tool_faults(body: Body) -> Iterator[str]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    uses = any("toolUse" in block or "toolResult" in block for block in blocks)
    if "toolConfig" not in body:
        if uses:
            yield "toolConfig: none, though the history has tool blocks"
        return
    specs = [tool["toolSpec"] for tool in body["toolConfig"]["tools"] if "toolSpec" in tool]
    if not specs:
        yield "toolConfig: no tools in it"
    if "toolChoice" in body["toolConfig"]:
        yield "toolConfig: a tool choice nobody asked for"
    names = [spec["name"] for spec in specs]
    if len(set(names)) < len(names):
        yield f"toolConfig: names twice: {names}"
    for spec in specs:
        yield from _spec_faults(spec)


def _spec_faults(spec: Body) -> Iterator[str]:
    schema = spec["inputSchema"]["json"]
    if spec.keys() - {"name", "description", "inputSchema"}:
        yield f"tool {spec['name']}: unknown fields"
    if not spec.get("description", "x").strip():
        yield f"tool {spec['name']}: a blank description"
    if schema.get("type") != "object" or schema.keys() & {"anyOf", "oneOf", "allOf"}:
        yield f"tool {spec['name']}: schema not a plain object: {json.dumps(schema)[:200]}"


def _cache_faults(body: Body) -> Iterator[str]:
    """At most four; each behind something it can hold, never behind reasoning or a document."""
    lists = [
        body.get("system", []),
        body.get("toolConfig", {}).get("tools", []),
        *(message["content"] for message in body["messages"]),
    ]
    points = [(blocks, at) for blocks in lists for at, block in enumerate(blocks) if "cachePoint" in block]
    if len(points) > _MOST_POINTS:
        yield f"{len(points)} cache points"
    for blocks, at in points:
        before = kind_of(blocks[at - 1]) if at else "nothing"
        if before in ("nothing", "reasoningContent", "document", "cachePoint"):
            yield f"a cache point behind {before}"
        if blocks[at] != {"cachePoint": {"type": "default"}}:
            yield "a cache point of another type"


def _system_faults(system: list[Body] | None) -> Iterator[str]:
    if system is not None and not (system and system[0].get("text", "").strip()):
        yield "system: empty or blank"


def _repeated(messages: list[Body]) -> Iterator[str]:
    blocks = [block for message in messages for block in message["content"]]
    inner = [one for block in blocks if "toolResult" in block for one in block["toolResult"]["content"]]
    documents = [block["document"]["name"] for block in [*blocks, *inner] if "document" in block]
    calls = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
    for what, names in (("document name", documents), ("call id", calls)):
        if len(set(names)) < len(names):
            yield f"the same {what} twice: {names}"
    images = sum("image" in block for block in [*blocks, *inner])
    if len(documents) > 5 or images > 20:
        yield f"{len(documents)} documents, {images} images"
