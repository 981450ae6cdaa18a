"""The library's failures as core errors. Its classes say what went wrong; one table says what that means here."""

from typing import Final

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UserError,
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
from infra.library_models.apis import APIS, is_own_server
from infra.overflow import says_overflow

MODEL_FAILURES: Final = (
    AgentRunError,
    UserError,
    httpx2.HTTPError,
    httpx2.StreamError,
    OSError,
)
"""What asking raises, whatever the layer."""
UNDECODABLE: Final = (AttributeError, LookupError, RecursionError, TypeError, ValueError, AssertionError)
"""What the library raises for an event that is not of the shape it expects."""

_MESSAGE_CHARACTERS: Final = 300
_TOO_LARGE: Final = 413
_LATER_STATUS: Final = frozenset({408, 409, 425, 429})
_FOR_GOOD: Final = (ModelRequestRejectedError, ModelQuotaExceededError, UserError)


def translated(failure: BaseException, provider: str) -> PermanentError | RetryableError:
    """The core error for one of `MODEL_FAILURES`. Always `raise translated(exc, …) from exc`."""
    message = _said(failure)
    text = f"{provider}: {shorten(message, _MESSAGE_CHARACTERS)}"
    status = failure.status_code if isinstance(failure, ModelHTTPError) else 0
    if isinstance(failure, ModelContextWindowExceededError) or status == _TOO_LARGE:
        return ModelOverflow(text)
    if isinstance(failure, ModelAPIError) and 400 <= status < 500 and says_overflow(message):
        return ModelOverflow(text)
    if isinstance(failure, ModelAuthenticationError | ModelNotFoundError):
        return ModelDenied(f"{text} ({_advice(failure, provider)})")
    if isinstance(failure, ModelConnectionError) and is_own_server(provider):
        text = f"{text} (is the server there that {APIS[provider].base_url} names?)"
    if isinstance(failure, _FOR_GOOD) or (400 <= status < 500 and status not in _LATER_STATUS):
        return ModelRefused(text)
    return ModelUnavailable(text)


def _said(failure: BaseException) -> str:
    """What the provider says, without the library's words around it, where it has said something."""
    body = failure.body if isinstance(failure, ModelAPIError) else None
    while isinstance(body, dict):
        inner = body.get("error") or body.get("message")
        if inner is None:
            break
        body = inner
    return body if isinstance(body, str) else (str(failure) or type(failure).__name__)


def _advice(failure: BaseException, provider: str) -> str:
    api = APIS[provider]
    if isinstance(failure, ModelNotFoundError):
        return f"there is no such model at this API; {api.base_url} names another"
    return f"check {api.key}"
