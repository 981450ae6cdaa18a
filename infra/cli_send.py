"""`torpor send|cancel|close|answer`: what a person says to a thread, checked here as the agent will check it."""

import argparse
import asyncio
import json
import sys
from typing import Any

from core.accept.answer import require_fitting
from core.clock import SYSTEM_CLOCK, Clock
from core.errors import MisuseError
from core.messages import Answer
from core.thread import LiveCall
from infra.cli_stack import DONE, ended, stack_of
from infra.operations.sending import input_sender, said
from infra.stack import Stack, store_of

FROM_STDIN = "-"


def send_to_thread(options: argparse.Namespace, clock: Clock = SYSTEM_CLOCK) -> int:
    """Returns the exit code: 0 once the queue has it, whatever the agent makes of it."""

    def work() -> int:
        fields = {**_fields(options), "thread_id": options.thread, "message_id": options.message_id}
        message, _ = said(fields, clock)
        stack = stack_of(options)
        if options.command == "answer":
            call = asyncio.run(_asked(stack, options.thread, options.call))
            message, taken = said({**fields, "call_id": call.call_id}, clock)
            if isinstance(taken.message, Answer) and call.question is not None:
                require_fitting(taken.message, call.question)
        input_sender(stack, clock).send(message)
        print(f"sent as {json.loads(message.body)['message_id']}")
        return DONE

    return ended(work)


def _fields(options: argparse.Namespace) -> dict[str, Any]:
    match options.command:
        case "send":
            text = sys.stdin.read() if options.text == FROM_STDIN else options.text
            metadata = dict(options.metadata)
            head = {"type": "user_message", "content": text, "metadata": metadata or None}
            return {**head, "on_busy": options.on_busy, "agent": options.agent}
        case "answer":
            # Its call is looked up; until then any will do.
            return {"type": "answer", "call_id": options.call or "call", **_answer(options)}
        case kind:
            return {"type": kind}


def _answer(options: argparse.Namespace) -> dict[str, Any]:
    given = {
        "approved": True if options.approve else False if options.refuse else None,
        "choice": options.choice,
        "args": _arguments(options.args),
    }
    if given["approved"] is None and given["choice"] is None:
        raise MisuseError("say what the answer is: --approve, --refuse or --choice")
    if given["args"] is not None and not options.approve:
        raise MisuseError("--args are those that are approved: with --approve")
    return {**given, "comment": options.comment}


def _arguments(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise MisuseError(f"--args: not JSON ({error})") from error
    if not isinstance(value, dict):
        raise MisuseError("--args: a JSON object, argument by name")
    return value


async def _asked(stack: Stack, thread_id: str, call_id: str | None) -> LiveCall:
    """The call that a person is asked about. Raises MisuseError if nobody is, or it is not said which."""
    async with store_of(stack) as store:
        state = (await store.load(thread_id)).folded.state
    asked = [call for call in state.live if call.question is not None]
    fitting = [call for call in asked if call_id in (None, call.call_id)]
    if len(fitting) == 1:
        return fitting[0]
    if not asked:
        raise MisuseError(f"thread {thread_id!r} asks nobody anything now")
    raise MisuseError(f"say which question is answered: {', '.join(map(_named, asked))}")


def _named(call: LiveCall) -> str:
    return f"{call.call_id} ({call.name})"
