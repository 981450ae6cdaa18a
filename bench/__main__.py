"""`python -m bench`: what a cold start, a slice and threads that only wait cost on this machine."""

from bench.import_time import import_seconds
from bench.sleeping import put_to_sleep
from bench.slice_time import slice_seconds

SLEEPERS = 10_000

if __name__ == "__main__":
    base, ours = import_seconds()
    print(f"import of aioboto3 and pydantic          {base * 1000:7.0f} ms")
    print(f"import of handlers.agent on top of it    {ours * 1000:7.0f} ms   (at most 250)")
    for turns in (10, 500):
        print(f"text slice after {turns:4} turns, in memory    {slice_seconds(turns) * 1000:7.2f} ms")
    asleep = put_to_sleep(SLEEPERS)
    size, each_ms = asleep.commit_bytes // asleep.commits, asleep.seconds_each * 1000
    print(
        f"{SLEEPERS} threads asleep                    {each_ms:7.2f} ms each to fall asleep; then they are"
    )
    print(
        f"  {asleep.commits} commits of {size} bytes, {asleep.schedules} schedules, {asleep.messages} messages"
    )
