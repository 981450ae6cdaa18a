"""Random histories as a model is given them: well-formed, with parallel calls, reasoning, media and odd text."""

from typing import Any

from hypothesis import strategies as st

from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.request import CallPart, JsonObject, Part, ReasoningPart, RequestMessage, ResultContent, ResultPart

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXTS = st.sampled_from(["a", "two words ", "Ω漢字😀", "x" * 300, "line\nline", " {} "])
JSON: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"q": "x"}, {"n": [1, 2.5, None, True], "deep": {"er": {}}}, {"text": "y" * 200}]
)
NAMES = st.sampled_from(["search", "read-file", "T_1"])


def user(*parts: Part) -> RequestMessage:
    return RequestMessage("user", parts)


def assistant(*parts: Part) -> RequestMessage:
    return RequestMessage("assistant", parts)


def said(text: str) -> TextBlock:
    return TextBlock(text=text)


def document(name: str) -> DocumentBlock:
    return DocumentBlock(media_type="text/plain", name=name, data="aGk=")


PICTURE = ImageBlock(media_type="image/png", data=PIXEL)


@st.composite
def conversations(draw: st.DrawFn, most_rounds: int = 8) -> tuple[RequestMessage, ...]:
    """From the first user text to what the model is asked to answer."""
    messages = [user(*_input(draw, "first"))]
    for number in range(draw(st.integers(0, most_rounds))):
        calls = [
            CallPart(f"call_{number}_{position}", draw(NAMES), draw(JSON))
            for position in range(draw(st.integers(0, 3)))
        ]
        messages.append(assistant(*_turn(draw, calls)))
        results = [_result(draw, call) for call in calls]
        more = _input(draw, str(number)) if not results or draw(st.booleans()) else []
        messages.append(user(*results, *more))
    return tuple(messages)


def _turn(draw: st.DrawFn, calls: list[CallPart]) -> list[Part]:
    reasoning: list[Part] = draw(
        st.sampled_from([[], [ReasoningPart("hm", "signature")], [ReasoningPart(redacted="aGk=")]])
    )
    text = [said(draw(TEXTS))] if not calls or draw(st.booleans()) else []
    return [*reasoning, *text, *calls]


def _input(draw: st.DrawFn, where: str) -> list[Part]:
    more: list[Part] = draw(st.sampled_from([[], [], [PICTURE], [document(f"notes {where}")]]))
    return [said(draw(TEXTS)), *more]


def _result(draw: st.DrawFn, call: CallPart) -> ResultPart:
    contents: list[tuple[ResultContent, ...]] = [
        (said(draw(TEXTS)),),
        (JsonObject(draw(JSON)),),
        (said("and a picture"), PICTURE),
    ]
    return ResultPart(call.call_id, call.name, draw(st.sampled_from(contents)), draw(st.booleans()))
