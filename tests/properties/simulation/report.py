"""Saying what happened: the command that replays a run, its story, and what a set of runs covered."""

import shlex
from collections import Counter
from dataclasses import dataclass, field

from .choosing import FAULTS
from .run import Outcome
from .world import Setup


def setup_name(setup: Setup) -> str:
    """A setup as one word."""
    order = "last" if setup.newest_first else "first"
    client = "eager" if setup.eager_client else "lazy"
    end = "later" if setup.days_later else "end"
    return f"{order},{client},{setup.batch},{setup.visibility_seconds:g},{end}"


def setup_of(name: str) -> Setup:
    """The setup of a word."""
    order, client, batch, visibility, end = name.split(",")
    return Setup(order == "last", client == "eager", int(batch), float(visibility), end == "later")


def command(outcome: Outcome) -> str:
    """What to type to see this run again."""
    deviations = map(str, outcome.deviations)
    words = [outcome.scenario.name, setup_name(outcome.setup), *deviations]
    return shlex.join(["python", "-m", "tests.properties.simulation", *words])


def story(outcome: Outcome) -> str:
    """Every decision, the deviations marked; then what the log holds, and what is broken."""
    lines = [
        f"{'*' if decision.deviates else ' '} {number:4} {decision.taken}"
        for number, decision in enumerate(outcome.decisions)
    ]
    for thread in outcome.facts.threads.values():
        for commit in thread.commits:
            entries = [f"{entry['seq']} {entry['kind']}" for entry in commit.entries]
            outbox = [promise.kind for promise in commit.promises]
            changes = [change["op"] for change in commit.changes]
            lines.append(
                f"{thread.thread_id} commit {commit.number} by {commit.by} at {commit.at:%dT%H:%M:%S}:"
            )
            lines.append(f"    took {list(commit.consumed)}, entries {entries}")
            lines.append(f"    changes {changes}, outbox {outbox}")
        lines.append(f"{thread.thread_id} tip {thread.tip}")
    return "\n".join([*lines, *(f"BROKEN {violation}" for violation in outcome.broken), ""])


def failure(outcome: Outcome) -> str:
    """What is broken and how to see it."""
    return "\n".join([*outcome.broken, command(outcome)])


@dataclass(slots=True)
class Coverage:
    """What a set of runs has been through."""

    runs: int = 0
    decisions: int = 0
    deviations: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    """Faults by function, port call and stage."""
    states: Counter[str] = field(default_factory=Counter)
    """What threads were like when a fault struck."""

    def add(self, outcome: Outcome) -> None:
        """One more run."""
        self.runs += 1
        self.decisions += len(outcome.decisions)
        for decision in outcome.decisions:
            if decision.deviates:
                kind, _, what = decision.taken.partition(" ")
                self.deviations[kind] += 1
                if kind in FAULTS:
                    self.points[f"{kind:6} {place_of(what)}"] += 1
                    self.states[decision.state] += 1

    def join(self, other: "Coverage") -> None:
        """Take in what another set went through."""
        self.runs += other.runs
        self.decisions += other.decisions
        self.deviations += other.deviations
        self.points += other.points
        self.states += other.states

    def lines(self) -> list[str]:
        """The report."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.deviations.items()))
        lines = [f"{self.runs} runs, {self.decisions} decisions; deviations: {kinds}"]
        for title, counts in (("faults by place", self.points), ("faults by state", self.states)):
            lines.append(f"{title}: {len(counts)}")
            lines += [f"{count:8} {what}" for what, count in sorted(counts.items())]
        return lines


def place_of(what: str) -> str:
    """The function, call and stage of a point, without numbers."""
    if " for " in what:
        return what
    who, _, place = what.partition(" ")
    call, _, stage = place.rpartition(" ")
    return f"{who.partition('#')[0]} {call.partition('#')[0]} {stage}"
