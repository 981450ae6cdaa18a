"""Any messages at all, in any order: what authors may append, and what nobody should."""

from typing import Any

from hypothesis import strategies as st

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.request import CallPart, JsonObject, Part, ReasoningPart, RequestMessage, ResultPart
from tests.support.conversations import JSON, PICTURE

IDS = st.sampled_from(["a", "b", "call_0", "x" * 64, "no id!", ""])
WORDS = st.sampled_from(["", " ", "words", "words \n", "Ω"])
MEDIA = st.sampled_from(
    [
        PICTURE,
        ImageBlock(media_type="image/png", data="not base64"),
        ImageBlock(media_type="image/bmp", data="aGk="),
        ImageBlock(media_type="image/png", s3="s3://bucket/key"),
        DocumentBlock(media_type="text/plain", name="a", data="aGk="),
        DocumentBlock(media_type="text/plain", name="a", data="ICA="),
        DocumentBlock(media_type="application/pdf", name="b/ä  c", data="JVBERi0xLjc="),
        DocumentBlock(media_type="application/zip", name="", data="aGk="),
        DocumentBlock(media_type="text/csv", name="c", s3="s3://bucket/key"),
    ]
)
REASONING = st.builds(
    ReasoningPart, WORDS, st.sampled_from([None, "", "sig"]), st.sampled_from([None, None, "aGk=", "?"])
)
TEXTS: st.SearchStrategy[Any] = st.builds(lambda text: TextBlock(text=text), WORDS)
CONTENTS: st.SearchStrategy[Any] = st.lists(TEXTS | MEDIA | st.builds(JsonObject, JSON), max_size=2).map(
    tuple
)
CALLS = st.builds(CallPart, IDS, st.sampled_from(["t", "no name!", ""]), JSON)
RESULTS = st.builds(ResultPart, IDS, st.just("t"), CONTENTS, st.booleans())
PARTS: st.SearchStrategy[Part] = st.one_of(TEXTS, CALLS, CALLS, RESULTS, RESULTS, REASONING, MEDIA)
MESSAGES: st.SearchStrategy[RequestMessage] = st.builds(
    RequestMessage, st.sampled_from(["user", "assistant"]), st.lists(PARTS, max_size=4).map(tuple)
)
ANY_MESSAGES = st.lists(MESSAGES, max_size=9)
