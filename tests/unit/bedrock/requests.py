"""Well-formed requests of every shape, drawn by hypothesis, and what they look like on the wire."""

import base64
import json
from typing import Any

from hypothesis import strategies as st

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.document_names import name_documents
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestMessage,
    ResultContent,
    ResultPart,
    ToolSpec,
)
from tests.unit.bedrock.pictures import base64_of, gif, jpeg, png

TOOL = ToolSpec("search", "Search.", {"type": "object"})

texts = st.text(min_size=1, max_size=20).filter(str.strip).map(lambda text: TextBlock(text=text))
_datas = st.one_of(
    st.sampled_from([png(), png(9000, 1), jpeg(), gif(), b"%PDF-1.4", b"plain", b""]).map(base64_of),
    st.sampled_from(["not base64!", "abc"]),
)
_sources = st.one_of(
    _datas.map(lambda data: {"data": data}),
    st.sampled_from(["s3://bucket/key.png", "s3://UP/key", "http://x"]).map(lambda uri: {"s3": uri}),
)
_types = st.sampled_from(
    ["image/png", "image/jpeg", "image/bmp", "application/pdf", "text/csv", "text/x-log", "x"]
)
images = st.builds(lambda kind, source: ImageBlock(media_type=kind, **source), _types, _sources)
documents = st.builds(
    lambda kind, name, source: DocumentBlock(media_type=kind, name=name, **source),
    _types,
    st.sampled_from(["a.pdf", "a.pdf", "Q3 (final)", "…"]),
    _sources,
)
jsons = st.dictionaries(
    st.text(max_size=4), st.one_of(st.none(), st.integers(), st.text(max_size=4)), max_size=3
)
_contents: st.SearchStrategy[list[ResultContent]] = st.lists(
    st.one_of(texts, images, documents, jsons.map(JsonObject)), min_size=1, max_size=3
)
reasonings = st.one_of(
    st.builds(ReasoningPart, text=st.text(max_size=5), signature=st.just("sig")),
    st.just(ReasoningPart(redacted=base64_of(b"\x00\x01"))),
)


@st.composite
def turns(
    draw: st.DrawFn, number: int, answered: list[str]
) -> tuple[RequestMessage, RequestMessage, list[str]]:
    """A user message that answers the calls before it, the assistant's turn, and its calls."""
    results: list[Part] = [
        ResultPart(call_id, TOOL.name, tuple(draw(_contents)), draw(st.booleans())) for call_id in answered
    ]
    least = 0 if results else 1
    more = draw(st.lists(st.one_of(texts, images, documents), min_size=least, max_size=3))
    asked = RequestMessage("user", (*results, *more))
    thoughts = draw(st.lists(reasonings, max_size=2))
    said = draw(st.lists(texts, max_size=1))
    calls = [
        CallPart(f"c{number}-{index}", TOOL.name, draw(jsons)) for index in range(draw(st.integers(0, 2)))
    ]
    parts: tuple[Part, ...] = (*thoughts, *said, *calls)
    if not said and not calls:
        parts = (*parts, TextBlock(text="ok"))
    return asked, RequestMessage("assistant", parts), [call.call_id for call in calls]


@st.composite
def requests(draw: st.DrawFn) -> ModelRequest:
    """A conversation of up to four turns, and what stands open after it."""
    messages: list[RequestMessage] = []
    answered: list[str] = []
    for number in range(draw(st.integers(0, 3))):
        asked, turn, answered = draw(turns(number, answered))
        messages += [asked, turn]
    messages.append(draw(turns(99, answered))[0])
    return ModelRequest(
        model="bedrock:m",
        messages=name_documents(messages),
        instructions=draw(st.sampled_from(["", " ", "Be brief."])),
        tools=(TOOL,),
        temperature=draw(st.sampled_from([None, 0.5])),
        reasoning_tokens=draw(st.sampled_from([None, 1024, 2048])),
        guardrail=draw(st.sampled_from([None, "abc:1", "arn:aws:bedrock:us-east-1:1:guardrail/abc:DRAFT"])),
    )


def on_the_wire(arguments: dict[str, Any]) -> dict[str, Any]:
    """The body that the client makes of the arguments of `converse_stream`."""
    body = {name: value for name, value in arguments.items() if name != "modelId"}
    wire: dict[str, Any] = json.loads(json.dumps(body, default=lambda data: base64.b64encode(data).decode()))
    return wire
