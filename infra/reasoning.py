"""When a model may be asked to reason: one rule of the providers that sign what their models think."""

from core.request import ModelRequest, ReasoningPart, ResultPart


def answers_unreasoned_calls(request: ModelRequest) -> bool:
    """Whether the request answers calls that no reasoning came before.

    Calls that are being answered must come with the reasoning that led to them, at the head of their turn. Where
    there is none (an injected event, another model's call) this one request goes without.
    """
    answers = any(isinstance(part, ResultPart) for part in request.messages[-1].parts)
    return answers and not isinstance(request.messages[-2].parts[0], ReasoningPart)
