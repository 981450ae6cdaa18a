"""Filling in the placeholders of a scripted reply: `{user}`, `{1}` … (contract.md, "Scripted models"). Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any

from infra.scripted.conversation import Conversation
from infra.scripted.script import Reply, ScriptedCall

_PLACEHOLDER = re.compile(r"\{(user|result|thread_id|parent_id|thread_stack|[1-9][0-9]?)\}")


class Placeholders:
    """The values of one conversation and of the groups a rule found, by number."""

    def __init__(self, seen: Conversation, groups: Mapping[str, str]) -> None:
        stack = seen.context.thread_stack
        self._stack = stack
        self._values = {
            "user": seen.user,
            "result": seen.result,
            "thread_id": stack[-1] if stack else "",
            "parent_id": stack[-2] if len(stack) > 1 else "",
            "thread_stack": json.dumps(stack),
            **groups,
        }

    def fill_reply(self, reply: Reply) -> Reply:
        """The reply with every text of it filled in: what is said, thought, called, and given as arguments."""
        return reply.model_copy(
            update={
                "text": self._text(reply.text),
                "tool_calls": tuple(map(self._call, reply.tool_calls)),
                "reasoning": tuple(
                    block.model_copy(update={"text": self._text(block.text)}) for block in reply.reasoning
                ),
            }
        )

    def _call(self, call: ScriptedCall) -> ScriptedCall:
        raw = None if call.raw_args is None else self._text(call.raw_args)
        filled = {"name": self._text(call.name), "args": self._value(call.args), "raw_args": raw}
        return call.model_copy(update=filled)

    def _value(self, value: Any) -> Any:
        match value:
            case "{thread_stack}":
                return list(self._stack)
            case str():
                return self._text(value)
            case dict():
                return {key: self._value(item) for key, item in value.items()}
            case list():
                return [self._value(item) for item in value]
            case _:
                return value

    def _text(self, text: str) -> str:
        """One pass: what a person typed is not filled in again. A group that the regex lacks stays as written."""
        return _PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), text)
