"""The route of a supervised thread. A value apart from the supervisor, because records hold it and agents do not."""

from core.blocks import Value
from core.chunks import Usage


class Route(Value):
    """Who answers, as the newest classification chose."""

    name: str
    """The key in the supervisor's routes; of a supervisor among them `theirs/its own`, and so on."""
    agent: str
    """Name of the agent behind it."""
    seq: int
    """Of the newest entry of the thread's own that the choice has seen."""
    usage: Usage | None = None
    """What the choice took, until an answer has told it."""
