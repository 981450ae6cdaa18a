"""JSON that cannot be changed: what an append-only list of messages hands out."""

from typing import Any, NoReturn


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("this is part of a message, which nobody can change: make a copy")


class FrozenDict(dict[str, Any]):
    """A dict whose content stays. It is equal to, and written as, a dict."""

    __setitem__: Any = _refuse
    __delitem__: Any = _refuse
    __ior__: Any = _refuse
    update: Any = _refuse
    setdefault: Any = _refuse
    pop: Any = _refuse
    popitem: Any = _refuse
    clear: Any = _refuse

    def __copy__(self) -> "FrozenDict":
        return self

    def __deepcopy__(self, memo: object) -> "FrozenDict":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list whose content stays. It is equal to, and written as, a list."""

    __setitem__: Any = _refuse
    __delitem__: Any = _refuse
    __iadd__: Any = _refuse
    __imul__: Any = _refuse
    append: Any = _refuse
    extend: Any = _refuse
    insert: Any = _refuse
    remove: Any = _refuse
    pop: Any = _refuse
    clear: Any = _refuse
    sort: Any = _refuse
    reverse: Any = _refuse

    def __copy__(self) -> "FrozenList":
        return self

    def __deepcopy__(self, memo: object) -> "FrozenList":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


def frozen_json(value: Any) -> Any:
    """A copy of a JSON value that cannot be changed."""
    match value:
        case dict():
            return FrozenDict({key: frozen_json(item) for key, item in value.items()})
        case list() | tuple():
            return FrozenList(map(frozen_json, value))
        case _:
            return value
