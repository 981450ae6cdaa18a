"""Questions about live calls: asked, and answered by an approval or a choice. Results close them by themselves."""

from core.accept.effects import Approve, TellWorker
from core.changes import CallOpened
from core.errors import MisuseError
from core.fold import CALL_FIELDS
from core.history.manager import HistoryManager
from core.outbox import SendCall, SendQuestion, SendQuestionClosed, SendStarted, SendToolAnswer
from core.text import same_json, shorten, wire_json
from core.thread import LiveCall, Question

MAX_NOTE_CHARACTERS = 10_000
"""Of edited arguments, in what the model is told."""
EDITED = "[A person approved this call with other arguments than yours. It was run with: {args}]"
TAKEN_BY_DEFAULT = "[Nobody answered in time. The default was taken: {choice}]"


def ask(manager: HistoryManager, call_id: str, question: Question) -> None:
    """Put the question to people; the call stays live until it is answered, one way or another."""
    entry = manager.draft.call_entry(call_id)
    _reopen(manager, _live(manager, call_id), question=question)
    manager.draft.send(SendQuestion(call_id=call_id, name=entry.name, question=question))


def approve(manager: HistoryManager, approved: Approve) -> None:
    """Dispatch a worker's call; an inline one is run by the slice, before anything else."""
    call, draft = _live(manager, approved.call_id), manager.draft
    entry = manager.draft.call_entry(approved.call_id)
    args = entry.args if approved.args is None else approved.args
    edited = not same_json(args, entry.args)
    note = EDITED.format(args=shorten(wire_json(args), MAX_NOTE_CHARACTERS)) if edited else ""
    _close_question(manager, call, expired=False)
    worker = approved.tool.worker
    if worker is None:
        _reopen(manager, call, question=None, note=note, args=args if edited else None)
        return
    _reopen(manager, call, question=None, note=note, worker=worker, deadline_at=approved.deadline_at)
    sent = {"call_id": call.call_id, "name": call.name, "args": args}
    draft.send(SendCall.model_validate({**sent, "worker": worker, "deadline_at": approved.deadline_at}))
    draft.send(SendStarted(call_id=call.call_id))


def tell_worker(manager: HistoryManager, told: TellWorker) -> None:
    """Send the choice to the worker that asked. The model is told if nobody made it."""
    call = _live(manager, told.call_id)
    defaulted = [TAKEN_BY_DEFAULT.format(choice=told.choice)] if told.expired else []
    note = "\n".join([*filter(None, [call.note]), *defaulted])
    _close_question(manager, call, told.expired)
    _reopen(manager, call, question=None, note=note)
    if call.worker is not None and call.question is not None:
        manager.draft.send(
            SendToolAnswer(
                call_id=call.call_id,
                worker=call.worker,
                question=call.question.asked_by,
                choice=told.choice,
                comment=told.comment,
            )
        )


def _close_question(manager: HistoryManager, call: LiveCall, expired: bool) -> None:
    if call.question is not None:
        outcome, kind = "expired" if expired else "answered", call.question.kind
        closed = {"call_id": call.call_id, "question_kind": kind, "outcome": outcome}
        manager.draft.send(SendQuestionClosed.model_validate(closed))


def _reopen(manager: HistoryManager, call: LiveCall, **changed: object) -> None:
    """Record what is said of the live call from now on."""
    said = {name: getattr(call, name) for name in CALL_FIELDS}
    manager.draft.record(CallOpened.model_validate({"call_id": call.call_id, **said, **changed}))


def _live(manager: HistoryManager, call_id: str) -> LiveCall:
    call = manager.state.live_call(call_id)
    if call is None:
        raise MisuseError(f"{call_id} is not live")
    return call
