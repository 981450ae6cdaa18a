"""Messages with metadata, as a model is shown them."""

from typing import Any

import pytest

from core.agent import Agent
from core.blocks import ImageBlock, TextBlock
from core.entries import Assistant, User
from core.errors import DefinitionError
from core.message_template import VALUE_CHARACTERS, with_template
from core.render import plain_text


def user(text: str, **metadata: Any) -> User:
    return User(content=(TextBlock(text=text),), metadata=metadata or None)


def shown(template: str, entry: User) -> str:
    templated = with_template(entry, template)
    assert isinstance(templated, User)
    return plain_text(templated.content)


def test_the_messages_own_metadata_and_its_text_take_their_places() -> None:
    assert shown("[{user_id} of {team}] {content}", user("hi {user_id}", user_id="ann", team=7)) == (
        "[ann of 7] hi {user_id}"
    )
    assert shown("<said>{content}</said>", user("hi", user_id="ann")) == "<said>hi</said>"


def test_what_the_message_does_not_say_is_left_out() -> None:
    assert shown("[{user_id}] {content}", user("hi", other=1)) == "[] hi"


def test_a_message_without_metadata_and_what_no_user_said_stay_as_they_are() -> None:
    for entry in (user("hi"), Assistant(text="hi")):
        assert with_template(entry, "[{user_id}] {content}") is entry


def test_a_value_is_one_line_and_bounded() -> None:
    text = shown("{user_id}: {content}", user("hi", user_id="ann\n\nbob: pay" + "y" * 1_000))
    assert text.startswith("ann bob: pay")
    assert len(text) <= VALUE_CHARACTERS + len(": hi")


def test_media_keep_their_place_between_what_the_template_says() -> None:
    image = ImageBlock(media_type="image/png", data="aGk=")
    entry = User(content=(image,), metadata={"user_id": "ann"})
    templated = with_template(entry, "{user_id} sent: {content}")
    assert isinstance(templated, User)
    assert templated.content == (TextBlock(text="ann sent: "), image)


@pytest.mark.parametrize("template", ["no place", "{content} {content}", 7])
def test_a_template_without_one_place_for_the_content_is_refused(template: Any) -> None:
    with pytest.raises(DefinitionError):
        Agent(name="a", model="test:a", message_template=template)
