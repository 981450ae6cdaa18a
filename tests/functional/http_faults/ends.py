"""How a run ended: histories and outputs of all its threads, in words that are the same for runs with other ids and
other instants.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from typing import Any

Json = dict[str, Any]

_DERIVED = frozenset({"at", "message_id", "output_id", "created_at", "expires_at"})
"""Instants, and digests of what differs from run to run."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


@dataclass(frozen=True)
class End:
    """By thread, entries and output messages; results that stand together are in call order, since workers answer in
    any order."""

    histories: Mapping[str, Sequence[Json]]
    outputs: Mapping[str, Sequence[Json]]

    def without_order_of_outputs(self) -> "End":
        """A queue that takes a later message of a batch and not an earlier one changes their order."""
        return End(
            self.histories, {name: sorted(sent, key=json.dumps) for name, sent in self.outputs.items()}
        )


def end_of(roots: Mapping[str, str], histories: Mapping[str, Sequence[Json]], outputs: Iterable[Json]) -> End:
    """`roots`: what root threads are called here, by their ids. Outputs that came twice count once."""
    once = {output["output_id"]: output for output in outputs}
    names = _names(roots, histories)
    told: dict[str, list[Json]] = {}
    for output in once.values():
        told.setdefault(names[output["thread_id"]], []).append(output)
    names |= _calls(names, histories)
    return End(
        {names[thread_id]: _results_sorted(_renamed(found, names)) for thread_id, found in histories.items()},
        {name: _renamed(found, names) for name, found in told.items()},
    )


def _names(roots: Mapping[str, str], histories: Mapping[str, Sequence[Json]]) -> dict[str, str]:
    """Children are numbered as they appear in their trees; compactions appear nowhere, and stand behind the others."""
    names, order = dict(roots), [thread_id for thread_id in roots if thread_id in histories]
    for thread_id in order:
        text = json.dumps(histories[thread_id])
        order += _new(re.findall(r"[a-z]+-\d+~[a-z2-7]+", text), order, histories)
    order += sorted(_new(histories, order, histories), key=lambda one: json.dumps(_bare(histories[one])))
    numbers = count(1)
    return names | {one: f"child {next(numbers)}" for one in order if one not in names}


def _new(found: Iterable[str], order: Sequence[str], histories: Mapping[str, Sequence[Json]]) -> list[str]:
    return [one for one in dict.fromkeys(found) if one in histories and one not in order]


def _bare(entries: Sequence[Json]) -> list[Any]:
    return [entry.get("content") or entry.get("text") for entry in entries]


def _calls(names: Mapping[str, str], histories: Mapping[str, Sequence[Json]]) -> dict[str, str]:
    """What calls are called, by their ids."""
    called: dict[str, str] = {}
    for thread_id, name in names.items():
        for number, entry in enumerate(histories.get(thread_id, ())):
            if entry["kind"] in ("tool_call", "event"):
                called.setdefault(entry["call_id"], f"call of {name} at {number}")
    return called


def _renamed(values: Iterable[Json], names: Mapping[str, str]) -> list[Json]:
    lasting = [{key: item for key, item in value.items() if key not in _DERIVED} for value in values]
    text = _INSTANT.sub("an instant", json.dumps(lasting))
    for one in sorted(names, key=len, reverse=True):
        text = text.replace(one, names[one])
    renamed: list[Json] = json.loads(text)
    return [_citations_sorted(value) for value in renamed]


def _citations_sorted(value: Json) -> Json:
    """They stand in the order in which results came."""
    if "citations" not in value:
        return value
    return {**value, "citations": sorted(value["citations"], key=json.dumps)}


def _results_sorted(entries: Iterable[Json]) -> list[Json]:
    found: list[Json] = []
    for is_result, run in groupby(entries, lambda entry: entry["kind"] == "tool_result"):
        without_seq = [{key: item for key, item in entry.items() if key != "seq"} for entry in run]
        found += sorted(without_seq, key=lambda entry: str(entry["call_id"])) if is_result else without_seq
    return found
