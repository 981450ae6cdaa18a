"""The import part of a cold start, each run in a fresh interpreter."""

import subprocess
import sys
from statistics import median

RUNS = 7
PROGRAM = """
from time import perf_counter
start = perf_counter()
import aioboto3, pydantic
from pydantic import BaseModel, TypeAdapter
class Probe(BaseModel):
    x: int
base = perf_counter()
import handlers.agent
print(base - start, perf_counter() - base)
"""


def import_seconds() -> tuple[float, float]:
    """Median seconds of (aioboto3 and pydantic, `handlers.agent` on top of them)."""
    runs = [_run() for _ in range(RUNS)]
    return median(base for base, _ in runs), median(ours for _, ours in runs)


def _run() -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    base, ours = done.stdout.split()
    return float(base), float(ours)
