"""`torpor ask`: one message to a thread and its answer, for scripts. What is no answer goes to stderr, and has a code.

To a deployed stack, to a local one that runs somewhere, or to one that lives as long as the question.
"""

import argparse
import os
import sys

from core.errors import DefinitionError
from core.sources import Source
from infra.cli_stack import MISUSED, ended, told
from infra.client import Answered, Queued, SyncAgentClient, Waiting
from infra.client.chat import described
from infra.client.ids import new_id
from infra.client.outcomes import Outcome
from infra.operations.shown import block, line

ANSWERED, NO_ANSWER, NOT_YET = 0, 1, 3


def ask(options: argparse.Namespace) -> int:
    """Returns the exit code: 0 answered, 1 no answer will come (or something failed), 2 used wrongly, 3 not yet."""
    here = options.stack is None and options.endpoint is None
    return ended(lambda: _of_a_stack_here(options) if here else _of_stack(options))


def _of_stack(options: argparse.Namespace) -> int:
    stack, endpoint = "local" if options.stack is None else options.stack, options.endpoint
    with SyncAgentClient.of_stack(stack, options.region, endpoint_url=endpoint) as client:
        return _ask(client, options)


def _of_a_stack_here(options: argparse.Namespace) -> int:
    sys.path.insert(0, os.getcwd())
    try:
        from core.slice.notices import SILENT
        from infra.cli_models import choose_model
        from infra.local.live import LiveTorpor

        chosen = choose_model(options.app, options.model)
        live = LiveTorpor(options.app, chosen.override, observer=SILENT, on_trouble=_remark)
    except ModuleNotFoundError as error:
        missing = DefinitionError(f"the local stack needs {error.name!r}: pip install 'torpor[local]'")
        return told(missing, MISUSED)
    if chosen.note:
        _remark(chosen.note)
    code = NO_ANSWER
    try:
        with SyncAgentClient.of_stack("local", endpoint_url=live.endpoint_url) as client:
            code = _ask(client, options)
    finally:
        if not live.close():  # a slice is still waiting for its model: its thread would hold the process
            sys.stdout.flush()
            os._exit(code)
    return code


def _ask(client: SyncAgentClient, options: argparse.Namespace) -> int:
    thread_id = options.thread or f"ask-{new_id()}"
    message_id = client.send(thread_id, options.text, options.message_id, dict(options.metadata) or None)
    code = _tell(client.wait(thread_id, message_id, options.timeout))
    if code == NOT_YET and not (options.stack is None and options.endpoint is None):
        _remark(f"to wait on, the same with --thread {thread_id} --message-id {message_id}")
    return code


def _tell(outcome: Outcome) -> int:
    """Show the outcome; returns the exit code."""
    if isinstance(outcome, Answered):
        print(block(outcome.text))
        if outcome.citations:
            print("\n" + "\n".join(map(_cited, range(1, 1 + len(outcome.citations)), outcome.citations)))
        return ANSWERED
    _remark(described(outcome))
    return NOT_YET if isinstance(outcome, Waiting | Queued) else NO_ANSWER


def _cited(number: int, source: Source) -> str:
    return line(f"[{number}] {source.title} {source.url}", limit=2_600)


def _remark(text: str) -> None:
    print(f"torpor: {line(text, limit=2_000)}", file=sys.stderr)
