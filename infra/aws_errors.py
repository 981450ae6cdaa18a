"""AWS failures as core errors: the one table that decides what a code means, used by every adapter.

Stands alone because the class of an error decides what happens next, and that must not differ between adapters. Always
`raise translated(exc, …) from exc`. Knows botocore only, so that synchronous programs can use it without aiohttp.
"""

from enum import Enum
from typing import Final

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ParamValidationError,
)
from botocore.parsers import ResponseParserError

from core.errors import MisuseError, StoreUnavailable, TorporError

AWS_FAILURES: Final = (ClientError, BotoCoreError, ResponseParserError, OSError)
"""What a request to AWS raises when it does not answer as asked, whatever the layer."""


_CUT_OFF: Final = (
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseParserError,
    OSError,
)
"""No answer, or half of one. Timeouts are among them: TimeoutError is an OSError."""


class Failure(Enum):
    """What a failed request means for whoever made it."""

    TRANSIENT = "transient"
    """Throttled, timed out, cut off or broken inside AWS: ask again now. A write may have taken effect."""
    DENIED = "denied"
    """No permission, or the resource is not there. Asking again now is useless; after a deployment it may work."""
    INVALID = "invalid"
    """The request itself is wrong and always will be."""


_TRANSIENT: Final = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "KMSThrottlingException",
        "KmsThrottled",
        "LimitExceededException",
        "OperationAborted",
        "OverLimit",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_INVALID: Final = frozenset(
    {
        "AWS.SimpleQueueService.BatchRequestTooLong",
        "AWS.SimpleQueueService.InvalidBatchEntryId",
        "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
        "AWS.SimpleQueueService.UnsupportedOperation",
        "EntityTooLarge",
        "InvalidMessageContents",
        "InvalidParameterValue",
        "ItemCollectionSizeLimitExceededException",
        "KeyTooLongError",
        "MissingParameter",
        "SerializationException",
        "ValidationException",
    }
)


def code_of(failure: BaseException) -> str:
    """The error code AWS gave, or the exception's class name where no answer came."""
    if isinstance(failure, ClientError):
        return str(failure.response.get("Error", {}).get("Code", "Unknown"))
    return type(failure).__name__


def failure_of_code(code: str, status: int = 0) -> Failure:
    """What an error code means; `status`, the HTTP status, decides for a 5xx or 429 with an unknown code.

    Any other code nobody knows counts as `DENIED`: the queue tries again later, nothing is lost meanwhile.
    """
    if code in _TRANSIENT or status >= 500 or status == 429:
        return Failure.TRANSIENT
    return Failure.INVALID if code in _INVALID else Failure.DENIED


def failure_of(failure: BaseException) -> Failure:
    """What one of `AWS_FAILURES` means."""
    if isinstance(failure, ClientError):
        status = failure.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return failure_of_code(code_of(failure), int(status))
    if isinstance(failure, ParamValidationError):
        return Failure.INVALID
    return Failure.TRANSIENT if isinstance(failure, _CUT_OFF) else Failure.DENIED


def translated(failure: BaseException, action: str) -> TorporError:
    """The core error for a store request that failed while doing `action` (a few words, no content)."""
    text = f"{action}: {code_of(failure)}"
    return MisuseError(text) if failure_of(failure) is Failure.INVALID else StoreUnavailable(text)
