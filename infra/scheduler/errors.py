"""Failed requests to EventBridge Scheduler as outcomes, by tables of its codes."""

from botocore.exceptions import ClientError

from infra.send_order import Confirmed, SendOutcome
from infra.sqs.errors import outcome_of

PERMANENT_CODES = frozenset(
    {
        # The group is not there, or not ours to use.
        "AccessDenied",
        "AccessDeniedException",
        "OptInRequired",
        "ResourceNotFoundException",
        # The schedule cannot be made; a role that cannot be taken counts as that too.
        "ValidationException",
    }
)
"""Codes after which asking again now cannot help. A used-up quota is not among them: schedules come and go."""

THERE = "ConflictException"
"""Of a creation: the schedule is there. Names are of one message each, so it is the same one."""
GONE = "ResourceNotFoundException"
"""Of a deletion: it has fired, was never made, or is deleted."""


def created(error: Exception) -> SendOutcome:
    """What a failed creation, one of TRANSPORT_ERRORS, means for its message."""
    return _outcome(error, success=THERE)


def deleted(error: Exception) -> SendOutcome:
    """What a failed deletion, one of TRANSPORT_ERRORS, means for its message."""
    return _outcome(error, success=GONE)


def _outcome(error: Exception, *, success: str) -> SendOutcome:
    match error:
        case ClientError(response={"Error": {"Code": code}}) if code == success:
            return Confirmed()
        case _:
            return outcome_of(error, PERMANENT_CODES)
