"""`EventSource`: feeds one queue to one function as Lambda's event source mapping does.

moto's own redelivery puts a FIFO group out of order and waits by the machine's clock, so messages are taken from it
once, kept here in order until they are done, and due, retried and dead-lettered by the local clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Protocol

from core.clock import Clock
from core.errors import TorporError
from core.ids import digest
from infra.local.arrivals import Arrivals
from infra.local.records import Facts, failed_ids, from_epoch_ms, lambda_event, lambda_record

NEVER_SECONDS = 43_200
"""The longest visibility timeout of SQS: moto never gives a message out twice."""
RECEIVE_BATCH = 10
DEDUPLICATION_WINDOW = timedelta(minutes=5)
HOPELESS_RECEIVES = 50
"""Of a message without a dead-letter queue; AWS would go on for 14 days."""

Invoke = Callable[[dict[str, Any]], tuple[Any, BaseException | None]]
"""Runs a function on an event: its response, or what it died of."""


class LocalStackError(TorporError):
    """The local stack cannot go on: what it runs fails again and again, or never comes to rest."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue as it was created."""

    name: str
    url: str
    arn: str
    fifo: bool = False
    visibility_timeout_seconds: int = 30
    dead_letters: "Queue | None" = None
    max_receive_count: int = 1

    @property
    def sqs_name(self) -> str:
        return self.url.rpartition("/")[2]


