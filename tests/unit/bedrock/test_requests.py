"""Whatever is well-formed becomes a request that every model takes, by rules the translation does not know."""

import pytest
from hypothesis import given

from core.blocks import ImageBlock
from core.media import IMAGE_BYTES
from core.request import ModelRequest
from core.strict import check_request
from infra.bedrock.capabilities import UNKNOWN, capabilities_of
from infra.bedrock.request import converse_request
from tests.unit.bedrock.pictures import base64_of, png
from tests.unit.bedrock.requests import on_the_wire, requests
from tests.wire.asking import ADAPTIVE, CLAUDE, NOVA, assistant, request, user
from tests.wire.asking import UNKNOWN as UNKNOWN_MODEL
from tests.wire.rules import faults_of


@pytest.mark.parametrize(
    "model_id", [CLAUDE, ADAPTIVE, NOVA, "us.amazon.nova-micro-v1:0", "meta.llama3-3-70b", UNKNOWN_MODEL]
)
def test_every_well_formed_request_is_one_that_the_model_takes(model_id: str) -> None:
    @given(requests())
    def check(request: ModelRequest) -> None:
        check_request(request)
        arguments = converse_request(request, model_id, capabilities_of(model_id))
        assert faults_of(model_id, on_the_wire(arguments)) == []

    check()


def test_large_images_of_many_turns_stay_below_what_a_request_may_have() -> None:
    large = base64_of(png(more=bytes(IMAGE_BYTES - len(png()))))
    look = user(ImageBlock(media_type="image/png", data=large), "look")
    turns = [message for _ in range(9) for message in (look, assistant("nice"))]
    sent = converse_request(request(*turns, user("and?")), CLAUDE, capabilities_of(CLAUDE))["messages"]
    kinds = [next(iter(message["content"][0])) for message in sent if message["role"] == "user"]
    assert kinds == ["text"] * 6 + ["image"] * 3 + ["text"]


@pytest.mark.parametrize(
    ("model_id", "same_as"),
    [
        ("us.anthropic.claude-opus-4-20250514-v1:0", "anthropic.claude-opus-4-5-20251101-v1:0"),
        ("arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0", NOVA),
        (
            "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-6",
            "anthropic.claude-opus-4-6",
        ),
        ("global.anthropic.claude-opus-4-10", ADAPTIVE),
        ("anthropic.claude-name-of-tomorrow-9", UNKNOWN_MODEL),
        ("anthropic.claude-tomorrow-9", ADAPTIVE),
    ],
)
def test_a_model_is_known_by_whatever_name_it_has(model_id: str, same_as: str) -> None:
    assert capabilities_of(model_id) == capabilities_of(same_as)


@pytest.mark.parametrize(
    "model_id",
    ["", "my-model", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", UNKNOWN_MODEL],
)
def test_an_unknown_model_gets_text_and_tools(model_id: str) -> None:
    assert capabilities_of(model_id) == UNKNOWN
