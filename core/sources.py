"""Sources: where a tool found what it says. They travel from a tool result to the answer's citations."""

from pydantic import BaseModel, Field

from core.blocks import Value
from core.text import clean_text, shorten

MAX_TITLE_CHARACTERS = 500
MAX_SNIPPET_CHARACTERS = 2_000


class Source(Value):
    """One source. Two sources are the same if their URLs are."""

    url: str = Field(min_length=1, max_length=2048)
    title: str = Field(max_length=MAX_TITLE_CHARACTERS)
    snippet: str = Field(default="", max_length=MAX_SNIPPET_CHARACTERS)

    def __init__(self, url: str, title: str, snippet: str = "") -> None:
        BaseModel.__init__(self, url=url, title=title, snippet=snippet)

    @classmethod
    def noted(cls, url: str, title: str, snippet: str = "") -> "Source":
        """One that a tool names: clean, title and snippet cut. Raises ValidationError for a URL that is no use."""
        title = shorten(clean_text(title), MAX_TITLE_CHARACTERS)
        snippet = shorten(clean_text(snippet), MAX_SNIPPET_CHARACTERS)
        return cls(url=clean_text(url), title=title, snippet=snippet)

    # For people who write one. What comes from the wire or a store is validated as of any other value, without it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]
