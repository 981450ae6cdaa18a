"""Routing: which of a supervisor's specialists answers. One classification for each user message, before its turn.

It is part of the round it precedes: committed with the turn, or with the wake that is left when the turn must wait, so
that it is paid for once unless the slice dies. Where it gives no route the default answers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.agent import Agent
from core.blocks import DocumentBlock, ImageBlock, TextBlock
from core.changes import RouteChosen
from core.chunks import Chunk, TextChunk, Usage
from core.entries import Assistant, Entry, Event, ToolResult, User
from core.history.manager import HistoryManager
from core.message_template import with_template
from core.recap import one_line, recap
from core.render import MEDIA, plain_text, with_placeholder
from core.request import ModelRequest, RequestContext, RequestMessage
from core.route import Route
from core.slice.completion import Completing, Finished, Unavailable
from core.slice.requests import estimated_tokens
from core.supervisor import Player, Supervisor
from core.text import shorten

ABOUT_CHARACTERS = 500
"""Of a specialist's instructions, to say what it is for."""
MESSAGE_CHARACTERS = 8_000
SUMMARY_CHARACTERS = 2_000
NO_TEXT = "(a message without text)"
TASK = (
    "You decide who answers a message of a conversation. Answer with the name of one route and nothing else. A message "
    "that follows up on an earlier one goes to where that one went."
)
AROUND_AN_ANSWER = " \t\r\n\"'`*.:"


@dataclass
class Verdict:
    """Collects the text of a classification; reasoning and calls say nothing."""

    text: str = ""

    def handle_completion(self, chunk: Chunk) -> None:
        """Keep it if it is text."""
        if isinstance(chunk, TextChunk):
            self.text += chunk.text

    def discard_turn(self) -> None:
        """The attempt failed."""
        self.text = ""


