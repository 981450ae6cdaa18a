"""`GlobalState`: a thread's state as authors see it, with two independent logs beside their own fields."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from core.state.conversation import MessageList
from core.state.rebuilt import APP_MESSAGES, MESSAGE_HISTORY, AppMessage, Rebuilt


class GlobalState(BaseModel):
    """Subclass it with fields of your own: they are stored when they change, in the commit of the turn.

    Give every field a default: a new thread begins with none stored. As `Agent(state_type=…)`, inline tools get it as
    `ctx.state`.
    """

    model_config = ConfigDict(defer_build=True)

    rebuilt: ClassVar[Mapping[str, Rebuilt]] = {"messages": APP_MESSAGES, "message_history": MESSAGE_HISTORY}

    messages: list[AppMessage] = []
    """The application's own log: kept in the thread's, never shown to a model. It only grows.

    It begins with what a compaction left: of the messages under its summary, the newest of each role.
    """
    message_history: MessageList = []
    """What the model is given: a copy."""

    @classmethod
    def state_upgrade(cls, stored: dict[str, Any]) -> dict[str, Any]:
        """Turn stored fields of an older shape into today's. Override it; it is called whenever a state is read.

        Give back what is of today's shape already as it is.
        """
        return stored

    def add_message(self, role: str, content: object) -> None:
        """Add to the application's log. `content` is text or any JSON value. Raises MisuseError otherwise."""
        self.messages.append(AppMessage.of(role, content))

    def get_latest_message(self, role: str) -> Any:
        """The content of the newest message of that role; None if there is none."""
        return next((message.content for message in reversed(self.messages) if message.role == role), None)
