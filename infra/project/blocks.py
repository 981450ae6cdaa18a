"""The workers of a template, as text: its comments and its order are its owner's, so no YAML is read or written.

A worker is a marked block (`# BEGIN worker NAME` … `# END worker NAME`) and its entries in JSON maps that functions
are told, such as TORPOR_WORKER_QUEUES: flat, in a folded `!Sub`, one entry a line. What a new worker looks like is
taken from one that is there, so the two cannot drift apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.errors import DefinitionError
from core.tools.names import check_worker_name

VISIBILITY_PER_TIMEOUT = 6
"""AWS's advice for event sources; a test of the template holds it."""
LEAST_TIMEOUT_SECONDS, MOST_TIMEOUT_SECONDS = 4, 900
"""3 s are the worker's own; the other is Lambda's bound."""
YAML_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML reads as something else than text."""

_BLOCK = re.compile(r"^  # BEGIN worker (?P<name>\S+)\n(?P<body>.*?)^  # END worker (?P=name)\n", re.M | re.S)
_MAP = re.compile(r"^(?P<indent> +)(?P<variable>TORPOR_\w+): !Sub >-\n(?P<body>(?:(?P=indent) +.*\n)+)", re.M)
_RESOURCES = re.compile(r"^Resources:\n(?:(?:[ #].*)?\n)*(?: .*\n)", re.M)
_NAMED = re.compile(r"\$\{(\w+)")
_LOGICAL_ID = re.compile(r"^  (\w+):$", re.M)


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker's block is made of."""

    name: str
    timeout_seconds: int

    def __post_init__(self) -> None:
        check_worker_name(self.name)
        if not self.name[0].isalpha() or self.name.lower() in YAML_WORDS:
            raise DefinitionError(
                f"worker name {self.name!r}: in a template it begins with a letter, and is no yes or no"
            )
        if not LEAST_TIMEOUT_SECONDS <= self.timeout_seconds <= MOST_TIMEOUT_SECONDS:
            raise DefinitionError(
                f"a worker's timeout is {LEAST_TIMEOUT_SECONDS} to {MOST_TIMEOUT_SECONDS} s, not {self.timeout_seconds}"
            )

    @property
    def prefix(self) -> str:
        """What its logical ids begin with: they have letters and digits only."""
        return logical_prefix(self.name)

    def like(self, text: str, other: "Worker") -> str:
        """Text about the other worker, told of this one."""
        text = re.sub(rf"\b{other.prefix}(?=[A-Z])", self.prefix, text)
        text = re.sub(rf"(?<![A-Za-z]){re.escape(other.name)}(?![A-Za-z])", self.name, text)
        for key, times in (("Timeout", 1), ("VisibilityTimeout", VISIBILITY_PER_TIMEOUT)):
            was, will_be = other.timeout_seconds * times, self.timeout_seconds * times
            text = re.sub(rf"^(\s+{key}): {was}$", rf"\1: {will_be}", text, count=1, flags=re.M)
        return text


def logical_prefix(worker: str) -> str:
    """What the logical ids of that worker begin with."""
    return "".join(part[:1].upper() + part[1:] for part in re.split("[_-]", worker))


def workers(template: str) -> dict[str, Worker]:
    """Those of a template, by name."""
    found = {}
    for block in _BLOCK.finditer(template):
        timeout = re.search(r"^ +Timeout: (\d+)$", block["body"], re.M)
        if timeout:
            found[block["name"]] = Worker(block["name"], int(timeout[1]))
    return found


def block_of(template: str, name: str) -> str:
    """A worker's block, markers included."""
    return next(block[0] for block in _BLOCK.finditer(template) if block["name"] == name)


def with_worker(template: str, new: Worker, model: str) -> str:
    """The template with one more worker, after the others; made like the first worker of the template `model`.

    Raises DefinitionError if it has this worker, has something else of its name, or a map that it belongs in is not
    there or has another form.
    """
    first = next(iter(workers(model).values()))
    block = new.like(block_of(model, first.name), first)
    if taken := set(_LOGICAL_ID.findall(block)) & set(_LOGICAL_ID.findall(template)):
        raise DefinitionError(f"worker {new.name!r}: the template has {sorted(taken)[0]} already")
    entries = {variable: new.like(entry, first) for variable, entry in _entries_of(model, first)}
    for variable in entries:
        _require_maps(template, variable)
    told = _MAP.sub(lambda found: _with_entry(found, entries.get(found["variable"])), template)
    at = _end_of_workers(told)
    return f"{told[:at]}\n{block}{told[at:]}"


def _require_maps(template: str, variable: str) -> None:
    """Raises DefinitionError unless functions are told this variable, each in the form that takes another entry."""
    stated = re.findall(rf"^ +{variable}:", template, re.M)
    maps = [found for found in _MAP.finditer(template) if found["variable"] == variable]
    if not maps or len(maps) < len(stated):
        raise DefinitionError(
            f"the template must tell functions {variable} by a `!Sub >-` of one line for each worker"
        )


def _end_of_workers(template: str) -> int:
    """Where another block goes: behind the last one, or the last resource. Raises DefinitionError without resources."""
    if ends := [found.end() for found in _BLOCK.finditer(template)]:
        return ends[-1]
    resources = _RESOURCES.search(template)
    if resources is None:
        raise DefinitionError("the template has no Resources")
    return resources.end()


def without_worker(template: str, name: str) -> str:
    """The template without a worker that it has."""
    block = block_of(template, name)
    cut = template.replace("\n" + block, "", 1)
    return _MAP.sub(lambda found: _map_of(found, [e for e in _listed(found) if not _is_of(e, block)]), cut)


def _entries_of(template: str, worker: Worker) -> Iterator[tuple[str, str]]:
    """Variable and entry, for each map that the worker is in."""
    block = block_of(template, worker.name)
    for found in _MAP.finditer(template):
        yield from ((found["variable"], entry) for entry in _listed(found) if _is_of(entry, block))


def _is_of(entry: str, block: str) -> bool:
    """Whether it names a resource of the block."""
    return not set(_NAMED.findall(entry)).isdisjoint(_LOGICAL_ID.findall(block))


def _listed(found: re.Match[str]) -> list[str]:
    """The map's entries, without the commas between."""
    inner = found["body"].strip().removeprefix("{").removesuffix("}")
    return [line.strip().rstrip(",") for line in inner.splitlines() if line.strip()]


def _with_entry(found: re.Match[str], entry: str | None) -> str:
    return found[0] if entry is None else _map_of(found, [*_listed(found), entry])


def _map_of(found: re.Match[str], entries: list[str]) -> str:
    margin = re.match(" *", found["body"])
    joined = f",\n{margin[0] if margin else ''}".join(entries)
    return f"{found['indent']}{found['variable']}: !Sub >-\n{margin[0] if margin else ''}{{{joined}}}\n"
