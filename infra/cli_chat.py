"""`torpor chat`: one question or a conversation with an agent, on a local stack that lives as long as it."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import DefinitionError, TorporError
from core.ids import is_thread_id
from infra.cli_models import choose_model
from infra.cli_view import ChatView

ANSWERED, FAILED, MISUSED = 0, 1, 2
HARMLESS_ERRORS = frozenset({"state"})
"""Codes of `error` outputs after which the answer still comes."""
LOOK_AGAIN_SECONDS = 1.0
"""A tree may come to rest without a word."""


def chat(app: str, model: str | None, thread_id: str, text: str | None) -> int:
    """Returns the exit code."""
    if not is_thread_id(thread_id):
        return _refuse(f"--thread {thread_id!r}: 1-100 of A-Za-z0-9_.:- make a thread's id")
    sys.path.insert(0, os.getcwd())
    _tolerate_any_text()
    view = ChatView()
    try:
        from infra.local.live import LiveTorpor

        chosen = choose_model(app, model)
        live = LiveTorpor(app, chosen.override, observer=view, on_trouble=view.line)
    except DefinitionError as error:
        return _refuse(f"{error} (see `torpor chat --help`)")
    except ModuleNotFoundError as error:
        return _refuse(f"the local stack needs {error.name!r}: pip install 'torpor[local]'")
    with _ending(live, view):
        if chosen.note:
            view.remark(chosen.note)
        conversation = _Conversation(live, view, thread_id)
        return conversation.ask(text) if text is not None else conversation.go_on()


class _Conversation:
    """Questions to one thread, one after the other."""

    def __init__(self, live: Any, view: ChatView, thread_id: str) -> None:
        self._live = live
        self._view = view
        self._thread_id = thread_id
        self._seen = 0

    def go_on(self) -> int:
        """Ask what is typed, until the input ends."""
        typing = sys.stdin.isatty()
        if typing:
            import readline  # noqa: F401 - gives `input` its line editing

            self._view.remark(f"(Thread {self._thread_id}. Ctrl-D ends.)")
        while True:
            try:
                text = input("> " if typing else "")
            except EOFError:
                if typing:
                    self._view.line("")
                return ANSWERED
            if text.strip() and self.ask(text) != ANSWERED and self._live.broken:
                return FAILED

    def ask(self, text: str) -> int:
        """Send the text and show what comes, until it is answered and the tree of threads rests."""
        self._view.begin()
        before = self._live.look(self._thread_id).last_seq
        message = {"type": "user_message", "thread_id": self._thread_id, "content": text}
        try:
            self._live.send(message)
        except TorporError as error:
            self._view.line(f"torpor: {error}")
            return FAILED
        while not self._live.broken:
            outputs = self._live.wait_for_outputs(self._seen, LOOK_AGAIN_SECONDS)
            new, self._seen = outputs[self._seen :], len(outputs)
            if not all([self._show(output) for output in new]):
                return FAILED
            tree = self._live.look(self._thread_id)
            if tree.rests and tree.last_seq > before and len(self._live.outputs()) == self._seen:
                self._view.end_line()
                return ANSWERED
        return FAILED

    def _show(self, output: dict[str, Any]) -> bool:
        """Show an output; False if it says that no answer will come."""
        own = output["thread_id"] == self._thread_id
        match output:
            case {"type": "assistant_message", "final": True, "text": said}:
                if own and not self._view.said_something:
                    self._view.line(said)
            case {"type": "thread_closed", "child_thread_id": child}:
                self._view.child_closed(child)
            case {"type": "error", "thread_id": thread_id, "code": code, "message": reason}:
                self._view.failure(None if own else thread_id, f"error ({code}): {reason}")
                return not own or code in HARMLESS_ERRORS
            case _:
                pass
        return True


@contextmanager
def _ending(live: Any, view: ChatView) -> Iterator[None]:
    """End everything with the conversation; a second Ctrl-C cannot break that off."""
    interrupted = False
    try:
        yield
    except KeyboardInterrupt:
        interrupted = True
        view.end_line()
        raise
    finally:
        view.mute()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        ended = live.close()
        signal.signal(signal.SIGINT, before)
        if not ended:  # a slice is still waiting for its model: its thread would hold the process
            sys.stdout.flush()
            os._exit(130 if interrupted else ANSWERED)


def _tolerate_any_text() -> None:
    """A terminal that cannot show a character shows another in its place."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _refuse(reason: str) -> int:
    print(f"torpor: {reason}", file=sys.stderr)
    return MISUSED
