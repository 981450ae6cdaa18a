"""The strict request check: a whole valid request passes, and each rule bites on a request that breaks only it."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.errors import MalformedRequest
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultPart,
    ToolSpec,
)
from core.strict import check_request

OK = TextBlock(text="fine")
A_LIST: Any = [1]
SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {}})


def document(name: str) -> DocumentBlock:
    return DocumentBlock(media_type="text/plain", name=name, data="aGk=")


def image() -> ImageBlock:
    return ImageBlock(media_type="image/png", data="aGk=")


def call(call_id: str, **args: Any) -> CallPart:
    return CallPart(call_id, "search", args)


def result(call_id: str, *content: Any) -> ResultPart:
    return ResultPart(call_id, "search", content or (OK,))


def user(*parts: Part) -> RequestMessage:
    return RequestMessage("user", parts)


def assistant(*parts: Part) -> RequestMessage:
    return RequestMessage("assistant", parts)


def request(*messages: RequestMessage, tools: tuple[ToolSpec, ...] = (SEARCH,)) -> ModelRequest:
    return ModelRequest(model="script:x", messages=messages, tools=tools)


def with_tool(**changes: Any) -> ModelRequest:
    return request(user(OK), tools=(replace(SEARCH, **changes),))


def with_call(*answer: Part, calls: tuple[Part, ...] = (call("c1"), call("c2"))) -> ModelRequest:
    return request(user(OK), assistant(*calls), user(*answer))


WHOLE = request(
    user(OK, image(), document("Report (1)")),
    assistant(
        ReasoningPart("hm", signature="s"),
        OK,
        call("c1", query="a"),
        ReasoningPart(redacted="aGk="),
        call("c2"),
    ),
    user(result("c1", OK, image(), document("Report [2]")), result("c2", JsonObject({"n": [1.5, None]})), OK),
    assistant(OK, call("c3")),
    user(result("c3")),
)


def test_a_request_with_everything_in_it_passes() -> None:
    check_request(WHOLE)
    check_request(request(user(OK), tools=()))


BROKEN: dict[str, tuple[str, ModelRequest]] = {
    "no messages": ("messages", request()),
    "assistant first": ("message 0", request(assistant(OK), user(OK))),
    "assistant last": ("message 1", request(user(OK), assistant(OK))),
    "user twice": ("message 1", request(user(OK), user(OK))),
    "empty message": ("message 1", request(user(OK), assistant(), user(OK))),
    "blank text": ("message 0, part 0", request(user(TextBlock(text=" \n\t")))),
    "empty text": ("message 1, part 1", request(user(OK), assistant(OK, TextBlock(text="")), user(OK))),
    "call never answered": ("message 2, part 1", with_call(result("c1"), OK)),
    "no call answered": ("message 2, part 0", with_call(OK)),
    "answered too late": (
        "message 2, part 0",
        request(user(OK), assistant(call("c1")), user(OK), assistant(OK), user(result("c1"))),
    ),
    "answered twice": ("message 2, part 2", with_call(result("c1"), result("c2"), result("c1"))),
    "answered twice, one message on": (
        "message 4, part 0",
        request(user(OK), assistant(call("c1")), user(result("c1")), assistant(OK), user(result("c1"))),
    ),
    "results out of order": ("message 2, part 0", with_call(result("c2"), result("c1"))),
    "text before results": ("message 2, part 0", with_call(OK, result("c1"), result("c2"))),
    "text between results": ("message 2, part 1", with_call(result("c1"), OK, result("c2"))),
    "result without a call": ("message 0, part 1", request(user(OK, result("c1")))),
    "result under another tool's name": (
        "message 2, part 1",
        with_call(result("c1"), ResultPart("c2", "other", (OK,))),
    ),
    "call id alphabet": ("message 1, part 0", with_call(result("c.1"), calls=(call("c.1"),))),
    "call id too long": ("message 1, part 0", with_call(result("c" * 65), calls=(call("c" * 65),))),
    "call id empty": ("message 1, part 0", with_call(result(""), calls=(call(""),))),
    "call name alphabet": (
        "message 1, part 0",
        with_call(ResultPart("c1", "séarch", (OK,)), calls=(CallPart("c1", "séarch", {}),)),
    ),
    "call id twice in a message": (
        "message 1, part 1",
        with_call(result("c1"), result("c1"), calls=(call("c1"), call("c1"))),
    ),
    "call id twice in the request": (
        "message 3, part 0",
        request(
            user(OK), assistant(call("c1")), user(result("c1")), assistant(call("c1")), user(result("c1"))
        ),
    ),
    "result without content": (
        "message 2, part 0",
        with_call(ResultPart("c1", "search", ()), calls=(call("c1"),)),
    ),
    "blank text in a result": (
        "message 2, part 0, content 0",
        with_call(result("c1", TextBlock(text=" ")), calls=(call("c1"),)),
    ),
    "list as JSON in a result": (
        "message 2, part 0, content 0",
        with_call(result("c1", JsonObject(A_LIST)), calls=(call("c1"),)),
    ),
    "NaN in a result": (
        "message 2, part 0, content 0",
        with_call(result("c1", JsonObject({"n": float("nan")})), calls=(call("c1"),)),
    ),
    "NaN in arguments": ("message 1, part 0", with_call(result("c1"), calls=(call("c1", n=float("inf")),))),
    "arguments no JSON": ("message 1, part 0", with_call(result("c1"), calls=(call("c1", n={1, 2}),))),
    "arguments a list": (
        "message 1, part 0",
        with_call(result("c1"), calls=(CallPart("c1", "search", A_LIST),)),
    ),
    "assistant ends in reasoning": (
        "message 1",
        request(user(OK), assistant(OK, ReasoningPart("hm", "s")), user(OK)),
    ),
    "reasoning by the user": ("message 0, part 0", request(user(ReasoningPart("hm", "s"), OK))),
    "unsigned reasoning": (
        "message 1, part 0",
        request(user(OK), assistant(ReasoningPart("hm"), OK), user(OK)),
    ),
    "call by the user": ("message 0, part 0", request(user(call("c1"), OK))),
    "result by the assistant": (
        "message 1, part 0",
        request(user(OK), assistant(result("c1"), OK), user(OK)),
    ),
    "image by the assistant": ("message 1, part 0", request(user(OK), assistant(image()), user(OK))),
    "document by the assistant": ("message 1, part 0", request(user(OK), assistant(document("a")), user(OK))),
    "history with calls, no tools": ("tools", replace(with_call(result("c1"), result("c2")), tools=())),
    "tool name alphabet": ("tool 0", with_tool(name="a b")),
    "tool name twice": ("tool 1", request(user(OK), tools=(SEARCH, SEARCH))),
    "blank description": ("tool 0", with_tool(description=" ")),
    "schema without type": ("tool 0", with_tool(schema={"properties": {}})),
    "schema of a list": ("tool 0", with_tool(schema={"type": "array"})),
    "schema anyOf": ("tool 0", with_tool(schema={"type": "object", "anyOf": []})),
    "schema oneOf": ("tool 0", with_tool(schema={"type": "object", "oneOf": []})),
    "schema allOf": ("tool 0", with_tool(schema={"type": "object", "allOf": []})),
    "schema no JSON": ("tool 0", with_tool(schema={"type": "object", "default": float("nan")})),
    "document name alphabet": ("message 0, part 1", request(user(OK, document("a.txt")))),
    "document name too long": (
        "message 0, part 1",
        request(
            user(OK, DocumentBlock.model_construct(media_type="text/plain", name="a" * 201, data="aGk="))
        ),
    ),
    "document name with two spaces": ("message 0, part 1", request(user(OK, document("a  b")))),
    "document name blank": ("message 0, part 1", request(user(OK, document(" ")))),
    "document name empty": ("message 0, part 1", request(user(OK, document("")))),
    "document name twice": (
        "message 2, part 1",
        request(user(OK, document("a")), assistant(OK), user(OK, document("a"))),
    ),
    "document name twice, once in a result": (
        "message 2, part 1",
        with_call(result("c1", document("a")), document("a"), calls=(call("c1"),)),
    ),
}
"""What is broken: where the error must point, and a request that breaks only that."""


@pytest.mark.parametrize(("where", "broken"), BROKEN.values(), ids=BROKEN.keys())
def test_each_rule_bites(where: str, broken: ModelRequest) -> None:
    with pytest.raises(MalformedRequest, match=f"^{re.escape(where)}: "):
        check_request(broken)


def test_errors_carry_no_content() -> None:
    secret = "s3cret!"
    broken = with_call(
        result("c1", TextBlock(text=secret)), calls=(call("c1", query=secret, n=float("nan")),)
    )
    with pytest.raises(MalformedRequest) as raised:
        check_request(broken)
    assert secret not in str(raised.value)


@st.composite
def valid_requests(draw: st.DrawFn) -> ModelRequest:
    """Conversations of user text and groups of calls, each group answered in order, with or without text around."""
    count = 0
    messages = [user(OK)]
    for calls in draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)):
        ids = [f"call_{count + position}" for position in range(calls)]
        count += calls
        words = (OK,) if draw(st.booleans()) or not calls else ()
        messages.append(assistant(*words, *(call(call_id) for call_id in ids)))
        after = (OK,) if draw(st.booleans()) or not calls else ()
        messages.append(user(*(result(call_id) for call_id in ids), *after))
    return request(*messages)


def mutated(valid: ModelRequest, message: int, change: Callable[[list[Part]], list[Part]]) -> ModelRequest:
    parts = tuple(change(list(valid.messages[message].parts)))
    changed = replace(valid.messages[message], parts=parts)
    return replace(valid, messages=(*valid.messages[:message], changed, *valid.messages[message + 1 :]))


def drop_first_result(valid: ModelRequest, message: int) -> ModelRequest | None:
    if not isinstance(valid.messages[message].parts[0], ResultPart):
        return None
    return mutated(valid, message, lambda parts: parts[1:])


def swap_role(valid: ModelRequest, message: int) -> ModelRequest:
    role = valid.messages[message].role
    changed = replace(valid.messages[message], role="user" if role == "assistant" else "assistant")
    return replace(valid, messages=(*valid.messages[:message], changed, *valid.messages[message + 1 :]))


def drop_message(valid: ModelRequest, message: int) -> ModelRequest:
    return replace(valid, messages=valid.messages[:message] + valid.messages[message + 1 :])


def duplicate_part(valid: ModelRequest, message: int) -> ModelRequest | None:
    if isinstance(valid.messages[message].parts[-1], TextBlock):
        return None
    return mutated(valid, message, lambda parts: [*parts, parts[-1]])


def blank_a_text(valid: ModelRequest, message: int) -> ModelRequest | None:
    if not isinstance(valid.messages[message].parts[-1], TextBlock):
        return None
    return mutated(valid, message, lambda parts: [*parts[:-1], TextBlock(text=" ")])


def reverse_parts(valid: ModelRequest, message: int) -> ModelRequest | None:
    parts = valid.messages[message].parts
    if len(parts) < 2 or not isinstance(parts[0], ResultPart):
        return None
    return mutated(valid, message, lambda parts: parts[::-1])


@given(
    valid_requests(),
    st.sampled_from(
        [drop_first_result, swap_role, drop_message, duplicate_part, blank_a_text, reverse_parts]
    ),
    st.data(),
)
def test_any_one_mutation_of_a_valid_request_is_found(
    valid: ModelRequest, mutate: Callable[[ModelRequest, int], ModelRequest | None], data: st.DataObject
) -> None:
    check_request(valid)
    broken = mutate(valid, data.draw(st.integers(0, len(valid.messages) - 1)))
    if broken is not None:
        with pytest.raises(MalformedRequest):
            check_request(broken)
