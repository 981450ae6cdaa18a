"""The check of requests finds what it is there for: a sound request with one thing made wrong."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.unit.bedrock.pictures import base64_of, png
from tests.wire.asking import CLAUDE, NOVA, UNKNOWN
from tests.wire.rules import faults_of

Body = dict[str, Any]
POINT = {"cachePoint": {"type": "default"}}
REASONING = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
USE = {"toolUse": {"toolUseId": "c1", "name": "search", "input": {}}}
RESULT = {"toolResult": {"toolUseId": "c1", "content": [{"text": "found"}], "status": "success"}}
IMAGE = {"image": {"format": "png", "source": {"bytes": base64_of(png())}}}
DOCUMENT = {"document": {"format": "txt", "name": "notes", "source": {"bytes": base64_of(b"x")}}}
SOUND: Body = {
    "system": [{"text": "Be brief."}, POINT],
    "messages": [
        {"role": "user", "content": [{"text": "look"}, IMAGE, DOCUMENT]},
        {"role": "assistant", "content": [REASONING, {"text": "hm"}, USE]},
        {"role": "user", "content": [RESULT, {"text": "and?"}, POINT]},
    ],
    "toolConfig": {
        "tools": [
            {
                "toolSpec": {
                    "name": "search",
                    "description": "Search.",
                    "inputSchema": {"json": {"type": "object"}},
                }
            },
            POINT,
        ]
    },
    "inferenceConfig": {"maxTokens": 4096},
    "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
}


def content(body: Body, index: int) -> list[Body]:
    found: list[Body] = body["messages"][index]["content"]
    return found


def test_a_sound_request_has_no_faults() -> None:
    assert faults_of(CLAUDE, deepcopy(SOUND)) == []


def five_points(body: Body) -> None:
    content(body, 0).insert(1, POINT)
    content(body, 1).insert(2, POINT)


WRONG: dict[str, Callable[[Body], object]] = {
    "assistant first": lambda body: body["messages"].pop(0),
    "assistant last": lambda body: body["messages"].pop(),
    "two users": lambda body: body["messages"].insert(0, {"role": "user", "content": [{"text": "x"}]}),
    "empty content": lambda body: content(body, 0).clear(),
    "blank text": lambda body: content(body, 0)[0].update(text=" "),
    "two fields": lambda body: content(body, 0)[0].update(image={}),
    "image by the assistant": lambda body: content(body, 1).insert(1, IMAGE),
    "call by the user": lambda body: content(body, 2).append(USE),
    "result missing": lambda body: content(body, 2).pop(0),
    "result twice": lambda body: content(body, 2).insert(0, RESULT),
    "result late": lambda body: content(body, 2).reverse(),
    "result for nobody": lambda body: content(body, 0).append(RESULT),
    "result empty": lambda body: content(body, 2)[0]["toolResult"].update(content=[]),
    "result of a list": lambda body: content(body, 2)[0]["toolResult"].update(content=[{"json": []}]),
    "call id outside": lambda body: content(body, 1)[2]["toolUse"].update(toolUseId="c.1"),
    "call id twice": lambda body: content(body, 1).append(USE),
    "input no object": lambda body: content(body, 1)[2]["toolUse"].update(input="{}"),
    "ends in reasoning": lambda body: content(body, 1).append(REASONING),
    "unsigned": lambda body: content(body, 1)[0]["reasoningContent"]["reasoningText"].pop("signature"),
    "answered without reasoning": lambda body: content(body, 1).pop(0),
    "reasoning though off": lambda body: body.pop("additionalModelRequestFields"),
    "temperature with reasoning": lambda body: body["inferenceConfig"].update(temperature=0.5),
    "budget over all": lambda body: body["inferenceConfig"].update(maxTokens=2048),
    "no image": lambda body: content(body, 0)[1]["image"]["source"].update(bytes=base64_of(b"x")),
    "image too wide": lambda body: content(body, 0)[1]["image"]["source"].update(
        bytes=base64_of(png(9000, 1))
    ),
    "document name": lambda body: content(body, 0)[2]["document"].update(name="a.pdf"),
    "document name twice": lambda body: content(body, 0).append(DOCUMENT),
    "document empty": lambda body: content(body, 0)[2]["document"]["source"].update(bytes=""),
    "document without text": lambda body: content(body, 0).pop(0),
    "no tools": lambda body: body.pop("toolConfig"),
    "only a cache point for tools": lambda body: body["toolConfig"]["tools"].pop(0),
    "blank description": lambda body: body["toolConfig"]["tools"][0]["toolSpec"].update(description=""),
    "schema": lambda body: body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"].update(
        json={"type": "object", "anyOf": []}
    ),
    "cache point behind reasoning": lambda body: content(body, 1).insert(1, POINT),
    "cache point behind a document": lambda body: content(body, 0).append(POINT),
    "cache point behind nothing": lambda body: body["system"].insert(0, POINT),
    "five cache points": five_points,
    "blank system": lambda body: body.update(system=[{"text": ""}]),
    "unknown field": lambda body: body.update(messges=[]),
    "half a guardrail": lambda body: body.update(guardrailConfig={"guardrailIdentifier": "x"}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_one_thing_wrong_is_found(wrong: str) -> None:
    body = deepcopy(SOUND)
    WRONG[wrong](body)
    assert faults_of(CLAUDE, body)


@pytest.mark.parametrize("model_id", [NOVA, UNKNOWN])
def test_what_only_another_model_takes_is_found(model_id: str) -> None:
    assert faults_of(model_id, deepcopy(SOUND))
