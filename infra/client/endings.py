"""Which commit ends what is owed to a message, and how: found by reading a log forward from where it was taken in.

Pure. A turn ends by a final answer or a `turn_end` entry behind the message's own, or with the thread.
"""

from typing import Literal

from core.changes import Closed
from core.chunks import Usage
from core.commit import Commit
from core.entries import EndReason, TurnEnd, User
from core.messages import InputKey
from core.outbox import SendAnswer, SendError
from core.output_bodies import output_fields
from infra.client.outcomes import Answered, Ended


def finals_of(commit: Commit) -> dict[int, SendAnswer]:
    """The final answers of a commit by the seq of their turn's first entry."""
    sent = (message for message in commit.outbox if isinstance(message, SendAnswer))
    return {answer.first_seq: answer for answer in sent if answer.final}


def text_and_usage(answer: SendAnswer, commit: Commit) -> tuple[str, Usage]:
    """What the answer says and took, as its output tells it."""
    _, fields = output_fields(answer, commit)
    return fields["text"], Usage(**fields["usage"])


class Search:
    """Looks for the end of the debt to one message. Is shown every commit from the one that consumed it, in order."""

    def __init__(self, thread_id: str, message_id: str) -> None:
        self._thread_id = thread_id
        self._message_id = message_id
        self._joined = False
        """Whether the message is in the history: a deferred one joins later than it was taken in."""
        self._newest = message_id
        self._key = InputKey("user_message", message_id)

    def see(self, commit: Commit) -> Answered | Ended | None:
        """The end, if it is in this commit."""
        if self._is_of_another_log(commit):
            return self._ended("erased", commit.last_seq, commit)
        finals = finals_of(commit)
        for entry in commit.entries:
            if isinstance(entry, User) and entry.message_id is not None:
                self._joined = self._joined or entry.message_id == self._message_id
                self._newest = entry.message_id
            if self._joined and (answer := finals.get(entry.seq)) is not None:
                return self._answered(answer, commit)
            if self._joined and isinstance(entry, TurnEnd):
                return self._ended(entry.reason, entry.seq, commit)
        if any(isinstance(change, Closed) for change in commit.changes):
            return self._ended("closed", commit.last_seq, commit)
        return None

    def _is_of_another_log(self, commit: Commit) -> bool:
        """Whether the log that took the message in ends here, or ended before: it was erased."""
        begins = commit.origin is not None and commit.consumes(self._key) is None
        return begins or commit.erased is not None

    def _answered(self, answer: SendAnswer, commit: Commit) -> Answered:
        text, usage = text_and_usage(answer, commit)
        return Answered(
            thread_id=self._thread_id,
            message_id=self._message_id,
            text=text,
            seq=answer.last_seq,
            at=commit.at,
            route=answer.route,
            citations=answer.citations,
            usage=usage,
            stop_reason=answer.stop_reason,
            newest_message_id=self._newest,
        )

    def _ended(self, reason: EndReason | Literal["closed", "erased"], seq: int, commit: Commit) -> Ended:
        ended = Ended(thread_id=self._thread_id, message_id=self._message_id, reason=reason, seq=seq)
        told = error_of(commit) if reason not in ("cancelled", "closed", "erased") else None
        if told is None:
            return ended
        return ended.model_copy(
            update={"code": told.code, "message": told.message, "retryable": told.retryable}
        )


def error_of(commit: Commit) -> SendError | None:
    """The error by which a commit tells that its turn ended without an answer: it names whom it was owed to."""
    errors = (sent for sent in commit.outbox if isinstance(sent, SendError) and sent.message_id is not None)
    return next(errors, None)
