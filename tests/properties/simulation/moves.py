"""What can happen next in a world: the calm move, and every other.

Calm is a system without faults and without haste: one invocation at a time, from its delivery to its acknowledgement;
time passes only when nothing else can happen.
"""

from collections.abc import Callable, Iterator
from functools import partial

from .choosing import Option
from .points import Crash, Faults, Gate, Invocation
from .queues import COMMANDS
from .world import World

BATCH = 10
OUTAGES_SECONDS = (60, 1200)


def calm_move(world: World) -> Option | None:
    """What a quiet system does next; None when it is at rest for good."""
    gates = waiting_gates(world)
    speaks = may_speak(world, quiet=not gates)
    if speaks and world.setup.eager_client:
        return _say(world)
    if gates:
        return _go(world, gates[-1 if world.setup.newest_first else 0])
    for queue in world.queues.sources:
        if world.queues.is_waiting(queue):
            return _deliver(world, queue, world.setup.batch)
    if speaks:
        return _say(world)
    if world.next_instant() is not None:
        return Option("advance", "to the next instant", world.advance)
    for who in world.running:
        if who.life == "stalled":
            return Option("wake", who.name, partial(world.wake, who))
    return None


def waiting_gates(world: World) -> list[Gate]:
    """Where running invocations wait."""
    waiting = (gate for gate in world.gates if not gate.opened.done())
    return [gate for gate in waiting if gate.who.life in ("running", "done")]


def may_speak(world: World, quiet: bool) -> bool:
    """Whether the client has something to say now."""
    if world.said == len(world.scenario.says):
        return False
    quiet = quiet and not any(world.queues.is_waiting(queue) for queue in world.queues.sources)
    return world.scenario.says[world.said].when(world.situation(quiet))


def other_moves(world: World) -> Iterator[Option]:
    """Everything else that can happen, faults included."""
    gates = waiting_gates(world)
    for gate in gates:
        yield _go(world, gate)
        yield from _faults(world, gate)
    if may_speak(world, quiet=not gates):
        yield _say(world)
    for queue in world.queues.sources:
        if world.queues.is_waiting(queue):
            yield _deliver(world, queue, 1)
            yield _deliver(world, queue, BATCH)
            if queue != "input":
                yield Option("reorder", queue, partial(world.queues.reorder, queue))
    if world.next_instant() is not None:
        yield Option("advance", "to the next instant", world.advance)
    for who in world.running:
        if who.life == "stalled":
            yield Option("wake", who.name, partial(world.wake, who))
    yield from _outages(world)
    for number, message in list(enumerate(world.queues.sent))[world.old :]:
        if world.can_come_again(message):
            yield Option("repeat", f"message {number}", partial(_repeat, world, number))
        if message.queue == "delay":
            yield Option("early", f"message {number}", partial(_early, world, number))


def _faults(world: World, gate: Gate) -> Iterator[Option]:
    if gate.who.life == "running":
        yield Option("crash", str(gate), partial(world.kill, gate.who))
        yield Option("stall", str(gate), partial(world.stall, gate.who))
    for fault in gate.faults:
        yield Option(fault, str(gate), partial(world.fail, gate, fault))


def _outages(world: World) -> Iterator[Option]:
    queues = [queue for queue in world.queues.sources if not queue.endswith("-dead") and queue != COMMANDS]
    sends = [f"send {queue}" for queue in (*queues, "output")]
    for port in ("store", "model", "work", *sends):
        for seconds in OUTAGES_SECONDS:
            what = f"{port} for {seconds} s"
            yield Option("break", what, partial(world.break_down, port, "fail", seconds))
    for send in sends:
        yield Option("deny", f"{send} for 60 s", partial(world.break_down, send, "refuse", 60))


def on_the_spot(who: Invocation, place: str, faults: Faults) -> tuple[Option, list[Option]]:
    """The calm option and the others at a point that cannot wait. Acting on a fault raises it."""
    what = f"{who.name} {place}"
    others = [Option("crash", what, _crash)]
    others += [Option(name, what, partial(_raise, fault)) for name, fault in faults.items()]
    return Option("go", what, _nothing, ("crash", *faults)), others


def _crash() -> None:
    raise Crash


def _raise(fault: Callable[[], Exception]) -> None:
    raise fault()


def _nothing() -> None:
    return None


def _go(world: World, gate: Gate) -> Option:
    faults = ("crash", "stall", *gate.faults) if gate.who.life == "running" else tuple(gate.faults)
    return Option("go", str(gate), partial(world.open, gate), faults)


def _say(world: World) -> Option:
    return Option("say", world.scenario.says[world.said].body["message_id"], world.say)


def _deliver(world: World, queue: str, most: int) -> Option:
    return Option("deliver", f"{queue} up to {most}", partial(world.deliver, queue, most))


def _repeat(world: World, number: int) -> None:
    world.repeats += 1
    world.queues.repeat(world.queues.sent[number], world.repeats)


def _early(world: World, number: int) -> None:
    """A timer fires before it is due."""
    world.repeats += 1
    message = world.queues.sent[number]
    world.queues.send("input", message.body, group=message.thread_id, dedup_id=f"early-{world.repeats}")
