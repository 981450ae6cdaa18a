"""A research assistant over a folder of documents: it searches, reads, and writes a report with its sources.

What it knows of its work is an `AgentState`: the question, notes on its searches, the report, and the sources it read.

Its tools run on two workers, `library` (reads) and `writing` (writes), and one inside the slice. Without a model at
hand it plays `examples/research.json`; any other works as well: `torpor chat --model …`. Point it at your own files
with `TORPOR_DOCUMENTS=folder`; reports go to `TORPOR_REPORTS`, by default a folder for temporary files.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from core import Agent, App, ToolContext, tool
from core.ids import digest
from core.state import AgentState
from examples.text_files import (
    best_paragraphs,
    documents_root,
    folder_documents,
    read_document_file,
    search,
)

MAX_QUERY_WORDS = 8
MAX_HITS = 5
MAX_SHOWN_CHARACTERS = 20_000
MAX_REPORT_CHARACTERS = 200_000
MAX_TITLE_CHARACTERS = 200
MAX_NOTES_CHARACTERS = 10_000
"""Of the notes and of the report, in the state."""
PASSAGES = 3

_FOLDER = re.compile(r"""\bin (?:the )?(?:folder|directory) ["']?([\w./-]*\w|[./]+)["']?""", re.IGNORECASE)
_WORDS_THAT_TELL_NOTHING = """
a about all an and any anything are as at be been but by can could did do document documents does explain find
folder for from give good had has have hello hey hi how i if in into is it its know like look make may me more
much my of on or our please report research say search should so some tell than thank thanks that the their them
then there these they thing things this those to up us want was we were what when where which who why will with
would write you your
"""
_SMALL_WORDS = frozenset(_WORDS_THAT_TELL_NOTHING.split())


@tool(inline=True)
def plan_search(question: str, ctx: ToolContext) -> dict[str, Any]:
    """Turn a question into what to search for: the folder it names (else all documents) and up to two queries."""
    plan = _plan(question)
    _note(ctx.state, question, plan)
    return plan


def _plan(question: str) -> dict[str, Any]:
    named = _FOLDER.search(question)
    rest = _FOLDER.sub(" ", question)
    found = dict.fromkeys(re.findall(r"\w{1,40}", rest.lower()))
    telling = [word for word in found if word not in _SMALL_WORDS][:MAX_QUERY_WORDS]
    queries = list(dict.fromkeys([" ".join(telling), max(telling, key=len)])) if telling else []
    return {"folder": named[1] if named else ".", "queries": queries}


def _note(state: AgentState, question: str, plan: dict[str, Any]) -> None:
    """A run begins: its question, a line of notes, and no report yet."""
    state.query, state.report = question[:MAX_NOTES_CHARACTERS], None
    searched = ", ".join(plan["queries"]) or "nothing to search for"
    notes = f"{state.scratchpad}{state.increment_step()}. {searched}\n"
    state.scratchpad = notes[-MAX_NOTES_CHARACTERS:]


@tool(worker="library", timeout_seconds=30)
def search_documents(query: str, folder: str = ".") -> dict[str, Any]:
    """Search the text documents in a folder. Gives the best hits with path, title and a snippet."""
    hits = search(folder_documents(documents_root(), folder), query)[:MAX_HITS]
    return {
        "hits": [
            {"path": hit.document.path, "snippet": hit.snippet[:300], "title": hit.document.title}
            for hit in hits
        ],
        "query": query,
    }


@tool(worker="library", timeout_seconds=30)
def list_documents(folder: str = ".") -> str:
    """List the text documents in a folder: title and path, one a line."""
    found = folder_documents(documents_root(), folder)
    return (
        "\n".join(f"- {document.title} ({document.path})" for document in found) or "There are no documents."
    )


@tool(worker="library", timeout_seconds=30)
def read_document(path: str, ctx: ToolContext, about: str = "") -> str:
    """Read one document by its path. With `about`, only the passages that speak most of it."""
    document = read_document_file(documents_root(), path)
    passages = best_paragraphs(document, about, PASSAGES) if about else document.paragraphs
    ctx.add_source(document.path, document.title, passages[0] if passages else "")
    text = "\n\n".join([f"## {document.title}", *passages]) + "\n"
    if len(text) > MAX_SHOWN_CHARACTERS:
        return (
            f"{text[:MAX_SHOWN_CHARACTERS]}\n[cut: {len(text)} characters; ask with `about` for what matters]"
        )
    return text


@tool(worker="writing", timeout_seconds=30)
def write_report(title: str, body: str, sources: list[str], ctx: ToolContext) -> str:
    """Save a report as a Markdown file. `sources` are the paths of the documents it rests on."""
    if not sources:
        raise ValueError("a report needs at least one source")
    listed = "\n".join(f"- {source}" for source in dict.fromkeys(sources))
    heading = " ".join(title.split())[:MAX_TITLE_CHARACTERS] or "Report"
    text = f"# {heading}\n\n{body.strip()}\n\n## Sources\n\n{listed}\n"
    if len(text) > MAX_REPORT_CHARACTERS:
        raise ValueError(f"the report is longer than {MAX_REPORT_CHARACTERS} characters")
    file = _report_file(title, ctx)
    ctx.patch_state({"report": text[:MAX_NOTES_CHARACTERS]})
    return f"{_saved(file, text)}\nSaved as {file}"


@tool(worker="writing", timeout_seconds=30)
def list_reports() -> str:
    """List the reports written so far, one a line."""
    names = sorted(file.name for file in _reports_folder().glob("*.md"))
    return "\n".join(f"- {name}" for name in names[:50]) or "There are no reports yet."


def _reports_folder() -> Path:
    given = os.environ.get("TORPOR_REPORTS")
    return Path(given).expanduser().resolve() if given else Path(tempfile.gettempdir(), "torpor-reports")


def _report_file(title: str, ctx: ToolContext) -> Path:
    """One file per call: a call that runs twice writes the same file, another call never overwrites it."""
    slug = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60].strip("-") or "report"
    return _reports_folder() / f"{slug}-{digest(ctx.thread_id, ctx.call_id)[:8]}.md"


def _saved(file: Path, text: str) -> str:
    """The text, once it is in the file: whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as new:
        new.write(text)
    os.replace(new.name, file)
    return text


researcher = Agent(
    name="researcher",
    instructions=(
        "You answer questions from a folder of documents, and from nothing else. Plan the search first, then search "
        "with each query at once, read the documents that matter at once, write a report that names the paths you "
        "read as its sources, and answer with what the report says and where it is. If the documents say nothing "
        "about the question, say so and name what there is."
    ),
    model="script:examples/research.json",
    tools=[plan_search, search_documents, list_documents, read_document, write_report, list_reports],
    state_type=AgentState,
)

app = App(agents=[researcher], default="researcher")
