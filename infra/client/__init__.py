"""Talking to agents from a program: send to the input queue, read the table (README, "From a program").

`AgentClient` is it, `SyncAgentClient` its synchronous face; the rest are the values they give.
"""

from infra.client.chat import Chat, NotAnswered, run_chat
from infra.client.client import AgentClient
from infra.client.outcomes import (
    Answered,
    Awaited,
    AwaitedAnswer,
    AwaitedCall,
    AwaitedChild,
    AwaitedEvent,
    AwaitedModel,
    AwaitedTime,
    Ended,
    NotAccepted,
    Outcome,
    Queued,
    Waiting,
)
from infra.client.sync import SyncAgentClient
from infra.client.tree import ThreadNode
from infra.client.turns import Called, Said, Turn

__all__ = [
    "AgentClient",
    "Answered",
    "Awaited",
    "AwaitedAnswer",
    "AwaitedCall",
    "AwaitedChild",
    "AwaitedEvent",
    "AwaitedModel",
    "AwaitedTime",
    "Called",
    "Chat",
    "Ended",
    "NotAccepted",
    "NotAnswered",
    "Outcome",
    "Queued",
    "Said",
    "SyncAgentClient",
    "ThreadNode",
    "Turn",
    "Waiting",
    "run_chat",
]
