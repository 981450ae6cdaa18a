"""State types of every kind that an author may write, and a thread for them to show."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.request import RequestMessage
from core.sources import Source
from core.state import AppMessage, GlobalState
from core.state.rebuilt import ThreadView
from tests.support.conversations import said, user

HISTORY = (user(said("hi")),)
VIEW = ThreadView(HISTORY, (AppMessage(role="r", content="old"),), (Source("https://a", "A"),))


class Profile(BaseModel):
    name: str = ""
    tags: list[str] = []


class Mine(GlobalState):
    count: int = 0
    profile: Profile = Profile()
    note: str | None = "none yet"


@dataclass
class Plain:
    count: int = 0
    seen: list[datetime] = field(default_factory=list)
    message_history: list[RequestMessage] = field(default_factory=list)


class Foreign(BaseModel):
    """A model of an author's that knows nothing of Torpor."""

    model_config = ConfigDict(extra="forbid", strict=True)

    at: datetime | None = None
    messages: list[str] = []


class Shown(BaseModel):
    model_config = ConfigDict(frozen=True)

    message_history: list[Any] = []


class Renamed(GlobalState):
    """Its field had another name once."""

    total: int = 0

    @classmethod
    def state_upgrade(cls, stored: dict[str, Any]) -> dict[str, Any]:
        if "count" in stored:
            stored["total"] = stored.pop("count")
        return stored
