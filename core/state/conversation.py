"""Conversations: messages that can follow each other, as fields of a state.

Who appends them may bring results one by one and in any order, but no answer without its question.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, assert_never

from pydantic import PlainSerializer, PlainValidator

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.errors import MisuseError
from core.ids import NAME
from core.request import CallPart, Part, ReasoningPart, RequestMessage, ResultPart, Role
from core.state.messages import read_messages, write_messages


def after(before: Sequence[RequestMessage], message: RequestMessage) -> RequestMessage:
    """The message as it can follow these, its results under their calls' names.

    Raises MisuseError for a part of the other side, a call whose id still waits for a result, a result that no call
    waits for.
    """
    waiting = dict[str, CallPart]()
    for one in before:
        for part in one.parts:
            _follow(one.role, part, waiting)
    return replace(message, parts=tuple(_follow(message.role, part, waiting) for part in message.parts))


def _follow(role: Role, part: Part, waiting: dict[str, CallPart]) -> Part:
    """The part, once `waiting`, the calls without a result by id, is as it leaves it."""
    match part:
        case CallPart(call_id=call_id, name=name):
            _require(role == "assistant", "a call in a message of the user")
            _require(NAME.fullmatch(call_id), "a call's id is 1–64 of A-Za-z0-9_-")
            _require(NAME.fullmatch(name), "a tool's name is 1–64 of A-Za-z0-9_-")
            _require(call_id not in waiting, f"call {call_id} is there already and waits for its result")
            waiting[call_id] = part
            return part
        case ResultPart(call_id=call_id):
            _require(role == "user", "a result in a message of the assistant: results come from the user")
            _require(call_id in waiting, f"no call {call_id!r} waits for a result")
            return replace(part, name=waiting.pop(call_id).name)
        case ReasoningPart():
            _require(role == "assistant", "reasoning in a message of the user")
            return part
        case ImageBlock() | DocumentBlock():
            _require(role == "user", "an image or document in a message of the assistant")
            return part
        case TextBlock():
            return part
        case _:
            assert_never(part)


def _require(holds: object, what: str) -> None:
    if not holds:
        raise MisuseError(what)


def read_conversation(messages: object) -> tuple[RequestMessage, ...]:
    """Several that follow each other. Raises MisuseError."""
    read: list[RequestMessage] = []
    for message in read_messages(messages):
        read.append(after(read, message))
    return tuple(read)


MessageTuple = Annotated[
    tuple[RequestMessage, ...], PlainValidator(read_conversation), PlainSerializer(write_messages)
]
"""A conversation as a field of a state."""
MessageList = Annotated[
    list[RequestMessage],
    PlainValidator(lambda messages: list(read_messages(messages))),
    PlainSerializer(write_messages),
]
