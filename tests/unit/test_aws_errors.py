"""What AWS failures mean: the table of codes, and failures that bring no code."""

from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError

from core.errors import MisuseError, RetryableError, StoreUnavailable
from infra.aws_errors import AWS_FAILURES, Failure, code_of, failure_of, failure_of_code, translated


def answer(code: str, status: int = 400) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "PutItem")


@pytest.mark.parametrize(
    ("failure", "meaning"),
    [
        (answer("ProvisionedThroughputExceededException"), Failure.TRANSIENT),
        (answer("ThrottlingException"), Failure.TRANSIENT),
        (answer("SlowDown", 503), Failure.TRANSIENT),
        (answer("InternalServerError", 500), Failure.TRANSIENT),
        (answer("Unheard", 502), Failure.TRANSIENT),
        (answer("NeverHeardOf", 429), Failure.TRANSIENT),
        (answer("NeverHeardOf"), Failure.DENIED),
        (answer("AccessDeniedException"), Failure.DENIED),
        (answer("ResourceNotFoundException"), Failure.DENIED),
        (answer("ValidationException"), Failure.INVALID),
        (ReadTimeoutError(endpoint_url="http://x"), Failure.TRANSIENT),
        (ConnectTimeoutError(endpoint_url="http://x"), Failure.TRANSIENT),
        (EndpointConnectionError(endpoint_url="http://x"), Failure.TRANSIENT),
        (ResponseParserError("half an answer"), Failure.TRANSIENT),
        (HTTPClientError(error="cut off"), Failure.TRANSIENT),
        (TimeoutError(), Failure.TRANSIENT),
        (ConnectionResetError(), Failure.TRANSIENT),
        (NoCredentialsError(), Failure.DENIED),
        (ParamValidationError(report="no such parameter"), Failure.INVALID),
    ],
)
def test_every_failure_has_a_meaning(failure: Exception, meaning: Failure) -> None:
    assert isinstance(failure, AWS_FAILURES)
    assert failure_of(failure) is meaning
    expected = MisuseError if meaning is Failure.INVALID else StoreUnavailable
    assert type(translated(failure, "put")) is expected


def test_an_unknown_code_loses_nothing() -> None:
    assert isinstance(translated(answer("NeverHeardOf"), "put"), RetryableError)
    assert failure_of_code("") is Failure.DENIED


def test_a_failure_without_an_answer_is_named_by_its_class() -> None:
    assert code_of(ReadTimeoutError(endpoint_url="http://x")) == "ReadTimeoutError"
    assert code_of(answer("SlowDown")) == "SlowDown"
