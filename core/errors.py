"""The one error tree. The class decides what happens next, never the text of a message.

TorporError
├── PermanentError            trying again cannot help: record it, tell whoever asked, go on
│   ├── DefinitionError       an agent, tool or app is written wrongly; raised when it is defined
│   ├── SettingsError         the environment lacks something; names everything that is missing
│   ├── Refused               an input that cannot be accepted; carries the wire's error code
│   ├── Returned              a parent message that its child cannot take any more: it goes back
│   ├── ModelRefused          the model will never answer this request
│   │   ├── ModelDenied       … or any other of ours: no permission, no credentials, no such model
│   │   └── ModelOverflow     … because it is longer than the model's window
│   ├── MalformedRequest      a model request that breaks the strictest provider's rules (a bug of ours)
│   ├── Unsendable            a message no queue will ever take (`infra/queue_errors.py`)
│   ├── BadArguments          a call's arguments do not fit its tool (`core/tools/arguments.py`)
│   ├── UnsupportedResult     a tool returned what is neither JSON nor blocks (`core/tools/content.py`)
│   ├── ToolFailed            a tool's own code raised (`core/tools/boundary.py`)
│   ├── ProcessorFailed       a history processor raised, or broke a rule (`core/history/chain.py`)
│   ├── StateUnfit            a state, or a patch of it, does not fit its type (`core/state/shape.py`)
│   ├── UnreadableRecord      stored data this version cannot read, or that cannot be there
│   └── MisuseError           the caller broke a rule of this library (a bug in the caller)
│       └── NoThread          … it named a thread that is not there, or was erased
├── RetryableError            nothing was lost; the queue will deliver again
│   ├── StoreUnavailable      a read or write did not succeed in time; a write may have taken effect
│   ├── LostRace              another slice holds the commit number
│   ├── NotSettled            the last commit could not be settled for now
│   ├── ModelUnavailable      throttled, cut off, or too slow
│   ├── QueueUnavailable      a queue did not confirm a message (`infra/queue_errors.py`)
│   ├── CallRunning           another attempt of a worker holds the call (`core/worker.py`)
│   └── OutOfTime             the invocation is nearly over (`core/worker.py`)
├── NotAnswered               a client was given no answer; carries what became of it (`infra/client/chat.py`)
└── LocalStackError           the local stack does not come to rest (`infra/local/source.py`)

AWS errors are translated into these once, in `infra/aws_errors.py`.
"""

from typing import Literal

ErrorCode = Literal[
    "invalid",
    "conflict",
    "closed",
    "unknown_thread",
    "model",
    "overflow",
    "limit",
    "dead_letter",
    "forbidden",
    "busy",
    "state",
]


class TorporError(Exception):
    """Root of everything Torpor raises on purpose."""


class PermanentError(TorporError):
    """Trying again cannot help."""


class DefinitionError(PermanentError):
    """An agent, tool or app is written wrongly. Raised when it is defined, naming it."""


class SettingsError(PermanentError):
    """The environment is incomplete or wrong."""


class Refused(PermanentError):
    """An input that cannot be accepted. `code` is the `code` of the error output that tells the sender."""

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Returned(PermanentError):
    """A parent message to a closed or unknown child: it goes back to the parent as a report, and nothing is parked."""


class ModelRefused(PermanentError):
    """The provider rejected the request for good."""


class ModelDenied(ModelRefused):
    """The model cannot be asked: people have to mend credentials, permissions or its name. The content is innocent."""


class ModelOverflow(ModelRefused):
    """The request is longer than the model's context window."""


class MalformedRequest(PermanentError):
    """A request breaks invariant *well-formed*. It is never sent."""


class UnreadableRecord(PermanentError):
    """A stored record is damaged, or of a newer version than this code. Never skipped."""


class MisuseError(PermanentError):
    """A rule of the library was broken by its caller; nothing was changed."""


class NoThread(MisuseError):
    """There is no thread of this id: it never was, or was erased."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(f"there is no thread {thread_id!r}")


class RetryableError(TorporError):
    """Nothing is lost: fail the record, the queue delivers it again."""


class StoreUnavailable(RetryableError):
    """The store did not answer in time. A write may or may not have taken effect."""


class LostRace(RetryableError):
    """Another slice committed this number first (invariant *one writer*)."""


class NotSettled(RetryableError):
    """The last commit could not be settled now, and nothing else will come to do it."""


class ModelUnavailable(RetryableError):
    """The model was throttled, disconnected or ran out of time; the same request may work later."""
