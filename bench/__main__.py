"""`python -m bench`: what a cold start and a slice cost on this machine."""

from bench.import_time import import_seconds
from bench.slice_time import slice_seconds

if __name__ == "__main__":
    base, ours = import_seconds()
    print(f"import of aioboto3 and pydantic          {base * 1000:7.0f} ms")
    print(f"import of handlers.agent on top of it    {ours * 1000:7.0f} ms   (at most 250)")
    for turns in (10, 500):
        print(f"text slice after {turns:4} turns, in memory    {slice_seconds(turns) * 1000:7.2f} ms")
