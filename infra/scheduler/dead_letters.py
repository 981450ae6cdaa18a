"""What a schedule leaves in the dead-letter queue: not its message, but the request to SQS that it could not make.

Alone because the dead-letter queue has both: messages that the relay gave up, and these.
"""

import json


def message_in(body: str) -> str:
    """The message of a dead letter of the delay queue: `MessageBody` of a SendMessage as JSON, else the body itself."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return body
    match request:
        case {"MessageBody": str(message), "QueueUrl": str()}:
            return message
        case _:
            return body
