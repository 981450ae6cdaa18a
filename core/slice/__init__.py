"""A slice: one visit to a thread. The core decides, this shell acts through the ports.

`run_slice` is the one way in, for the agent handler and the dead-letter handler alike.
"""

from core.slice.ports import SlicePorts
from core.slice.run import SliceReport, run_slice

__all__ = ["SlicePorts", "SliceReport", "run_slice"]
