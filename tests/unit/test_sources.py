"""`Source`: how people write one, and that what comes from outside is checked as strictly as any other value."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from core import Source
from core.thread import ThreadState


def test_a_source_is_written_by_position_or_by_name() -> None:
    assert Source("https://a", "A") == Source(url="https://a", title="A", snippet="")
    assert Source("https://a", "A", "why").snippet == "why"
    assert Source("https://a", "A").to_json() == {"url": "https://a", "title": "A", "snippet": ""}


@pytest.mark.parametrize(("url", "title"), [("", "A"), ("u" * 2049, "A"), ("u", "t" * 501), (5, "A")])
def test_one_written_by_hand_is_checked(url: Any, title: str) -> None:
    with pytest.raises(ValidationError):
        Source(url, title)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"url": "u", "title": "t", "more": 1}, ("sources", 0, "more")),
        ({"url": "u"}, ("sources", 0, "title")),
        ({"url": 5, "title": "t"}, ("sources", 0, "url")),
        ("u", ("sources", 0)),
    ],
)
def test_one_from_outside_is_told_what_is_wrong_and_where(given: Any, where: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(ThreadState).validate_python({"sources": [given]}, strict=False)
    assert caught.value.errors()[0]["loc"] == where


def test_a_source_from_outside_may_lack_its_snippet() -> None:
    (source,) = ThreadState.model_validate({"sources": [{"url": "u", "title": "t"}]}).sources
    assert source == Source("u", "t")
