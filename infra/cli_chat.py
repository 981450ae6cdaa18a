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
from infra.cli_questions import answer_typed, shown
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
        conversation = _Conversation(live, view, thread_id, prompting=text is None)
        return conversation.ask(text) if text is not None else conversation.go_on()


class _Conversation:
    """Texts and answers to one thread, one after the other."""

    def __init__(self, live: Any, view: ChatView, thread_id: str, *, prompting: bool) -> None:
        self._live = live
        self._view = view
        self._thread_id = thread_id
        self._prompting = prompting
        """Whether somebody can be asked: what is typed comes line by line."""
        self._typing = sys.stdin.isatty()
        self._seen = 0
        self._open: dict[str, dict[str, Any]] = {}
        """The questions that nobody has answered yet, by call."""
        self._answering: dict[str, str] = {}
        """Calls by the id of the message that answers them, until that is taken or refused."""

    def go_on(self) -> int:
        """Ask what is typed, until the input ends."""
        if self._typing:
            import readline  # noqa: F401 - gives `input` its line editing

            self._view.remark(f"(Thread {self._thread_id} at {self._live.endpoint_url}. Ctrl-D ends.)")
        while True:
            try:
                text = self._typed()
            except EOFError:
                return ANSWERED
            if (text.strip() or self._open) and self.ask(text) != ANSWERED and self._live.broken:
                return FAILED

    def ask(self, text: str) -> int:
        """Send the text, or what answers an open question, and show what comes, until the tree of threads rests.

        Somebody who can be asked is: then it goes on.
        """
        self._view.begin()
        for output in self._new_outputs():  # of what woke up meanwhile: no answer to this
            self._show(output)
        try:
            while (code := self._say(text)) is None:
                text = self._typed()
        except EOFError:
            return ANSWERED
        except TorporError as error:
            self._view.line(f"torpor: {error}")
            return FAILED
        return code

    def _typed(self) -> str:
        try:
            return input("> " if self._typing else "")
        except EOFError:
            if self._typing:
                self._view.line("")
            raise

    def _say(self, text: str) -> int | None:
        """Send it, and show what comes of it. Returns the exit code; None if a question must be answered first."""
        before = self._live.look(self._thread_id).last_seq
        question = next(iter(self._open.values()), None)
        answer = None if question is None else answer_typed(question, text)
        if question is not None and answer is not None:
            self._answering[self._live.send(answer)] = question["call_id"]
            before -= 1  # an answer need not add anything to the thread
        elif text.strip():
            self._live.send({"type": "user_message", "thread_id": self._thread_id, "content": text})
        else:
            return None
        return self._watch(before)

    def _watch(self, before: int) -> int | None:
        """Show what comes until nothing more will, and the thread has more entries than `before`."""
        asleep = False
        while not self._live.broken:
            self._live.wait_for_outputs(self._seen, LOOK_AGAIN_SECONDS)
            if not all([self._show(output) for output in self._new_outputs()]):
                return FAILED
            tree = self._live.look(self._thread_id)
            if self._answering or tree.last_seq <= before or len(self._live.outputs()) != self._seen:
                continue
            if tree.rests:
                self._view.end_line()
                return self._at_rest()
            if tree.asleep_until is not None and not asleep:
                asleep = True
                how = "what you say wakes it" if self._typing and self._prompting else "Ctrl-C ends"
                self._view.remark(f"(asleep until {tree.asleep_until:%Y-%m-%d %H:%M:%S} UTC; {how})")
                if self._typing and self._prompting:
                    return ANSWERED
        return FAILED

    def _at_rest(self) -> int | None:
        if not self._open:
            return ANSWERED
        if self._prompting or self._typing:
            return None
        self._view.remark(
            "(Nobody is here to answer: talk to it without TEXT, or answer on its input queue.)"
        )
        return FAILED

    def _new_outputs(self) -> list[dict[str, Any]]:
        outputs: list[dict[str, Any]] = self._live.outputs()
        new, self._seen = outputs[self._seen :], len(outputs)
        return new

    def _show(self, output: dict[str, Any]) -> bool:
        """Show an output; False if it says that no answer will come."""
        own = output["thread_id"] == self._thread_id
        child = None if own else output["thread_id"]
        match output:
            case {"type": "assistant_message", "final": True, "text": said}:
                if own and not self._view.said_something:
                    self._view.line(said)
            case {"type": "thread_closed", "child_thread_id": closed}:
                self._view.child_closed(closed)
            case {"type": "compacted"}:
                self._view.remark("(what was said so far is summarised)")
            case {"type": "question", "call_id": call_id}:
                self._open[call_id] = output
                self._view.question(child, shown(output))
            case {"type": "question_closed", "call_id": call_id, "outcome": outcome}:
                self._close(call_id, outcome)
            case {"type": "error", "message_id": message_id, "message": reason} if (
                message_id in self._answering
            ):
                call_id = self._answering.pop(message_id)
                self._view.question(child, [f"That is no answer: {reason}", *shown(self._open[call_id])])
            case {"type": "error", "code": code, "message": reason}:
                self._view.failure(child, f"error ({code}): {reason}")
                return not own or code in HARMLESS_ERRORS
            case _:
                pass
        return True

    def _close(self, call_id: str, outcome: str) -> None:
        self._open.pop(call_id, None)
        self._answering = {sent: call for sent, call in self._answering.items() if call != call_id}
        if outcome == "expired":
            self._view.remark("(the question has expired)")


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


def _refuse(reason: str) -> int:
    print(f"torpor: {reason}", file=sys.stderr)
    return MISUSED
