"""Messages on a worker's queue (contract.md, "Tool calls to a worker"), and how an untrusted body becomes one."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from core.messages import ThreadId
from core.parsing import refusal_of


class _WorkMessage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    v: Literal[1] = 1
    thread_id: ThreadId
    call_id: str = Field(min_length=1, max_length=64)


class ToolCallMessage(_WorkMessage):
    """Run a tool and answer with its result."""

    type: Literal["tool_call"]
    thread_ancestors: tuple[str, ...] = ()
    """Root first, the thread itself not included."""
    name: str
    args: dict[str, Any]
    user_id: str | None = None
    metadata: dict[str, Any] = {}
    deadline: AwareDatetime
    """When the thread answers the call without the worker."""


class ToolCancelMessage(_WorkMessage):
    """Nobody waits for the call any more. May come before it."""

    type: Literal["tool_cancel"]


class ToolAnswerMessage(_WorkMessage):
    """A person answered the question of a call."""

    type: Literal["tool_answer"]
    question: str | None = Field(default=None, min_length=1, max_length=128)
    """The `message_id` of the question. None: whichever is open."""
    choice: str
    comment: str = ""


WorkMessage = Annotated[ToolCallMessage | ToolCancelMessage | ToolAnswerMessage, Field(discriminator="type")]

_WORK: TypeAdapter[WorkMessage] = TypeAdapter(WorkMessage)


def parse_work(body: str) -> WorkMessage:
    """The message in `body`. Raises Refused (`invalid`) with a reason that names the field, never its content."""
    try:
        return _WORK.validate_json(body)
    except ValidationError as error:
        raise refusal_of(error) from None
