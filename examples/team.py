"""A team of agents: a lead that puts two researchers and a writer on a question, and hears of what is published.

Each is a thread of its own. The researchers work at the same time and report; the writer is told what they found, and
none of the conversation; the lead follows the notice board, which tells it by an event. The tools that find things are
those of `examples/research.py`. Without a model at hand it plays `examples/team.json`.
"""

import os
import tempfile
from pathlib import Path

from core import Agent, App, ToolContext, ToolResult, tool
from examples.notice_board import Board, send_to_input_queue
from examples.research import list_documents, plan_search, read_document, search_documents

MODEL = "script:examples/team.json"
MAX_REPORT_CHARACTERS = 200_000


@tool(worker="board", timeout_seconds=30)
def follow_board(ctx: ToolContext) -> ToolResult:
    """Follow the notice board: you hear of every report that is published."""
    _board().follow(ctx.thread_id, ctx.call_id)
    return ToolResult("You hear of every report.", subscription=True)


@tool(worker="board", timeout_seconds=30)
def publish(title: str, body: str, ctx: ToolContext) -> str:
    """Put a report on the notice board. Says where it is."""
    text = f"# {' '.join(title.split())[:200] or 'Report'}\n\n{body.strip()}\n"
    if len(text) > MAX_REPORT_CHARACTERS:
        raise ValueError(f"the report is longer than {MAX_REPORT_CHARACTERS} characters")
    return f"{text}\nPublished as {_board().put_up(ctx.call_id, text)}"


def _board() -> Board:
    given = os.environ.get("TORPOR_BOARD")
    folder = Path(given).expanduser().resolve() if given else Path(tempfile.gettempdir(), "torpor-board")
    return Board(folder, send_to_input_queue)


lead = Agent(
    name="lead",
    instructions=(
        "You lead a team. Follow the board. Spawn researchers for what must be found, each for a part of the question "
        "and all at once. When all have reported, spawn a writer without your history whose instructions hold all that "
        "was found. Answer with its report. While somebody works, wait: reports come to you."
    ),
    model=MODEL,
    tools=[follow_board],
)
researcher = Agent(
    name="researcher",
    instructions="You find out what your task asks for, in the documents and nowhere else, and answer with it.",
    model=MODEL,
    tools=[plan_search, search_documents, list_documents, read_document],
    builtin_tools=["report_to_parent"],
)
writer = Agent(
    name="writer",
    instructions="You write and publish one report from what your task tells you, and answer with it.",
    model=MODEL,
    tools=[publish],
    builtin_tools=[],
)

app = App(agents=[lead, researcher, writer], default="lead")
