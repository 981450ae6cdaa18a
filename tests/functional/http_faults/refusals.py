"""How each service says that it is broken inside, or that it is asked too much: the shapes that AWS documents."""

import json

from .asked import Answered, Service

UNAVAILABLE = Answered(
    503, {"Content-Type": "text/html"}, b"<html><body><h1>503 Service Unavailable</h1></body></html>"
)
"""Of whatever stands before a service: nothing of its protocol."""


def _dynamodb(status: int, code: str, message: str) -> Answered:
    kind = f"com.amazonaws.dynamodb.v20120810#{code}"
    body = json.dumps({"__type": kind, "message": message}).encode()
    return Answered(status, {"Content-Type": "application/x-amz-json-1.0"}, body)


def _sqs(status: int, code: str, message: str, fault: str) -> Answered:
    body = json.dumps({"__type": f"com.amazonaws.sqs#{code}", "message": message}).encode()
    headers = {"Content-Type": "application/x-amz-json-1.0", "x-amzn-query-error": f"{code};{fault}"}
    return Answered(status, headers, body)


def _s3(status: int, code: str, message: str) -> Answered:
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Answered(status, {"Content-Type": "application/xml"}, body.encode())


def _scheduler(status: int, code: str, message: str) -> Answered:
    headers = {"Content-Type": "application/json", "x-amzn-ErrorType": code}
    return Answered(status, headers, json.dumps({"Message": message}).encode())


BROKEN = {
    Service.DYNAMODB: _dynamodb(500, "InternalServerError", "The request processing has failed"),
    Service.SQS: _sqs(500, "InternalFailure", "The request processing has failed", "Receiver"),
    Service.S3: _s3(500, "InternalError", "We encountered an internal error. Please try again."),
    Service.SCHEDULER: _scheduler(500, "InternalServerException", "Unexpected error"),
}
THROTTLED = {
    Service.DYNAMODB: _dynamodb(
        400, "ProvisionedThroughputExceededException", "The level of configured throughput was exceeded"
    ),
    Service.SQS: _sqs(400, "RequestThrottled", "Request is throttled.", "Sender"),
    Service.S3: _s3(503, "SlowDown", "Please reduce your request rate."),
    Service.SCHEDULER: _scheduler(429, "ThrottlingException", "Rate exceeded"),
}
