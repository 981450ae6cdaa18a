"""Accepting inputs: what each type of message does to a thread. One module per type, each a pure function.

`decide` is the whole of step 3 of a slice; `core/slice/apply.py` carries its effects out.
"""

from typing import assert_never

from core.accept import (
    answer,
    cancel,
    close,
    compaction,
    parent_message,
    question,
    spawn,
    subscription_event,
    thread_report,
    timer,
    tool_result,
    user_message,
    wake,
)
from core.accept.effects import Effect, Setting
from core.messages import (
    Answer,
    Cancel,
    Close,
    Compact,
    CompactionDone,
    Input,
    ParentMessage,
    QuestionMessage,
    Spawn,
    SubscriptionEvent,
    ThreadReport,
    Timer,
    ToolResultMessage,
    UserMessage,
    Wake,
)
from core.thread import ThreadState

__all__ = ["Effect", "Setting", "decide"]


def decide(taken: Input, state: ThreadState, setting: Setting) -> tuple[Effect, ...]:
    """What `taken` does to the thread; empty if it means nothing any more. Raises Refused if it cannot be accepted.

    The caller has seen to it that the input is no duplicate.
    """
    match taken.message:
        case UserMessage() as message:
            return user_message.accept(message, taken, state, setting)
        case ToolResultMessage() as message:
            return tool_result.accept(message, state, setting)
        case SubscriptionEvent() as message:
            return subscription_event.accept(message, state, setting)
        case Cancel():
            return cancel.accept(state)
        case Close() as message:
            return close.accept(message, taken, state, setting)
        case Wake():
            return wake.accept(taken, state, setting)
        case Timer():
            return timer.accept(taken, state, setting)
        case Spawn() as message:
            return spawn.accept(message, state, setting)
        case ThreadReport() as message:
            return thread_report.accept(message, state, setting)
        case ParentMessage() as message:
            return parent_message.accept(message, state)
        case QuestionMessage() as message:
            return question.accept(message, taken, state, setting)
        case Answer() as message:
            return answer.accept(message, state, setting)
        case Compact():
            return compaction.accept_compact(state)
        case CompactionDone() as message:
            return compaction.accept_done(message, state)
        case _:
            assert_never(taken.message)
