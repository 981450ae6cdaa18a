"""`python -m bench`: what a cold start, a slice, threads that only wait, and many at once cost on this machine."""

import logging

from bench.bare import bare_seconds
from bench.import_time import import_seconds
from bench.load import NAME, Load
from bench.sleeping import put_to_sleep
from bench.slice_time import slice_seconds
from bench.wire import watched

SLEEPERS = 10_000
THREADS = 60
PHASES = ("load", "settle", "accept", "round", "model", "commit", "dispatch", "slice")
"""`model` is part of `round`, and all are of `slice`."""


def print_imports() -> None:
    base, ours = import_seconds()
    print(f"import of aioboto3 and pydantic          {base * 1000:7.0f} ms")
    print(f"import of handlers.agent on top of it    {ours * 1000:7.0f} ms   (at most 250)")


def print_slices() -> None:
    for turns in (10, 500):
        whole, load = (1000 * seconds for seconds in slice_seconds(turns))
        name = f"text slice after {turns:4} turns, in memory"
        print(f"{name:41}{whole:7.2f} ms   ({load:.2f} to load: this store folds the whole log)")


def print_sleepers() -> None:
    asleep = put_to_sleep(SLEEPERS)
    size, each_ms = asleep.commit_bytes // asleep.commits, asleep.seconds_each * 1000
    print(
        f"{SLEEPERS} threads asleep                    {each_ms:7.2f} ms each to fall asleep; then they are"
    )
    print(
        f"  {asleep.commits} commits of {size} bytes, {asleep.schedules} schedules, {asleep.messages} messages"
    )


def print_load() -> None:
    """By phase, and beside it the bare cost of the same requests."""
    logging.getLogger("torpor.local").setLevel(logging.CRITICAL)
    with watched(keeps_raw=True) as wire, Load() as load:
        wire.raw.clear()
        load.run(THREADS)
        bare = bare_seconds(load.local.endpoint_url, wire.raw, instead_of=NAME, name="bare")
        requests = len(wire.raw)
    rate = load.in_time / load.seconds
    print(
        f"{THREADS} threads every message twice, half with a call, a quarter with a child, on the local stack:"
    )
    print(
        f"  {load.in_time} slices in {load.seconds:.1f} s, {rate:.0f} a second; then {len(load.slices)} in all"
    )
    for phase in PHASES:
        half, most = (1000 * load.percentile(phase, share) for share in (0.5, 0.95))
        print(f"  {phase:10} median {half:7.1f} ms   95 % within {most:7.1f} ms")
    each, taken = 1000 * bare / len(load.slices), sum(one["slice"] for one in load.slices)
    print(f"  all slices together {taken:.1f} s, {1000 * taken / len(load.slices):.0f} ms each")
    print(
        f"  all {requests} requests again, bare: {bare:.1f} s, {1000 * bare / requests:.1f} ms each, {each:.0f} a slice"
    )


if __name__ == "__main__":
    print_imports()
    print_slices()
    print_sleepers()
    print_load()
