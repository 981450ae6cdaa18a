"""Bedrock's failures as core errors: which may work later, which never will, and which mean that too much was asked.

Stands alone because the class decides what the slice does. By code, as everywhere; only overflow has none of its own
(`infra/overflow.py`). What is not in the table is a refusal: the turn ends and is told.
"""

from typing import Final

import aiohttp
from botocore.eventstream import ParserError
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from core.errors import (
    ModelDenied,
    ModelOverflow,
    ModelRefused,
    ModelUnavailable,
    PermanentError,
    RetryableError,
)
from core.text import shorten
from infra.aws_errors import AWS_FAILURES, Failure, code_of, failure_of, failure_of_code
from infra.overflow import says_overflow

MODEL_FAILURES: Final = (*AWS_FAILURES, aiohttp.ClientError, ParserError)
"""What asking Bedrock raises, whatever the layer."""

_MESSAGE_CHARACTERS: Final = 300
UNNAMED: Final = "an error without a code"
"""What the SDK makes of an error inside a stream that its model of the service does not know."""

_LATER: Final = frozenset(
    {
        "ModelErrorException",
        "ModelNotReadyException",
        "ModelStreamErrorException",
        "ModelTimeoutException",
        "ServiceQuotaExceededException",
    }
)
"""May work later, beside what `aws_errors` calls transient."""
_LATER_STATUS: Final = frozenset({408, 424})

CREDENTIALS_ADVICE: Final = (
    "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws sso login`; and AWS_REGION"
)
_ADVICE: Final = {
    "AccessDeniedException": "allow bedrock:InvokeModelWithResponseStream on this model, and ask for access to it in "
    "the Bedrock console",
    "ExpiredTokenException": CREDENTIALS_ADVICE,
    "InvalidSignatureException": CREDENTIALS_ADVICE,
    "ResourceNotFoundException": "there is no such model in this region; most are named by an inference profile, "
    "such as us.… or global.…",
    "UnrecognizedClientException": CREDENTIALS_ADVICE,
}
_NOBODY_ASKS: Final = (
    CredentialRetrievalError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
"""Nobody is there to ask in whose name."""


def translated(failure: BaseException) -> PermanentError | RetryableError:
    """The core error for one of `MODEL_FAILURES`. Always `raise translated(exc) from exc`."""
    if isinstance(failure, ClientError):
        error = failure.response.get("Error", {})
        status = failure.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return error_of(code_of(failure), str(error.get("Message", "")), int(status))
    if isinstance(failure, _NOBODY_ASKS):
        return ModelDenied(f"Bedrock cannot be asked: {_said(failure)}; {CREDENTIALS_ADVICE}")
    if isinstance(failure, AWS_FAILURES) and failure_of(failure) is not Failure.TRANSIENT:
        return ModelDenied(f"Bedrock cannot be asked: {_said(failure)}")
    return ModelUnavailable(f"Bedrock: {type(failure).__name__}")


def error_of(code: str, message: str, status: int = 0) -> PermanentError | RetryableError:
    """The core error for an error code of Bedrock's. `status` is the HTTP status; 0 for an error inside a stream."""
    code = code[:1].upper() + code[1:] or UNNAMED  # inside a stream they begin in lower case
    text = f"Bedrock: {code}: {shorten(message, _MESSAGE_CHARACTERS)}".rstrip(": ")
    if code == "ValidationException" and says_overflow(message):
        return ModelOverflow(text)
    if _may_work_later(code, status):
        return ModelUnavailable(text)
    advice = _ADVICE.get(code)
    return ModelDenied(f"{text} ({advice})") if advice else ModelRefused(text)


def _may_work_later(code: str, status: int) -> bool:
    meant = failure_of_code(code, status)
    known = meant is Failure.INVALID or code in _ADVICE
    return (
        code in _LATER
        or status in _LATER_STATUS
        or meant is Failure.TRANSIENT
        or (status == 0 and not known)  # a stream that had begun: the request itself was taken
    )


def _said(failure: BaseException) -> str:
    return shorten(str(failure) or type(failure).__name__, _MESSAGE_CHARACTERS)
