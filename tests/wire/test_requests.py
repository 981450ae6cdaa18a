"""What is sent: the conversation in Converse's form, and what is decided only when it is sent."""

from dataclasses import replace
from typing import Any

import pytest

from core.blocks import DocumentBlock, ImageBlock
from core.request import JsonObject, ModelRequest, ResultPart
from tests.unit.bedrock.pictures import base64_of, jpeg, png
from tests.wire import frames
from tests.wire.asking import (
    ADAPTIVE,
    CLAUDE,
    NOVA,
    UNKNOWN,
    answered,
    ask,
    asking,
    assistant,
    called,
    request,
    thought,
    user,
)
from tests.wire.server import ConverseServer, Received
from tests.wire.steps import plays

POINT = {"cachePoint": {"type": "default"}}
PICTURE = ImageBlock(media_type="image/png", data=base64_of(png()))
NOTES = DocumentBlock(media_type="text/plain", name="notes", data=base64_of(b"hello"))
IN_MID_CALL = (user("look"), assistant(thought(), called(q="x")), user(answered()))


async def sent(asked: ModelRequest, model_id: str = CLAUDE) -> Received:
    """What arrives at the server, which finds no fault with it."""
    async with ConverseServer(plays(frames.says("ok"))) as server, asking(server, model_id) as model:
        await ask(model, asked)
    return server.requests[0]


def shown(received: Received, index: int = -1) -> list[dict[str, Any]]:
    """The content of a message, cache points aside."""
    content: list[dict[str, Any]] = received.messages[index]["content"]
    return [block for block in content if block != POINT]


async def test_a_conversation_is_sent_in_order() -> None:
    received = await sent(
        request(
            user("hello"),
            assistant("looking", called("c1", q="x"), called("c2")),
            user(
                answered("c1"),
                ResultPart("c2", "search", (JsonObject({"n": 0.1}),), is_error=True),
                "and then?",
            ),
            instructions="Be brief.",
            max_output_tokens=99,
            temperature=0.5,
        )
    )
    assert received.model_id == CLAUDE
    assert shown(received, 1) == [
        {"text": "looking"},
        {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "x"}}},
        {"toolUse": {"toolUseId": "c2", "name": "search", "input": {}}},
    ]
    assert shown(received, 2) == [
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "found"}], "status": "success"}},
        {"toolResult": {"toolUseId": "c2", "content": [{"json": {"n": 0.1}}], "status": "error"}},
        {"text": "and then?"},
    ]
    assert received.body["system"][0] == {"text": "Be brief."}
    assert received.body["inferenceConfig"] == {"maxTokens": 99, "temperature": 0.5}
    assert received.body["toolConfig"]["tools"][0]["toolSpec"]["name"] == "search"


async def test_blank_instructions_and_no_tools_are_not_sent() -> None:
    received = await sent(replace(request(), instructions=" \n", tools=()))
    assert received.body.keys() == {"messages", "inferenceConfig"}


async def test_a_request_is_signed_and_asked_for_once() -> None:
    received = await sent(request())
    assert received.headers["authorization"].startswith("AWS4-HMAC-SHA256 ")


async def test_a_guardrail_is_sent_by_identifier_and_version() -> None:
    received = await sent(request(guardrail="arn:aws:bedrock:us-east-1:1:guardrail/abc:DRAFT"))
    assert received.body["guardrailConfig"] == {
        "guardrailIdentifier": "arn:aws:bedrock:us-east-1:1:guardrail/abc",
        "guardrailVersion": "DRAFT",
    }


async def test_cache_points_stand_behind_tools_system_and_the_last_two_user_messages() -> None:
    asked = request(user("1"), assistant("a"), user("2"), assistant("b"), user("3"), instructions="Be brief.")
    received = await sent(asked)
    assert received.body["system"][-1] == received.body["toolConfig"]["tools"][-1] == POINT
    assert [message["content"][-1] == POINT for message in received.messages] == [0, 0, 1, 0, 1]


async def test_no_cache_point_stands_behind_a_document_or_where_a_model_takes_none() -> None:
    asked = request(user("1"), assistant("a"), user("read", NOTES), instructions="Be brief.")
    assert [message["content"][-1] == POINT for message in (await sent(asked)).messages] == [1, 0, 0]
    nova = await sent(request(*IN_MID_CALL, instructions="Be brief."), NOVA)
    assert POINT in nova.body["system"]
    assert POINT not in nova.body["toolConfig"]["tools"]
    assert [POINT in message["content"] for message in nova.messages] == [1, 0, 0]
    assert "cachePoint" not in str((await sent(request(instructions="Be brief."), UNKNOWN)).body)


async def test_reasoning_is_asked_for_as_the_model_wants_it() -> None:
    asked = request(reasoning_tokens=2048, temperature=0.5)
    received = await sent(asked)
    assert received.body["additionalModelRequestFields"] == {
        "thinking": {"type": "enabled", "budget_tokens": 2048}
    }
    assert "temperature" not in received.body["inferenceConfig"]
    adaptive = await sent(asked, ADAPTIVE)
    assert adaptive.body["additionalModelRequestFields"] == {"thinking": {"type": "adaptive"}}
    for model_id in (NOVA, UNKNOWN):
        plain = await sent(asked, model_id)
        assert "additionalModelRequestFields" not in plain.body
        assert plain.body["inferenceConfig"]["temperature"] == 0.5


