"""Content that a model will not take: replaced before it is stored, or hidden once it was refused, never repeated."""

import base64

import pytest

from core.blocks import TextBlock
from core.entries import User
from core.errors import ModelDenied, ModelOverflow, ModelRefused
from core.messages import Input
from core.render import BLOCKED_NOTE, LONG_CHARACTERS, REFUSED_NOTE
from core.request import ResultPart
from core.strict import check_request
from tests.support.inputs import message, result, user
from tests.support.played import calls, fails, says
from tests.support.world import World, world

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (64).to_bytes(4, "big") * 2).decode()
HUGE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (9000).to_bytes(4, "big") * 2).decode()


def image(data: str) -> dict[str, str]:
    return {"type": "image", "media_type": "image/png", "data": data}


def document(media_type: str, data: str) -> dict[str, str]:
    return {"type": "document", "media_type": media_type, "name": "notes", "data": data}


def look(data: str, message_id: str) -> Input:
    return message("user_message", message_id, content=[{"type": "text", "text": "look"}, image(data)])


def shown(on: World, message: int = -1) -> list[str]:
    """The last request's texts in one of its messages; other parts by their class."""
    request = on.model.requests[-1]
    check_request(request)
    parts = request.messages[message].parts
    return [part.text if isinstance(part, TextBlock) else type(part).__name__ for part in parts]


UNUSABLE = {
    "an image too large": image(HUGE),
    "an image of a wrong type": image(base64.b64encode(b"GIF89a").decode()),
    "an image that is not base64": image("not base64!"),
    "a document too large": document("text/plain", base64.b64encode(bytes(4_600_000)).decode()),
    "a document of a wrong type": document("application/pdf", base64.b64encode(b"text").decode()),
    "a document that is not base64": document("text/plain", "not base64!"),
}


@pytest.mark.parametrize("kind", UNUSABLE)
async def test_images_and_documents_too_large_of_a_wrong_type_or_not_base64_become_text_before_they_are_stored(
    kind: str,
) -> None:
    on = world(says("ok"))
    content = [{"type": "text", "text": "look"}, UNUSABLE[kind]]
    await on.run(message("user_message", "m1", content=content))
    said, note = shown(on, 0)
    assert said == "look"
    assert "was left out" in note
    (stored, _) = await on.store.entries(on.thread_id)
    assert isinstance(stored, User)
    assert [block.type for block in stored.content] == ["text", "text"]


async def test_a_refused_image_does_not_fail_the_next_message() -> None:
    on = world(fails(ModelRefused("no images")), says("fine"))
    await on.run(look(PNG, "m1"))
    assert shown(on) == ["look", "ImageBlock"]
    await on.run(user("and now?", "m2"))
    assert shown(on) == ["look", REFUSED_NOTE, "and now?"]


async def test_a_refused_text_is_still_shown() -> None:
    on = world(fails(ModelRefused("no such model")), says("fine"))
    await on.run(user("look", "m1"))
    await on.run(user("and now?", "m2"))
    assert shown(on) == ["look", "and now?"]


async def test_a_text_longer_than_the_models_window_does_not_fail_the_next_message() -> None:
    on = world(fails(ModelOverflow("too long")), fails(ModelOverflow("too long")), says("fine"))
    long = [{"type": "text", "text": "x" * 900_000}, {"type": "json", "data": {"y": 1}}, image(PNG)]
    await on.run(user("short", "m0"), message("user_message", "m1", content=long))
    assert on.dispatcher.of_type("error")[-1]["code"] == "overflow"
    await on.run(user("and now?", "m2"))
    first, beginning, note, last = shown(on)
    assert (first, beginning, last) == ("short", "x" * LONG_CHARACTERS, "and now?")
    assert "not shown" in note
    (_, stored, *_) = await on.store.entries(on.thread_id)
    assert isinstance(stored, User)
    assert stored.content[0] == TextBlock(text="x" * 900_000)


async def test_a_user_text_that_a_guardrail_blocked_is_told_and_replaced_from_then_on() -> None:
    on = world(says("Not about that.", stop_reason="guardrail_intervened"), says("fine"))
    await on.run(user("how do I …", "m1"))
    told = on.dispatcher.of_type("assistant_message")[-1]
    assert (told["text"], told["stop_reason"]) == ("Not about that.", "guardrail_intervened")
    await on.run(user("hello", "m2"))
    assert shown(on, 0) == [BLOCKED_NOTE]
    assert shown(on) == ["hello"]


@pytest.mark.parametrize("stop_reason", ["content_filtered", "refusal"])
async def test_a_block_without_a_word_is_told_as_a_failure(stop_reason: str) -> None:
    on = world(says(stop_reason=stop_reason), says("fine"))
    await on.run(user("how do I …", "m1"))
    assert on.dispatcher.of_type("error")[-1]["message_id"] == "m1"
    await on.run(user("hello", "m2"))
    assert shown(on) == [BLOCKED_NOTE, "hello"]


async def test_a_blocked_result_keeps_its_call_answered() -> None:
    on = world(calls(("fetch", {"url": "u"})), says("No.", stop_reason="guardrail_intervened"), says("fine"))
    await on.run(user("go", "m1"))
    (call_id,) = await on.live()
    await on.run(result(call_id, "poison"))
    await on.run(user("hello", "m2"))
    (part,) = on.model.requests[-1].messages[2].parts
    assert isinstance(part, ResultPart)
    assert part.content == (TextBlock(text=BLOCKED_NOTE),)
    check_request(on.model.requests[-1])


async def test_who_may_not_ask_hides_nothing() -> None:
    on = world(fails(ModelDenied("token expired")), says("fine"))
    await on.run(look(PNG, "m1"))
    await on.run(user("and now?", "m2"))
    assert shown(on) == ["look", "ImageBlock", "and now?"]


async def test_older_media_that_a_model_refuses_is_hidden_when_the_newest_input_has_none() -> None:
    on = world(says("nice"), fails(ModelRefused("too many images")), says("fine"))
    await on.run(look(PNG, "m1"))
    await on.run(user("and now?", "m2"))
    await on.run(user("still?", "m3"))
    assert shown(on, 0) == ["look", REFUSED_NOTE]
    assert shown(on) == ["and now?", "still?"]


async def test_older_text_that_a_new_guardrail_blocks_is_hidden_at_the_second_block() -> None:
    blocked = says("I cannot.", stop_reason="guardrail_intervened")
    on = world(says("noted: secret"), blocked, blocked, says("fine"))
    for number, text in enumerate(("secret", "hello", "hello?", "are you there?")):
        await on.run(user(text, f"m{number}"))
    everything = [
        text for message in range(len(on.model.requests[-1].messages)) for text in shown(on, message)
    ]
    assert not any("secret" in text for text in everything)
    assert everything[-1] == "are you there?"
    assert on.dispatcher.of_type("assistant_message")[-1]["text"] == "fine"


async def test_what_was_too_long_stays_short_when_its_image_is_refused_later() -> None:
    too_long = fails(ModelOverflow("too long"))
    on = world(too_long, too_long, fails(ModelRefused("no")), says("fine"))
    content = [{"type": "text", "text": "long " * 1000}, image(PNG)]
    await on.run(message("user_message", "m1", content=content))
    await on.run(user("and now?", "m2"))
    await on.run(user("still?", "m3"))
    assert sum(map(len, shown(on))) < 3_000
