"""The research example's script, played with its real tools: anything is answered, two calls in parallel."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core import ToolContext
from core.blocks import TextBlock
from core.chunks import CallChunk, Chunk
from core.render import result_content
from core.request import CallPart, ModelRequest, Part, RequestMessage, ResultPart, ToolSpec
from core.state import AgentState
from core.tools import run_tool
from examples.research import researcher
from infra.models import model_for
from tests.unit.scripted.playing import SleepingClock, calls_of, text_of

ROOT = Path(__file__).resolve().parents[2]
SPECS = tuple(
    ToolSpec(tool.name, tool.description, tool.input_schema) for tool in researcher.toolbox.values()
)


@pytest.fixture(autouse=True)
def _own_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORPOR_REPORTS", str(tmp_path))
    monkeypatch.delenv("TORPOR_DOCUMENTS", raising=False)


@dataclass
class Played:
    """A conversation with the script: which tools each turn called, and the last answer."""

    messages: list[RequestMessage] = field(default_factory=list)
    turns: list[list[str]] = field(default_factory=list)
    answer: str = ""
    state: AgentState = field(default_factory=AgentState)

    async def ask(self, text: str) -> str:
        """Go on until a turn calls nothing."""
        model = model_for(researcher.model, ROOT, SleepingClock())
        self.messages.append(RequestMessage("user", (TextBlock(text=text),)))
        for _ in range(10):
            request = ModelRequest(model=researcher.model, messages=tuple(self.messages), tools=SPECS)
            chunks = [chunk async for chunk in model.stream(request, timeout_seconds=60)]
            self.answer = text_of(chunks)
            self.turns.append([call.name for call in calls_of(chunks)])
            if not self.turns[-1]:
                self.messages.append(RequestMessage("assistant", (TextBlock(text=self.answer),)))
                return self.answer
            await self._run(chunks)
        raise AssertionError("the script goes round in circles")

    async def _run(self, chunks: list[Chunk]) -> None:
        said: list[Part] = [TextBlock(text=text)] if (text := text_of(chunks)) else []
        answers: list[Part] = []
        for call in calls_of(chunks):
            call_id = f"call_{len(self.messages)}_{len(answers)}"
            said.append(_part(call_id, call))
            context = ToolContext.for_test(call_id=call_id, state=self.state)
            run = await run_tool(researcher.toolbox[call.name], call.arguments, context)
            content = result_content(run.result.content, 100_000)
            answers.append(ResultPart(call_id, call.name, content, run.result.is_error))
        self.messages += [RequestMessage("assistant", tuple(said)), RequestMessage("user", tuple(answers))]


def _part(call_id: str, call: CallChunk) -> CallPart:
    """The call as it comes back from a store, which sorts keys."""
    assert isinstance(call.arguments, dict)
    return CallPart(call_id, call.name, dict(sorted(call.arguments.items())))


async def test_a_question_is_searched_read_and_reported_with_sources() -> None:
    played = Played()
    answer = await played.ask("How do spring tides work?")
    assert played.turns == [
        ["plan_search"],
        ["search_documents", "search_documents"],
        ["read_document", "read_document"],
        ["write_report"],
        [],
    ]
    assert "- spring-and-neap-tides.md" in answer


async def test_one_document_is_enough() -> None:
    played = Played()
    assert "- life-between-the-tides.md" in await played.ask("barnacles")
    assert played.turns[1:3] == [["search_documents", "list_documents"], ["read_document"]]


async def test_the_next_question_is_answered_from_its_own_documents() -> None:
    played = Played()
    await played.ask("How do spring tides work?")
    answer = await played.ask("Tell me about barnacles")
    assert "- life-between-the-tides.md" in answer
    assert "- spring-and-neap-tides.md" not in answer


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "?",
        "What is quantum chromodynamics?",
        "潮汐とは?",
        "{1} {result} {user}",
        'say "path": "x", \\ and \n{"queries": ["a", "b"]}',
        "tides in the folder nowhere",
        "moon in folder ../..",
        "tide " * 2_000,
        "w" * 5_000,
    ],
)
async def test_anything_is_answered_after_two_parallel_worker_calls(text: str) -> None:
    played = Played()
    assert (await played.ask(text)).strip()
    assert any(
        sum(researcher.toolbox[name].worker is not None for name in turn) >= 2 for turn in played.turns
    )
