"""The faults of one HTTP request, and which request of a run they strike."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock

from .asked import Asked
from .parts import can_be_partial

LASTING = 10
"""More than a slice tries a request, less than all deliveries of a message together."""
LASTING_FOR_WORKERS = 4
"""The same for synchronous clients, which try three times; a worker's message comes again so late that after a third
delivery its call is past its deadline."""


class Fault(Enum):
    """The value is for people."""

    RESET_BEFORE = "connection reset before the request was read"
    RESET_AFTER = "connection reset after the request took effect"
    CUT_OFF = "connection reset in the middle of the answer"
    BROKEN = "broken inside"
    BROKEN_AFTER = "broken inside, but it was done"
    UNAVAILABLE = "503 of something before the service"
    THROTTLED = "throttled"
    IN_PART = "done in part"
    SLOW = "answered when nobody waits any more"

    def strikes(self, request: Asked) -> bool:
        """Whether this can happen to the request, and is not the same as another fault of it."""
        match self:
            case Fault.IN_PART:
                return can_be_partial(request)
            case Fault.RESET_AFTER | Fault.BROKEN_AFTER:
                return not request.is_read
            case _:
                return True


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault, and whom it meets: so many requests of a name, from a certain one on."""

    fault: Fault
    request: str
    number: int
    """Counted from 1."""
    times: int = 1

    def __str__(self) -> str:
        return f"{self.request} no. {self.number}, {self.times} times: {self.fault.value}"


def strikes_of(asked: Counter[str], possible: set[tuple[str, Fault]]) -> list[Strike]:
    """Every fault at every request of a run that asked so: once, and those that may go on as long as they last."""
    met = sorted((name, fault.name) for name, fault in possible if name in asked)
    faults = [(name, number, Fault[fault]) for name, fault in met for number in range(1, asked[name] + 1)]
    once = [Strike(fault, name, number) for name, number, fault in faults]
    goes_on = (Fault.THROTTLED, Fault.BROKEN_AFTER)
    return once + [
        Strike(fault, name, number, _lasting(name)) for name, number, fault in faults if fault in goes_on
    ]


def _lasting(request: str) -> int:
    by_a_worker = request.endswith(" work") or request.startswith("SendMessage ")
    return LASTING_FOR_WORKERS if by_a_worker else LASTING


@dataclass
class Plan:
    """What strikes now, and what was asked so far. For any thread."""

    asked: Counter[str] = field(default_factory=Counter)
    possible: set[tuple[str, Fault]] = field(default_factory=set)
    struck: int = 0
    groups: set[str] = field(default_factory=set)
    """Threads that somebody was sent something for."""
    _strike: Strike | None = None
    _looks_away: bool = False
    _lock: Lock = field(default_factory=Lock)

    def aim(self, strike: Strike | None) -> None:
        """From now on, everything counted anew."""
        with self._lock:
            self._strike, self.struck = strike, 0
            self.asked.clear()
            self.groups.clear()

    @contextmanager
    def looking_away(self) -> Iterator[None]:
        """What is asked meanwhile is neither counted nor struck."""
        self._looks_away = True
        try:
            yield
        finally:
            self._looks_away = False

    def meets(self, request: Asked) -> Fault | None:
        """What happens to this request."""
        if self._looks_away:
            return None
        with self._lock:
            self.asked[request.name] += 1
            self.possible |= {(request.name, fault) for fault in Fault if fault.strikes(request)}
            if request.operation.startswith("SendMessage"):
                entries = request.fields.get("Entries", [request.fields])
                self.groups |= {entry["MessageGroupId"] for entry in entries if "MessageGroupId" in entry}
            strike = self._strike
            if strike is None or request.name != strike.request:
                return None
            if not 0 <= self.asked[request.name] - strike.number < strike.times:
                return None
            if not strike.fault.strikes(request):
                return None
            self.struck += 1
            return strike.fault