class Source(Protocol):
    """Something that sets the stack going when its time comes."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def arrivals_name(self) -> str:
        """`Arrivals` counts under this name what may have something to run."""
        ...

    def step(self) -> bool:
        """Run something that is due, if there is anything. False: nothing was."""
        ...

    def next_due_at(self) -> datetime | None:
        """When something can run, the past included; None if nothing waits."""
        ...

    def awaits_retry(self) -> bool:
        """Whether something that failed waits for its next try."""
        ...


@dataclass(slots=True)
class _Held:
    """A message that was taken from moto and is not done."""

    message: dict[str, Any]
    facts: Facts
    sequence: int
    visible_at: datetime
    receive_count: int

    @property
    def group(self) -> str | None:
        group: str | None = self.message["Attributes"].get("MessageGroupId")
        return group

    @property
    def receipt(self) -> str:
        """Of the newest receive: another receive has another."""
        return f"{self.message['ReceiptHandle']}#{self.receive_count}"


@dataclass
class EventSource:
    """One reader of one queue. `step` is called by one thread, `change_visibility` by any."""

    queue: Queue
    sqs: Any
    clock: Clock
    arrivals: Arrivals
    invoke: Invoke
    batch_size: int = 1
    retry_seconds: float | None = None
    """After which a failed message comes again at the latest; None: after its queue's visibility timeout."""
    last_death: BaseException | None = None
    """What the function died of, if its last invocation did."""
    _held: list[_Held] = field(default_factory=list)
    _remembered: dict[tuple[str, str], datetime] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _taken: int = 0
    _empty_at: int = -1
    """Messages the queue may have had when moto had none to give."""

    @property
    def name(self) -> str:
        return self.queue.name

    @property
    def arrivals_name(self) -> str:
        return self.queue.sqs_name

    def step(self) -> bool:
        """Run one batch of what is due, if there is any. False: nothing was due."""
        self._fetch()
        buried = self._bury()
        batch = self._next_batch()
        if batch:
            self._run(batch)
        return buried or bool(batch)

    def next_due_at(self) -> datetime | None:
        """When something that is held can run, the past included; None if nothing is held."""
        return min((held.visible_at for held in self._heads()), default=None)

    def awaits_retry(self) -> bool:
        """Whether a failed message waits for its visibility timeout."""
        return any(held.receive_count for held in self._held)

    def change_visibility(self, receipt: str, seconds: float) -> bool:
        """Make a held message visible in `seconds`. False if none has this receipt."""
        for held in list(self._held):
            if held.receipt == receipt:
                held.visible_at = self.clock.now() + timedelta(seconds=seconds)
                return True
        return False

    # ---- taking from moto

    def _fetch(self) -> None:
        while (sent := self.arrivals.count(self.queue.sqs_name)) > self._taken and sent != self._empty_at:
            answer = self.sqs.receive_message(
                QueueUrl=self.queue.url,
                MaxNumberOfMessages=RECEIVE_BATCH,
                VisibilityTimeout=NEVER_SECONDS,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
            messages = answer.get("Messages", [])
            self._taken += len(messages)
            for message in messages:
                self._take(message)
            if not messages:
                self._empty_at = sent

    def _take(self, message: dict[str, Any]) -> None:
        facts = Facts.of(message.get("MessageAttributes"))
        if self._is_repeat(message):
            self._delete(message)
            return
        due_at = from_epoch_ms(facts.due_at_ms) if facts.due_at_ms else self.clock.now()
        before = int(message["Attributes"]["ApproximateReceiveCount"]) - 1
        self._held.append(_Held(message, facts, next(self._numbers), due_at, facts.receive_count + before))

    def _is_repeat(self, message: dict[str, Any]) -> bool:
        """Whether SQS would have dropped it: moto forgets a deduplication id with its message."""
        if not self.queue.fifo:
            return False
        now, attributes = self.clock.now(), message["Attributes"]
        key = (attributes["MessageGroupId"], attributes["MessageDeduplicationId"])
        before = self._remembered.get(key)
        if before is not None and now - before < DEDUPLICATION_WINDOW:
            return True
        self._remembered[key] = now
        return False

    def _delete(self, message: dict[str, Any]) -> None:
        self.sqs.delete_message(QueueUrl=self.queue.url, ReceiptHandle=message["ReceiptHandle"])
        if self.queue.fifo:
            self._empty_at = -1  # moto gives out nothing of a group while a message of it is in flight

    # ---- running

    def _heads(self) -> Iterator[_Held]:
        """The messages that nothing stands before: all of a standard queue, the first of each FIFO group."""
        groups: set[str | None] = set()
        for held in self._held:
            if not self.queue.fifo or held.group not in groups:
                yield held
            groups.add(held.group)

    def _bury(self) -> bool:
        """Move what used up its receives to the dead-letter queue, once it is visible again. True if anything was."""
        target, now, buried = self.queue.dead_letters, self.clock.now(), False
        for held in list(self._heads()):
            if held.visible_at > now:
                continue
            if target is not None and self._is_used_up(held):
                self._move(held, target)
                buried = True
            elif target is None and held.receive_count >= HOPELESS_RECEIVES:
                raise LocalStackError(
                    f"{self.queue.name}: a dead letter failed {HOPELESS_RECEIVES} times; what it fails with is logged"
                ) from self.last_death
        return buried

    def _move(self, held: _Held, target: Queue) -> None:
        facts, attributes = held.facts, held.message["Attributes"]
        moved = Facts(
            sent_at_ms=facts.sent_at_ms or int(attributes["SentTimestamp"]),
            sender=facts.sender or attributes["SenderId"],
            message_id=facts.message_id or held.message["MessageId"],
            dedup_id=facts.dedup_id or attributes.get("MessageDeduplicationId"),
            receive_count=held.receive_count,
        )
        fifo = {
            "MessageGroupId": held.group,
            "MessageDeduplicationId": digest("dead", self.queue.name, held.receipt),
        }
        self.sqs.send_message(
            QueueUrl=target.url,
            MessageBody=held.message["Body"],
            MessageAttributes={**held.message.get("MessageAttributes", {}), **moved.attributes()},
            **(fifo if self.queue.fifo else {}),
        )
        self._done(held)

    def _next_batch(self) -> list[_Held]:
        """What is due, in order; of a FIFO group nothing behind a message that is not."""
        now, batch = self.clock.now(), list[_Held]()
        blocked: set[str | None] = set()
        for held in self._held:
            if self.queue.fifo and held.group in blocked:
                continue
            if held.visible_at > now or self._is_used_up(held):
                blocked.add(held.group)
                continue
            batch.append(held)
            if len(batch) == self.batch_size:
                break
        return batch

    def _is_used_up(self, held: _Held) -> bool:
        return self.queue.dead_letters is not None and held.receive_count >= self.queue.max_receive_count

    def _run(self, batch: list[_Held]) -> None:
        visible_at = self.clock.now() + timedelta(seconds=self.queue.visibility_timeout_seconds)
        records = []
        for held in batch:
            held.receive_count += 1
            held.visible_at = visible_at
            records.append(
                lambda_record(
                    held.message,
                    self.queue.arn,
                    receipt_handle=held.receipt,
                    receive_count=held.receive_count,
                    sequence=held.sequence if self.queue.fifo else None,
                )
            )
        response, self.last_death = self.invoke(lambda_event(records))
        failed = (
            failed_ids(response, records) if self.last_death is None else {r["messageId"] for r in records}
        )
        for held, record in zip(batch, records, strict=True):
            if record["messageId"] not in failed:
                self._done(held)
            elif self.retry_seconds is not None:
                retry_at = self.clock.now() + timedelta(seconds=self.retry_seconds)
                held.visible_at = min(held.visible_at, retry_at)

    def _done(self, held: _Held) -> None:
        self._held.remove(held)
        self._delete(held.message)
