"""Edits: what of a JSON object changed, so that a commit records a change and not the whole (invariant *bounded*).

`apply_edits(old, edits_between(old, new))` is `new`. Pure; the fold applies what a commit recorded.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field

from core.blocks import Value
from core.text import canonical_json, same_json

Path = tuple[str | int, ...]


class _Edit(Value):
    path: Path
    """Keys and list positions from the object down. Not empty."""


class SetAt(_Edit):
    op: Literal["set"] = "set"
    value: Any = None


class RemoveAt(_Edit):
    """The last of `path` is a key."""

    op: Literal["remove"] = "remove"


class AppendAt(_Edit):
    """The list at `path` grew by these."""

    op: Literal["append"] = "append"
    items: tuple[Any, ...]


class ExtendAt(_Edit):
    """The text at `path` went on."""

    op: Literal["extend"] = "extend"
    text: str


Edit = Annotated[SetAt | RemoveAt | AppendAt | ExtendAt, Field(discriminator="op")]


def edits_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Edit, ...]:
    """The edits that make `new` of `old`. None if they are the same; 1, 1.0 and true are not."""
    return tuple(_in_object(dict(old), dict(new), ()))


def apply_edits(old: Mapping[str, Any], edits: Sequence[Edit]) -> dict[str, Any]:
    """What the edits make of `old`, which stays as it is. Parts that did not change are shared: change neither."""
    root = dict(old)
    for edit in edits:
        root = _edited(root, edit, edit.path)
    return root


def _between(old: Any, new: Any, path: Path) -> list[Edit]:
    """Whichever is shorter: the edits inside, or the new value whole."""
    if same_json(old, new):
        return []
    whole: list[Edit] = [SetAt(path=path, value=deepcopy(new))]
    match old, new:
        case dict(), dict():
            inside = _in_object(old, new, path)
        case list(), list() if len(old) <= len(new):
            inside = _in_list(old, new, path)
        case str(), str() if old and new.startswith(old):
            inside = [ExtendAt(path=path, text=new[len(old) :])]
        case _:
            return whole
    return inside if _size(inside) < _size(whole) else whole


def _in_object(old: dict[str, Any], new: dict[str, Any], path: Path) -> list[Edit]:
    edits: list[Edit] = [RemoveAt(path=(*path, key)) for key in old if key not in new]
    for key, value in new.items():
        if key in old:
            edits += _between(old[key], value, (*path, key))
        else:
            edits.append(SetAt(path=(*path, key), value=deepcopy(value)))
    return edits


def _in_list(old: list[Any], new: list[Any], path: Path) -> list[Edit]:
    edits = [edit for index, value in enumerate(old) for edit in _between(value, new[index], (*path, index))]
    if len(new) > len(old):
        edits.append(AppendAt(path=path, items=tuple(deepcopy(new[len(old) :]))))
    return edits


def _size(edits: Sequence[Edit]) -> int:
    return sum(len(canonical_json(edit.to_json())) for edit in edits)


def _edited(holder: Any, edit: Edit, path: Path) -> Any:
    """The object or list, copied along the path only: a fold makes many small edits of what may be large."""
    copy: Any = dict(holder) if isinstance(holder, dict) else list(holder)
    step: Any = path[0]
    if len(path) > 1:
        copy[step] = _edited(holder[step], edit, path[1:])
        return copy
    match edit:
        case SetAt(value=value):
            copy[step] = value
        case RemoveAt():
            del copy[step]
        case AppendAt(items=items):
            copy[step] = [*holder[step], *items]
        case ExtendAt(text=text):
            copy[step] += text
        case _:
            assert_never(edit)
    return copy