async def test_reasoning_goes_back_with_the_calls_it_led_to() -> None:
    redacted = thought("", None, base64_of(b"\x00\xff"))
    turn = assistant(thought("one", "s1"), redacted, "so", called())
    received = await sent(request(user("look"), turn, user(answered()), reasoning_tokens=2048))
    assert shown(received, 1)[:3] == [
        {"reasoningContent": {"reasoningText": {"text": "one", "signature": "s1"}}},
        {"reasoningContent": {"redactedContent": base64_of(b"\x00\xff")}},
        {"text": "so"},
    ]


async def test_a_call_that_nobody_reasoned_about_is_answered_without_reasoning() -> None:
    """An injected event, or a call of another model: this one request goes without, and sends none back."""
    earlier = (user("hi"), assistant(thought(), "hello"))
    received = await sent(
        request(*earlier, user("go"), assistant(called()), user(answered()), reasoning_tokens=2048)
    )
    assert "additionalModelRequestFields" not in received.body
    assert shown(received, 1) == [{"text": "hello"}]


async def test_reasoning_that_is_not_asked_for_any_more_is_not_sent_back() -> None:
    received = await sent(request(*IN_MID_CALL))
    assert [list(block) for block in shown(received, 1)] == [["toolUse"]]


async def test_reasoning_of_a_model_that_is_never_asked_to_goes_back_as_it_came() -> None:
    received = await sent(request(*IN_MID_CALL), UNKNOWN)
    assert [list(block) for block in shown(received, 1)] == [["reasoningContent"], ["toolUse"]]


async def test_images_and_documents_are_sent_as_bytes() -> None:
    received = await sent(request(user("look", PICTURE, NOTES)))
    assert shown(received)[1:] == [
        {"image": {"format": "png", "source": {"bytes": base64_of(png())}}},
        {"document": {"format": "txt", "name": "notes", "source": {"bytes": base64_of(b"hello")}}},
    ]


async def test_a_document_alone_gets_a_text_beside_it() -> None:
    received = await sent(request(user(NOTES)))
    assert [list(block) for block in shown(received)] == [["text"], ["document"]]


async def test_media_in_s3_are_named_to_models_that_read_there() -> None:
    stored = ImageBlock(media_type="image/jpeg", s3="s3://bucket/a/key.jpg")
    received = await sent(request(user(stored)), NOVA)
    source = {"s3Location": {"uri": "s3://bucket/a/key.jpg"}}
    assert shown(received) == [{"image": {"format": "jpeg", "source": source}}]
    assert list(shown(await sent(request(user(stored))))[0]) == ["text"]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(ImageBlock(media_type="image/png", data="no base64!"), id="not base64"),
        pytest.param(ImageBlock(media_type="image/png", data=base64_of(png(8001, 1))), id="too many pixels"),
        pytest.param(
            ImageBlock(media_type="image/png", data=base64_of(png(more=b"x" * 3_750_000))), id="too large"
        ),
        pytest.param(ImageBlock(media_type="image/png", data=base64_of(jpeg())), id="another type"),
        pytest.param(ImageBlock(media_type="image/tiff", data=base64_of(b"II*")), id="no such type"),
        pytest.param(
            DocumentBlock(media_type="application/zip", name="a", data=base64_of(b"PK")), id="a zip"
        ),
        pytest.param(DocumentBlock(media_type="text/plain", name="a", data=""), id="an empty document"),
    ],
)
async def test_images_and_documents_no_model_takes_are_replaced_by_a_text_note(
    block: ImageBlock | DocumentBlock,
) -> None:
    for asked in (
        request(user("look", block)),
        request(user("look"), assistant(called()), user(ResultPart("c1", "search", (block,)))),
    ):
        (last,) = shown(await sent(asked))[-1:]
        (note,) = last["toolResult"]["content"] if "toolResult" in last else [last]
        assert "not shown" in note["text"]


async def test_a_model_that_takes_no_media_is_told_what_there_was() -> None:
    received = await sent(request(user(PICTURE, NOTES)), UNKNOWN)
    assert ["not shown" in block["text"] for block in shown(received)] == [True, True]


async def test_too_many_media_leave_the_newest() -> None:
    names = [NOTES.model_copy(update={"name": f"notes {number}"}) for number in range(7)]
    received = await sent(request(user("look", *[PICTURE] * 22, *names)))
    kinds = [next(iter(block)) for block in shown(received)]
    assert kinds == ["text", "text", "text", *["image"] * 20, "text", "text", *["document"] * 5]


async def test_an_error_is_told_in_words_to_a_model_without_a_status() -> None:
    received = await sent(request(*IN_MID_CALL[:2], user(answered(is_error=True))), UNKNOWN)
    assert shown(received)[0]["toolResult"]["content"] == [{"text": "(error)"}, {"text": "found"}]