@dataclass(frozen=True, slots=True)
class Routed:
    """The route is chosen, and recorded in the draft. `usage`: of the classifications."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Postponed:
    """No route yet: it may be tried again later. `usage`: of those that were asked and answered before."""

    tries: int
    reason: str
    usage: Usage


def routing_due(manager: HistoryManager, supervisor: Supervisor) -> bool:
    """Whether a user message came since the route was chosen, or the route is none, or leads nowhere any more.

    A summary has no route.
    """
    state = manager.state
    gone = state.route is None or not supervisor.leads(state.route.name)
    return state.origin.kind != "compaction" and (gone or _is_new_text(manager))


async def choose_route(
    manager: HistoryManager,
    supervisor: Supervisor,
    answering: Agent,
    completing: Callable[[Supervisor, Verdict], Completing],
) -> Routed | Postponed:
    """Ask until an agent is reached, record the route to it, and give it its credit. `answering`: who would so far.

    Nothing is asked for which no credit is left. Raises DefinitionError for a model that cannot be had.
    """
    renewed = _is_new_text(manager)
    player: Player = supervisor
    path, usage = list[str](), Usage()
    while isinstance(player, Supervisor):
        verdict = Verdict()
        request = classification(manager, player, path)
        name = ""
        if _affords(manager, estimated_tokens(request), usage):
            asking = completing(player, verdict)
            match await asking.complete(request):
                case Finished(completed=completed):
                    usage, name = usage.plus(completed.usage), verdict.text
                case Unavailable(tries=tries, reason=reason) if tries < asking.most_tries:
                    _spend(manager, usage)
                    return Postponed(tries, reason, usage)
        path.append(route_named(player, name))
        player = player.routes[path[-1]]
    told = usage if usage.total else None
    route = Route(name="/".join(path), agent=player.name, seq=manager.state.last_seq, usage=told)
    _record(manager, route, usage)
    if renewed:
        _renew(manager, answering.limits.tokens, player.limits.tokens)
    return Routed(usage)


def route_named(supervisor: Supervisor, answer: str) -> str:
    """The route that an answer names; the default for any other answer."""
    names = {name.casefold(): name for name in supervisor.routes}
    return names.get(answer.strip(AROUND_AN_ANSWER).casefold(), str(supervisor.default))


def classification(manager: HistoryManager, supervisor: Supervisor, path: Sequence[str] = ()) -> ModelRequest:
    """What a classification is asked: no tools, the window, and the newest message, all bounded.

    `path`: the names that lead to this supervisor, if another one routes here.
    """
    template = supervisor.message_template
    inherited = [with_template(entry, template) for entry in manager.inherited.entries]
    own = [with_template(entry, template) for entry in _own(manager)]
    newest = _newest(own)
    before = [entry for entry in (*inherited, *own) if entry is not newest]
    new_text = "" if newest is None else shorten(_said(newest).strip(), MESSAGE_CHARACTERS)
    context = _context(manager, supervisor, recap(list(_turns(before)), supervisor.window), path)
    settings = supervisor.settings
    return ModelRequest(
        model=supervisor.model,
        messages=(RequestMessage("user", (TextBlock(text=context), TextBlock(text=new_text or NO_TEXT))),),
        instructions=_instructions(supervisor),
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        reasoning_tokens=settings.reasoning_tokens,
        guardrail=settings.guardrail,
        context=RequestContext(thread_stack=manager.thread_stack, routing=True),
    )


def _affords(manager: HistoryManager, estimate: int, spent: Usage) -> bool:
    credit = manager.state.credit
    return credit is None or credit - spent.total >= estimate


def _record(manager: HistoryManager, route: Route, usage: Usage) -> None:
    manager.draft.record(RouteChosen(route=route))
    _spend(manager, usage)


def _spend(manager: HistoryManager, usage: Usage) -> None:
    credit = manager.state.credit
    if credit is not None:
        manager.draft.set_state(credit=credit - usage.total)


def _renew(manager: HistoryManager, given: int, limit: int) -> None:
    """User text to a root renewed its credit to what was `given`; what was spent of it since stays spent."""
    credit = manager.state.credit
    if credit is not None and not manager.thread_ancestors:
        manager.draft.set_state(credit=min(limit, credit + limit - given))


def _is_new_text(manager: HistoryManager) -> bool:
    """Whether a user message came since the route was chosen, or there is one and no route."""
    route = manager.state.route
    newest = next((entry.seq for entry in reversed(manager.draft.history) if isinstance(entry, User)), 0)
    return newest > (route.seq if route else 0)


def _instructions(supervisor: Supervisor) -> str:
    routes = "\n".join(f"- {name}: {_about(player)}" for name, player in supervisor.routes.items())
    parts = (TASK, supervisor.instructions, f"The routes, and what they say of themselves:\n{routes}")
    return "\n\n".join(part for part in parts if part)


def _about(player: Player) -> str:
    return shorten(one_line(player.instructions), ABOUT_CHARACTERS) or player.name


def _context(manager: HistoryManager, supervisor: Supervisor, window: str, path: Sequence[str]) -> str:
    parts, summary, route = list[str](), manager.summary, manager.state.route
    if supervisor.with_summary and summary is not None:
        parts.append(f"What was said earlier, in short:\n{shorten(summary.text, SUMMARY_CHARACTERS)}")
    parts.append(f"The conversation so far:\n{window}")
    last = [] if route is None else route.name.split("/")
    before = last[len(path)] if last[: len(path)] == list(path) and len(last) > len(path) else None
    if before in supervisor.routes:
        parts.append(f"The last answer came from: {before}")
    return "\n\n".join((*parts, "The message to route:"))


def _own(manager: HistoryManager) -> Iterator[Entry]:
    """The thread's own entries that no summary covers, without what a filter blocked."""
    hidden = {one.seq: one for one in manager.state.hidden}
    for entry in manager.draft.history:
        yield with_placeholder(entry, hidden.get(entry.seq))


def _newest(own: list[Entry]) -> Entry | None:
    """The newest user message; of a child without one, the event or the task that it began with."""
    for kind in (User, Event):
        if (newest := next((entry for entry in reversed(own) if isinstance(entry, kind)), None)) is not None:
            return newest
    return next((entry for entry in own if isinstance(entry, ToolResult)), None)


def _turns(said: list[Entry]) -> Iterator[RequestMessage]:
    """User messages, and what was answered to them: one message, whatever calls came between its texts."""
    texts = list[str]()
    for entry in said:
        match entry:
            case User():
                yield from _answer(texts)
                texts.clear()
                yield RequestMessage("user", (TextBlock(text=_said(entry)),))
            case Assistant(text=text):
                texts.append(text)
            case _:
                pass
    yield from _answer(texts)


def _answer(texts: list[str]) -> Iterator[RequestMessage]:
    if texts:
        yield RequestMessage("assistant", (TextBlock(text=" ".join(texts)),))


def _said(entry: Entry) -> str:
    """The text of an input, and which media came with it."""
    if not isinstance(entry, User | ToolResult | Event):
        return ""
    media = (_named(block) for block in entry.content if isinstance(block, MEDIA))
    return "\n".join(part for part in (plain_text(entry.content), *media) if part)


def _named(block: ImageBlock | DocumentBlock) -> str:
    return "(an image)" if isinstance(block, ImageBlock) else f"(a document: {one_line(block.name)})"
