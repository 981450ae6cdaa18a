"""`AgentState`: what a ReAct-style run knows: the question, what was said and found, notes, the report."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from core.blocks import TextBlock
from core.request import RequestMessage
from core.sources import Source
from core.state.conversation import MessageTuple, after
from core.state.exports import anthropic_messages, converse_messages, openai_messages
from core.state.messages import Authored, read_message
from core.state.rebuilt import SOURCES, Rebuilt, ThreadView


def _messages(view: ThreadView) -> tuple[RequestMessage, ...]:
    return tuple(map(read_message, view.messages))


class AgentState(BaseModel):
    """Usable on its own, around any model, or as `Agent(state_type=…)`.

    In a thread, `messages` are what the model is given and `sources` what the thread collected; both are rebuilt, and
    the other fields are stored.
    """

    model_config = ConfigDict(defer_build=True)

    rebuilt: ClassVar[Mapping[str, Rebuilt]] = {"messages": Rebuilt(show=_messages), "sources": SOURCES}

    query: str = ""
    messages: MessageTuple = Field(default=(), frozen=True)
    """What was said, called and answered; `append_message` adds to it, and nothing changes or removes one."""
    scratchpad: str = ""
    sources: list[Source] = []
    step: int = 0
    report: str | None = None
    """None until the run is done."""

    def append_message(
        self, message: Authored | str | None = None, content: object = None, *, role: str | None = None
    ) -> None:
        """Append a message: `{"role": …, "content": …}`, or role and content apart, by name or by position.

        Content is a string or blocks of the Messages API; results may come one by one, in any order. Raises
        MisuseError for what is no message, a result that no call waits for, and a call id that still waits for one.
        """
        if message is None or isinstance(message, str):
            message = {"role": message or role, "content": content}
        appended = after(self.messages, read_message(message))
        self.__dict__["messages"] = (*self.messages, appended)
        self.model_fields_set.add("messages")

    def add_source(self, url: str | Source, title: str = "", snippet: str = "") -> None:
        """Note a source, unless its URL is noted already. Long titles and snippets are cut.

        Raises pydantic's ValidationError for a URL that is empty or too long.
        """
        source = url if isinstance(url, Source) else Source.noted(url, title, snippet)
        if all(source.url != known.url for known in self.sources):
            self.sources.append(source)

    def increment_step(self) -> int:
        """Count one more step; returns its number."""
        self.step += 1
        return self.step

    def to_api_messages(self) -> list[dict[str, Any]]:
        """For the Anthropic Messages API. A call without a result is answered so: the API takes none unanswered.

        Without any message from the user to begin with, the query is it.
        """
        return anthropic_messages(self._begun(), self.query)

    def to_openai_messages(self) -> list[dict[str, Any]]:
        """The same for the OpenAI chat format."""
        return openai_messages(self._begun(), self.query)

    def to_converse_messages(self) -> list[dict[str, Any]]:
        """The same for Bedrock's Converse; media are bytes."""
        return converse_messages(self._begun(), self.query)

    def _begun(self) -> tuple[RequestMessage, ...]:
        """A run that has not begun is its query."""
        if self.messages or not self.query.strip():
            return self.messages
        return (RequestMessage("user", (TextBlock(text=self.query),)),)
