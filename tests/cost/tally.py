"""From requests to what AWS bills: amounts of one turn, by what they are paid as."""

from collections import Counter
from collections.abc import Mapping

from bench.wire import Asked
from tests.cost.counted import Counted

WRITES = ("PutItem", "BatchWriteItem", "UpdateItem")
READS = ("Query", "GetItem", "BatchGetItem")
FIFO = ("input", "output")
FUNCTIONS = ("agent", "worker", "relay")
ITEM_OVERHEAD_BYTES = 100
"""DynamoDB adds them to each item that it keeps."""
KB = 1024

Amounts = Mapping[str, float]
"""By name: `write_units`, `fifo_requests` …"""


def amounts_of(turn: Counted) -> Amounts:
    """What one turn takes of everything that is paid for."""
    found: Counter[str] = Counter()
    for asked in turn.asked:
        match asked.service:
            case "dynamodb":
                found.update(_of_table(asked))
            case "sqs":
                found.update(_of_queue(asked))
            case "scheduler":
                found["schedules"] += asked.operation == "POST"
            case _:
                found["s3_puts" if asked.operation == "PUT" else "s3_gets"] += 1
                found["s3_bytes"] += asked.size_bytes if asked.operation == "PUT" else 0
    found["completions"] = turn.completions
    return found


def _of_table(asked: Asked) -> Counter[str]:
    found = Counter({"dynamodb_requests": 1})
    if asked.operation in WRITES:
        found["write_units"] = asked.units
        found["stored_bytes"] = asked.size_bytes + ITEM_OVERHEAD_BYTES * asked.items
    elif asked.operation in READS:
        found["read_units"] = asked.units
    return found


def _of_queue(asked: Asked) -> Counter[str]:
    """What was sent is received, each message by a run of its own, and deleted. Of outputs we see only the sending."""
    kind = "fifo_requests" if asked.resource in FIFO else "standard_requests"
    if asked.resource == "output":
        sent = asked.operation.startswith("Send")
        return Counter({kind: 2 * asked.units + 1} if sent else {})
    if asked.operation == "DeleteMessage":
        return Counter({kind: 2, f"{_function(asked.resource)}_invocations": 1})
    return Counter({kind: 2 * asked.units - 1})


def _function(queue: str) -> str:
    """That reads the queue."""
    return {"input": "agent", "delay": "relay"}.get(queue, "worker")


def invocations(amounts: Amounts) -> float:
    """Of all functions."""
    return sum(amounts.get(f"{function}_invocations", 0) for function in FUNCTIONS)
