"""What senders raise when a queue does not take a message. Alone so that the in-memory queues need no AWS library."""

from core.errors import PermanentError, RetryableError


class QueueUnavailable(RetryableError):
    """A queue did not confirm in time. The message may or may not have arrived: send it again, with the same id."""


class Unsendable(PermanentError):
    """A message that a queue will never take, or a queue that is not there."""
