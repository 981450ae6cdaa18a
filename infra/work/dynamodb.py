"""`DynamoDbWorkRecords`: the `WorkRecords` port over the work table, one conditional write an operation.

The table has the hash key `pk` and the TTL attribute `expires_at`. `pk` is what the record is known by, `<worker>#<call
id>`, which is what the worker's role may reach; `<that>#<digest>#<number>` for the parts of a large result, and of a
question.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StoreUnavailable, UnreadableRecord
from core.tools.asking import Answered
from core.work import (
    AlreadyRunning,
    Asked,
    Asking,
    Begun,
    Cancelled,
    Ended,
    Finished,
    Question,
    RecordedResult,
    Started,
)
from infra.work.encoding import (
    AskedCall,
    Encoded,
    decode,
    decode_answer,
    decode_asked,
    encode,
    encode_answer,
    encode_asked,
)

KEPT_FOR = timedelta(days=60)
"""Longer than a message can wait: 14 days in a queue, 14 in its dead-letter queue, and again after a redrive."""

EPOCH = datetime.fromtimestamp(0, UTC)
RUNNING, ASKING, DONE, CANCELLED = "running", "asking", "done", "cancelled"

# What begin finds ─────────────────────────► what it leaves      and returns
#   nothing                                   running (ours)      Started
#   running, lease over                       running (ours)      Started
#   running, by this same attempt             running (ours)      Started: our own write, its answer was lost
#   running, lease holds                      unchanged           AlreadyRunning
#   asking                                    unchanged           Asking
#   done                                      unchanged           Finished
#   cancelled                                 unchanged           Cancelled
_MAY_BEGIN = (
    "attribute_not_exists(pk) OR (work_status = :running AND (lease_until_ms <= :now OR held_by = :held_by))"
)
# finish and cancel find nothing, running or asking ► done, cancelled; anything else stays as it is.
_NOT_ENDED = "attribute_not_exists(pk) OR work_status IN (:running, :asking)"
# ask finds nothing or running, with as many answers as its run had ► asking; anything else stays.
_MAY_ASK = (
    "(attribute_not_exists(pk) OR work_status = :running) "
    "AND (attribute_not_exists(answers) OR size(answers) = :number)"
)
# answer finds asking, that question if it is named ► running, and anybody may begin; anything else stays.
_MAY_ANSWER = "work_status = :asking"
_MAY_ANSWER_THAT = f"{_MAY_ANSWER} AND question_id = :question"


_FAILURES = (ClientError, BotoCoreError, OSError)
"""Whatever the code: the record of the queue fails and comes again, or its dead-letter handler answers the call. No
table of codes, and no `infra/aws_errors.py`: its aiohttp would double what a worker's cold start imports."""


class DynamoDbClient(Protocol):
    """The part of a boto3 DynamoDB client that is used."""

    def update_item(self, **parameters: Any) -> Any:
        """As the DynamoDB API's UpdateItem."""
        ...

    def put_item(self, **parameters: Any) -> Any:
        """As the DynamoDB API's PutItem."""
        ...

    def get_item(self, **parameters: Any) -> Any:
        """As the DynamoDB API's GetItem."""
        ...


