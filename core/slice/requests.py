"""Building the request of a round, and weighing it before it is sent."""

from collections.abc import Sequence
from dataclasses import replace

from core.agent import Agent
from core.entries import Assistant, Entry, Reasoning, ToolCall
from core.history.chain import HistoryContext, ProcessorFailed, run_processors
from core.history.estimates import CHARACTERS_PER_TOKEN, message_characters
from core.history.manager import HistoryManager
from core.history.processors import trim_to_tokens
from core.message_template import with_template
from core.ports import Model
from core.render import render, with_placeholder
from core.request import (
    CallPart,
    ModelRequest,
    RequestContext,
    RequestMessage,
    ToolSpec,
    joined,
)
from core.text import canonical_json

SHRUNK_SHARE = 20
"""After an overflow, results are shown at this fraction of their usual length."""
COMPACTION_INPUT_SHARE = 0.9
"""Of the window, for what a compaction reads and writes: estimates are no counts."""
OVERFLOW_DIVISOR = 4
"""After an overflow a compaction is shown so much less: a character may be a token."""
SUMMARISER = "You summarise a conversation. You call no tools, and answer with the summary only."


def build_request(
    manager: HistoryManager,
    agent: Agent,
    attempt: int,
    *,
    window: int | None = None,
    shrunk: bool = False,
) -> ModelRequest:
    """The request for the next completion of this thread. `shrunk`: with little of each result, after an overflow.

    `window`: tokens that the model can read; a compaction is shown no more than fits, whatever it is to summarise.
    """
    compaction = manager.state.origin.kind == "compaction"
    messages = _shown(manager, agent, manager.draft.history, shrunk)
    if compaction and window is not None:
        share = COMPACTION_INPUT_SHARE / (OVERFLOW_DIVISOR if shrunk else 1)
        room = max(1, int(window * share) - agent.settings.max_output_tokens)
        messages = joined(trim_to_tokens(room)(messages))
    return ModelRequest(
        model=agent.model,
        messages=messages,
        instructions=SUMMARISER if compaction else agent.instructions,
        tools=tool_specs(agent, messages),
        max_output_tokens=agent.settings.max_output_tokens,
        temperature=agent.settings.temperature,
        reasoning_tokens=agent.settings.reasoning_tokens,
        guardrail=agent.settings.guardrail,
        context=RequestContext(thread_stack=manager.thread_stack, compaction=compaction, attempt=attempt),
    )


def _shown(
    manager: HistoryManager, agent: Agent, own: Sequence[Entry], shrunk: bool = False
) -> tuple[RequestMessage, ...]:
    """What there is to show before these entries of the thread's own, and with them."""
    limit = agent.limits.result_characters
    hidden = {one.seq: one for one in manager.state.hidden}
    shown = (with_placeholder(entry, hidden.get(entry.seq)) for entry in own)
    said = (*manager.inherited.entries, *shown)
    return render(
        [with_template(entry, agent.message_template) for entry in said],
        summary=manager.summary,
        model=agent.model,
        result_characters=max(1, limit // SHRUNK_SHARE) if shrunk else limit,
    )


async def processed(
    manager: HistoryManager, agent: Agent, messages: tuple[RequestMessage, ...], seconds: float
) -> tuple[RequestMessage, ...]:
    """The messages after the agent's history processors, each within `seconds`. Raises ProcessorFailed."""
    context = HistoryContext(manager.thread_id, agent.model, manager.state.past_usage)
    return await run_processors(agent.history_processors, messages, context, seconds)


async def given_before(
    manager: HistoryManager, agent: Agent, call_seq: int, seconds: float
) -> tuple[RequestMessage, ...]:
    """What the model was given when it made the call, as it would be given it now."""
    before = [entry for entry in manager.draft.history if entry.seq < call_seq]
    while before and isinstance(before[-1], Assistant | Reasoning | ToolCall):
        before.pop()
    messages = _shown(manager, agent, before)
    try:
        return await processed(manager, agent, messages, seconds)
    except ProcessorFailed:  # the turn was made already: the next one will say so
        return messages


def context_window(agent: Agent, model: Model) -> int | None:
    """Tokens that the agent's model can read, as the agent says, else the model; None if nobody knows."""
    return agent.settings.context_window or model.context_window


def tool_specs(agent: Agent, messages: tuple[RequestMessage, ...]) -> tuple[ToolSpec, ...]:
    """The agent's tools. A history with calls needs some even if the agent has none any more: those it names."""
    specs = tuple(ToolSpec(tool.name, tool.description, tool.input_schema) for tool in agent.offered.values())
    if specs:
        return specs
    names = {part.name: None for message in messages for part in message.parts if isinstance(part, CallPart)}
    gone = "No longer available: do not call it."
    return tuple(ToolSpec(name, gone, {"type": "object", "properties": {}}) for name in names)


def estimated_tokens(request: ModelRequest) -> int:
    """About what a completion costs at most, its whole output included."""
    tools = sum(len(spec.description) + len(canonical_json(spec.schema)) for spec in request.tools)
    parts = sum(map(message_characters, request.messages))
    return (len(request.instructions) + tools + parts) // CHARACTERS_PER_TOKEN + request.max_output_tokens


def with_attempt(request: ModelRequest, attempt: int) -> ModelRequest:
    """The same request, for another try."""
    return replace(request, context=replace(request.context, attempt=attempt))
