"""Everything Torpor needs from the world, inside one process: for tests, the simulator and the local stack."""

from infra.memory.clock import MemoryClock
from infra.memory.dispatcher import MemoryDispatcher, MemorySender
from infra.memory.queues import MemoryQueues, QueueSettings
from infra.memory.schedules import MemorySchedule, MemorySchedules
from infra.memory.store import MemoryStore

__all__ = [
    "MemoryClock",
    "MemoryDispatcher",
    "MemoryQueues",
    "MemorySchedule",
    "MemorySchedules",
    "MemorySender",
    "MemoryStore",
    "QueueSettings",
]
