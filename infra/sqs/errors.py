"""Failed SQS sends as outcomes, by a table of codes. Apart from `infra/aws_errors.py` because here a code decides more:
after a permanent one a call is answered with an error, so only what is known to be permanent counts as that.
"""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.parsers import ResponseParserError

from infra.send_order import Never, NotNow

PERMANENT_CODES = frozenset(
    {
        # The queue is not there, or not ours to use.
        "AWS.SimpleQueueService.NonExistentQueue",
        "QueueDoesNotExist",
        "InvalidAddress",
        "AccessDenied",
        "AccessDeniedException",
        "InvalidSecurity",
        "OptInRequired",
        "UnsupportedOperation",
        "AWS.SimpleQueueService.UnsupportedOperation",
        "KmsAccessDenied",
        "KMS.AccessDeniedException",
        "KmsNotFound",
        "KMS.NotFoundException",
        # The message cannot be carried.
        "InvalidMessageContents",
        "InvalidParameterValue",
        "InvalidParameterValueException",
        "InvalidAttributeValue",
        "MissingParameter",
        "BatchRequestTooLong",
        "AWS.SimpleQueueService.BatchRequestTooLong",
    }
)
"""Codes after which sending again cannot help. Every other one, a code not yet known too, is tried again."""

TRANSPORT_ERRORS = (BotoCoreError, ClientError, ResponseParserError, OSError, TimeoutError)
"""Everything a boto client raises because of a network, a service or credentials. Nothing that is our own bug."""


def outcome_of(error: Exception, permanent: frozenset[str] = PERMANENT_CODES) -> NotNow | Never:
    """What a failed request, one of TRANSPORT_ERRORS, means for all its messages. Names the code, never a body.

    `permanent`: the codes of the service that was asked.
    """
    match error:
        case ClientError(response={"Error": {"Code": code}}):
            return Never(str(code)) if code in permanent else NotNow(str(code))
        case ParamValidationError():
            return Never(type(error).__name__)
        case _:
            return NotNow(type(error).__name__)


def outcome_of_entry(failed: Mapping[str, Any]) -> NotNow | Never:
    """What an entry of `Failed` in the answer of SendMessageBatch means for its message."""
    code = str(failed.get("Code", "unknown"))
    return Never(code) if code in PERMANENT_CODES else NotNow(code)
