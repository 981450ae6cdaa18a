"""Building the request of a round, and weighing it before it is sent."""

from dataclasses import replace

from core.agent import Agent
from core.blocks import TextBlock
from core.history.manager import HistoryManager
from core.history.processors import trim_to_tokens
from core.ports import Model
from core.render import render, with_placeholder
from core.request import (
    CallPart,
    JsonObject,
    ModelRequest,
    Part,
    ReasoningPart,
    RequestContext,
    RequestMessage,
    ResultPart,
    ToolSpec,
    joined,
)
from core.text import canonical_json

CHARACTERS_PER_TOKEN = 4
SHRUNK_SHARE = 20
"""After an overflow, results are shown at this fraction of their usual length."""
COMPACTION_INPUT_SHARE = 0.9
"""Of the window, for what a compaction reads and writes: estimates are no counts."""
OVERFLOW_DIVISOR = 4
"""After an overflow a compaction is shown so much less: a character may be a token."""
SUMMARISER = "You summarise a conversation. You call no tools, and answer with the summary only."
MEDIA_TOKENS = 1_600
"""What an image or a page costs about; an estimate, for limits only."""


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
    limit = agent.limits.result_characters
    own = {hidden.seq: hidden for hidden in manager.state.hidden}
    shown = (with_placeholder(entry, own.get(entry.seq)) for entry in manager.draft.history)
    messages = render(
        (*manager.inherited.entries, *shown),
        summary=manager.summary,
        model=agent.model,
        result_characters=max(1, limit // SHRUNK_SHARE) if shrunk else limit,
    )
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
    parts = sum(_characters(part) for message in request.messages for part in message.parts)
    return (len(request.instructions) + tools + parts) // CHARACTERS_PER_TOKEN + request.max_output_tokens


def _characters(part: Part | JsonObject) -> int:
    match part:
        case TextBlock(text=text):
            return len(text)
        case JsonObject(data=data):
            return len(canonical_json(data))
        case CallPart(name=name, args=args):
            return len(name) + len(canonical_json(args))
        case ResultPart(content=content):
            return sum(_characters(inner) for inner in content)
        case ReasoningPart(text=text, redacted=redacted):
            return len(text) + len(redacted or "")
        case _:
            return MEDIA_TOKENS * CHARACTERS_PER_TOKEN


def with_attempt(request: ModelRequest, attempt: int) -> ModelRequest:
    """The same request, for another try."""
    return replace(request, context=replace(request.context, attempt=attempt))
