"""Everything Torpor needs from the world, inside one process: for tests, the simulator and the local stack."""

from infra.memory.clock import MemoryClock
from infra.memory.store import MemoryStore

__all__ = ["MemoryClock", "MemoryStore"]
