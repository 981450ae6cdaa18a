"""From what is stored of a state to the state of a slice, and from there to what a commit records. Pure functions.

Only own fields are stored, and only what changed of them; what is stored and the type does not know is kept.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from core.sources import Source
from core.state.edits import Edit, edits_between
from core.state.rebuilt import AppMessage, Rebuilt, ThreadView
from core.state.shape import Shape, StateUnfit, author_code
from core.text import canonical_json, same_json


@dataclass(frozen=True, slots=True)
class BuiltState:
    """A thread's state for the tools of a slice. `value` is theirs to change; the rest tells later what they did."""

    value: Any
    shape: Shape
    view: ThreadView
    stored: dict[str, Any]
    upgraded: dict[str, Any]
    baseline: dict[str, Any]
    """The own fields of `value` as it was built, defaults included."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """What tools did to a state, by where it is kept."""

    edits: tuple[Edit, ...] = ()
    """Of what is stored."""
    app: tuple[AppMessage, ...] = ()
    """New entries of kind `app`."""
    sources: tuple[Source, ...] = ()
    """To collect in the thread."""


def build_state(
    state_type: type[Any] | None, stored: Mapping[str, Any] | None, view: ThreadView
) -> BuiltState:
    """The state of a thread; `stored` is None or empty before anything was. Raises StateUnfit if it fits no more."""
    shape = Shape(state_type)
    kept = deepcopy(dict(stored or {}))
    upgraded = shape.upgraded(kept)
    state = shape.read({key: value for key, value in upgraded.items() if shape.knows(key)})
    baseline = shape.write(state)
    return BuiltState(shape.with_views(state, view), shape, view, kept, upgraded, baseline)


def state_change(built: BuiltState) -> StateChange:
    """What became of a built state. Raises StateUnfit if it fits its type no more, or a view was rewritten."""
    added: dict[str, list[Any]] = {"app": [], "sources": []}
    with author_code():
        for name, field in built.shape.rebuilt.items():
            new = _added(name, field, field.show(built.view), getattr(built.value, name))
            if field.adds is not None:
                added[field.adds] += new
        app = tuple(AppMessage.of(message.role, message.content) for message in added["app"])
        sources = tuple(Source.noted(one.url, one.title, one.snippet) for one in added["sources"])
    return StateChange(_edits(built, built.shape.write(built.value)), app, sources)


def _added(name: str, field: Rebuilt, shown: Any, now: Any) -> list[Any]:
    """What an author added to a view. Raises StateUnfit for anything else that was done to it."""
    if field.adds is None:
        _require(shown == now, f"{name} is a view of the thread: what is put there is not kept")
        return []
    _require(
        isinstance(now, list) and now[: len(shown)] == shown,
        f"{name} only grows: what the thread has already cannot be changed or removed",
    )
    kind: type[Any] = AppMessage if field.adds == "app" else Source
    new: list[Any] = now[len(shown) :]
    _require(all(isinstance(item, kind) for item in new), f"{name} holds {kind.__name__}s only")
    return new


def patched(
    state_type: type[Any] | None, stored: Mapping[str, Any] | None, patch: Mapping[str, Any]
) -> tuple[Edit, ...]:
    """The edits of a JSON merge patch (RFC 7386) of the own fields. Raises StateUnfit if it does not fit."""
    built = build_state(state_type, stored, ThreadView())
    for key in patch:
        _require(key not in built.shape.rebuilt, f"{key!r} is a view of the thread, and not patched")
        _require(built.shape.knows(key), f"the state has no field {key!r}")
    state = built.shape.read(merged(built.baseline, patch))
    return _edits(built, built.shape.write(state))


def merged(target: Any, patch: Any) -> Any:
    """What a JSON merge patch makes of `target`: null removes, objects merge, all else replaces. A copy."""
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    result = deepcopy(dict(target)) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _edits(built: BuiltState, own: dict[str, Any]) -> tuple[Edit, ...]:
    """None if nothing changed, even where the stored shape is an older one."""
    if same_json(built.baseline, own):
        return ()
    return edits_between(built.stored, _laid_over(built.upgraded, built.baseline, own))


def _laid_over(stored: Any, baseline: Any, own: Any) -> Any:
    """`own`, with what is stored and was not read: unknown keys at any depth, and what did not change as it stands."""
    if same_json(baseline, own):
        return stored
    match stored, baseline, own:
        case dict(), dict(), dict():
            return _object_over(stored, baseline, own)
        case list(), list(), list() if _was_read(stored, baseline):
            return _list_over(stored, baseline, own)
        case _:
            return own


def _object_over(stored: dict[str, Any], baseline: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in stored.items() if key in own or key not in baseline}
    for key, value in own.items():
        known = key in stored and key in baseline
        kept[key] = _laid_over(stored[key], baseline[key], value) if known else value
    return kept


def _list_over(stored: list[Any], baseline: list[Any], own: list[Any]) -> list[Any]:
    """An item that did not change stays as it is stored, wherever it stands now. Where as many stand as stood there
    before, they are taken for the same, changed.
    """
    known, now = [*map(canonical_json, baseline)], [*map(canonical_json, own)]
    if _none_moved(known, now):
        return [*map(_laid_over, stored, baseline, own)]
    matched = SequenceMatcher(None, known, now)
    kept: list[Any] = []
    for what, start, end, first, last in matched.get_opcodes():
        if what == "equal":
            kept += stored[start:end]
        elif end - start == last - first:
            kept += map(_laid_over, stored[start:end], baseline[start:end], own[first:last])
        else:
            kept += own[first:last]
    return kept


def _none_moved(known: list[str], now: list[str]) -> bool:
    """Whether items were changed only where they stand. Looking for what moved takes time by the square of that."""
    if len(known) != len(now):
        return False
    changed = [(old, new) for old, new in zip(known, now, strict=True) if old != new]
    return {old for old, _ in changed}.isdisjoint(new for _, new in changed)


def _was_read(stored: Any, baseline: Any) -> bool:
    """Whether `baseline` is `stored` with defaults, and without what is unknown. A set gives its items in any order."""
    match stored, baseline:
        case dict(), dict():
            return all(_was_read(stored[key], baseline[key]) for key in stored.keys() & baseline.keys())
        case list(), list():
            return len(stored) == len(baseline) and all(map(_was_read, stored, baseline))
        case _:
            return same_json(stored, baseline)


def _require(holds: object, what: str) -> None:
    if not holds:
        raise StateUnfit(what)
