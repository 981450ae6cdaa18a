"""What the world remembers: the log, the tip, the markers, what was sent, what was acknowledged.

These are the only things that outlive an invocation, so they are all that a property may speak of. The model keeps of
storage.md's items only what the protocol turns on: a commit has no entries, a message no body, a marker no digest.

Two fields keep more than DynamoDB does, so that damage stays visible. `log` holds every commit that was ever written,
in the order of writing: a commit written over another stands *behind* it, with the same number. And `sent` holds every
message that ever left; a receiver drops repeats by id, so sending one twice is no event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Input = str


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """A message of an outbox, by the id it keeps for life: the commit that first promised it, and its position."""

    commit: int
    position: int


@dataclass(frozen=True, slots=True, order=True)
class Marker:
    """`MSG#…`: this commit consumed this input."""

    input: Input
    commit: int


@dataclass(frozen=True, slots=True)
class Tip:
    """`TIP`: the last settled commit, and the commit from whose time the thread's expiry is counted."""

    number: int
    expiry_from: int


@dataclass(frozen=True, slots=True)
class Commit:
    """`C#…`: one round's work. `outbox` includes what it carries for the commit before it."""

    number: int
    consumed: frozenset[Input]
    outbox: frozenset[Message]

    @property
    def markers(self) -> frozenset[Marker]:
        return frozenset(Marker(input, self.number) for input in self.consumed)


@dataclass(frozen=True, slots=True)
class Store:
    """Everything durable about one thread, its queue's acknowledgements included."""

    log: tuple[Commit, ...] = ()
    tip: Tip = Tip(0, 0)
    markers: frozenset[Marker] = frozenset()
    sent: frozenset[Message] = frozenset()
    acknowledged: frozenset[Input] = frozenset()

    @property
    def newest(self) -> Commit | None:
        return self.log[-1] if self.log else None

    def unconfirmed(self, commit: Commit) -> frozenset[Message | Marker]:
        """What is still to be sent and written of a commit before the tip may move to it."""
        return (commit.outbox - self.sent) | (commit.markers - self.markers)

    def confirm(self, fact: Message | Marker) -> Store:
        """The store once this message is sent or this marker written. Idempotent."""
        match fact:
            case Message():
                return replace(self, sent=self.sent | {fact})
            case Marker():
                return replace(self, markers=self.markers | {fact})

    def acknowledge(self, input: Input) -> Store:
        """The store once this input is deleted from its queue. Idempotent."""
        return replace(self, acknowledged=self.acknowledged | {input})