@dataclass(frozen=True, slots=True)
class DynamoDbWorkRecords:
    """As the port says."""

    client: DynamoDbClient
    table: str

    def begin(self, call_id: str, *, attempt: str, lease_until: datetime, now: datetime) -> Begun:
        """As the port says."""
        values = {
            ":held_by": {"S": attempt},
            ":now": _epoch_ms(now),
            ":until": _epoch_ms(lease_until),
            ":expires": _expiry(now),
        }
        written, item = self._update(
            call_id,
            "SET work_status = :running, held_by = :held_by, lease_until_ms = :until, expires_at = :expires",
            _MAY_BEGIN,
            values,
        )
        if written:
            return Started(tuple(answered for _, answered in _answers(item)))
        return self._standing(call_id, item)

    def finish(self, call_id: str, result: RecordedResult, *, now: datetime) -> Ended:
        """As the port says. Parts are written first: a record never names one that is not there."""
        encoded = encode(result)
        inline = len(encoded.parts) == 1
        if not inline:
            self._put_parts(call_id, encoded, now)
        values = {
            ":status": {"S": DONE},
            ":data": {"B": encoded.parts[0] if inline else b""},
            ":digest": {"S": encoded.digest},
            ":parts": {"N": str(0 if inline else len(encoded.parts))},
            ":expires": _expiry(now),
        }
        written, item = self._update(
            call_id,
            "SET work_status = :status, result_gzip = :data, result_digest = :digest, result_parts = :parts, "
            "expires_at = :expires REMOVE held_by, lease_until_ms, answers",
            _NOT_ENDED,
            values,
        )
        return Finished(result) if written else self._ended(call_id, item)

    def ask(self, call_id: str, question: Question, *, now: datetime) -> Asked:
        """As the port says. Parts are written first."""
        encoded = encode_asked(AskedCall(question.call, question.body))
        self._put_parts(call_id, encoded, now)
        values = {
            ":number": {"N": str(question.number)},
            ":question": {"S": question.id},
            ":digest": {"S": encoded.digest},
            ":parts": {"N": str(len(encoded.parts))},
            ":expires": _expiry(now),
        }
        written, item = self._update(
            call_id,
            "SET work_status = :asking, question_id = :question, question_digest = :digest, "
            "question_parts = :parts, expires_at = :expires REMOVE held_by, lease_until_ms",
            _MAY_ASK,
            values,
        )
        return Asking(question.body) if written else self._standing(call_id, item)

    def answer(
        self, call_id: str, answered: Answered, *, question_id: str | None, now: datetime
    ) -> str | None:
        """As the port says."""
        values = {
            ":nobody": _epoch_ms(EPOCH),
            ":none": {"L": []},
            ":one": {"L": [{"S": encode_answer(question_id, answered)}]},
            ":expires": _expiry(now),
            **({} if question_id is None else {":question": {"S": question_id}}),
        }
        written, item = self._update(
            call_id,
            "SET work_status = :running, lease_until_ms = :nobody, expires_at = :expires, "
            "answers = list_append(if_not_exists(answers, :none), :one)",
            _MAY_ANSWER if question_id is None else _MAY_ANSWER_THAT,
            values,
        )
        return self._asked(call_id, item).call if written or _goes_on(item, question_id) else None

    def cancel(self, call_id: str, *, now: datetime) -> None:
        """As the port says."""
        values = {":status": {"S": CANCELLED}, ":expires": _expiry(now)}
        self._update(
            call_id,
            "SET work_status = :status, expires_at = :expires REMOVE held_by, lease_until_ms",
            _NOT_ENDED,
            values,
        )

    def _update(
        self, call_id: str, update: str, condition: str, values: Mapping[str, Any]
    ) -> tuple[bool, Mapping[str, Any]]:
        """Write under the condition: whether it held, and the item that stands."""
        named = {":running": {"S": RUNNING}, ":asking": {"S": ASKING}}
        used = {name: value for name, value in named.items() if name in update + condition}
        try:
            response = self.client.update_item(
                TableName=self.table,
                Key={"pk": {"S": call_id}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues={**values, **used},
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                answer: Mapping[str, Any] = error.response
                return False, answer.get("Item", {})
            raise _unavailable("write a work record", error) from error
        except _FAILURES as error:
            raise _unavailable("write a work record", error) from error
        return True, response["Attributes"]

    def _standing(self, call_id: str, item: Mapping[str, Any]) -> AlreadyRunning | Asking | Ended:
        match item["work_status"]["S"]:
            case "running":
                until_ms = int(item["lease_until_ms"]["N"])
                return AlreadyRunning(datetime.fromtimestamp(until_ms / 1000, UTC))
            case "asking":
                return Asking(self._asked(call_id, item).body)
            case _:
                return self._ended(call_id, item)

    def _asked(self, call_id: str, item: Mapping[str, Any]) -> AskedCall:
        count, digest = int(item["question_parts"]["N"]), item["question_digest"]["S"]
        return decode_asked(b"".join(self._part(call_id, digest, number) for number in range(count)))

    def _ended(self, call_id: str, item: Mapping[str, Any]) -> Ended:
        if item["work_status"]["S"] == CANCELLED:
            return Cancelled()
        count, digest = int(item["result_parts"]["N"]), item["result_digest"]["S"]
        if not count:
            return Finished(decode(item["result_gzip"]["B"]))
        return Finished(decode(b"".join(self._part(call_id, digest, number) for number in range(count))))

    def _put_parts(self, call_id: str, encoded: Encoded, now: datetime) -> None:
        for number, data in enumerate(encoded.parts):
            key = {"S": _part_key(call_id, encoded.digest, number)}
            item = {"pk": key, "data": {"B": data}, "expires_at": _expiry(now)}
            try:
                self.client.put_item(TableName=self.table, Item=item)
            except _FAILURES as error:
                raise _unavailable("write a part of a work record", error) from error

    def _part(self, call_id: str, digest: str, number: int) -> bytes:
        key = {"pk": {"S": _part_key(call_id, digest, number)}}
        try:
            found = self.client.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        except _FAILURES as error:
            raise _unavailable("read a part of a work record", error) from error
        if "Item" not in found:
            raise UnreadableRecord(f"the record of call {call_id} lacks part {number}")
        data: bytes = found["Item"]["data"]["B"]
        return data


def _answers(item: Mapping[str, Any]) -> list[tuple[str | None, Answered]]:
    """Those so far, each with the id of its question as far as it was named."""
    return [decode_answer(one["S"]) for one in item.get("answers", {"L": []})["L"]]


def _goes_on(item: Mapping[str, Any], question_id: str | None) -> bool:
    """Whether an answer that comes again finds a call which is to be begun, or whose result is to be sent, again."""
    if not item or "question_digest" not in item or item["work_status"]["S"] == CANCELLED:
        return False
    ids = [one for one, _ in _answers(item)]
    return item["work_status"]["S"] == DONE or (bool(ids) and question_id in (None, *ids))


def _unavailable(action: str, error: Exception) -> StoreUnavailable:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
    return StoreUnavailable(f"{action}: {code}")


def _part_key(call_id: str, digest: str, number: int) -> str:
    return f"{call_id}#{digest}#{number}"


def _epoch_ms(instant: datetime) -> dict[str, str]:
    return {"N": str(round(instant.timestamp() * 1000))}


def _expiry(now: datetime) -> dict[str, str]:
    """Epoch seconds, as TTL takes them."""
    return {"N": str(math.ceil((now + KEPT_FOR).timestamp()))}
