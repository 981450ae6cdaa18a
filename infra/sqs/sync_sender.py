"""`SqsSender`: one message at a time with a synchronous client, for workers, the relay and the command line.

Apart from the dispatcher because these callers answer one record and fail it when the answer is not confirmed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from core.clock import Clock
from core.ports import Outgoing
from infra.queue_errors import QueueUnavailable, Unsendable
from infra.send_order import Never
from infra.sqs.errors import TRANSPORT_ERRORS, outcome_of
from infra.sqs.requests import request_fault, request_for


class SqsClient(Protocol):
    """The part of a boto3 SQS client that is used."""

    def send_message(self, *, QueueUrl: str, **parameters: Any) -> Any:
        """As the SQS API's SendMessage."""
        ...


@dataclass(frozen=True, slots=True)
class SqsSender:
    """Sends to the queues in `urls`, by the same checks and ids as `SqsDispatcher`."""

    client: SqsClient
    urls: Mapping[str, str]
    """Queue URL by name: `input`, `output`, `delay`, `worker:<name>`."""
    clock: Clock

    def send(self, message: Outgoing, attributes: Mapping[str, str] | None = None) -> None:
        """Returns when the queue has it; sending it again is harmless. `attributes`: of the message, as texts.

        Raises QueueUnavailable if it is not confirmed, Unsendable if it can never be sent.
        """
        url, now = self.urls.get(message.queue), self.clock.now()
        if url is None:
            raise Unsendable(f"no queue is known for {message.queue}")
        if fault := request_fault(message, now):
            raise Unsendable(f"to {message.queue}: {fault}")
        request = request_for(message, now)
        request = replace(request, attributes={**request.attributes, **(attributes or {})})
        try:
            self.client.send_message(QueueUrl=url, **request.parameters)
        except TRANSPORT_ERRORS as error:
            outcome = outcome_of(error)
            kind = Unsendable if isinstance(outcome, Never) else QueueUnavailable
            raise kind(f"to {message.queue}: {outcome.reason}") from error
