"""What a running tool knows about its call, and what it may leave beside its result.

Apart from the runner so that a tool can be tested by calling it: `ToolContext.for_test()` needs no stack.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from core.errors import DefinitionError
from core.sources import Source
from core.text import clean_json
from core.tools.asking import Answered
from core.tools.content import plain_json

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """One call of one tool. A tool gets it by a parameter annotated `ToolContext`, which the model never sees."""

    thread_id: str
    root_thread_id: str
    thread_stack: tuple[str, ...]
    """Ids from the root down to this thread, both included."""
    call_id: str
    """The same on a redelivery: the key for making an effect idempotent."""
    user_id: str | None
    metadata: Mapping[str, Any]
    """The root's metadata as of this call. The tool's own copy."""
    deadline: datetime
    """When the call is answered without this tool's help. Aware, UTC."""
    answers: tuple[Answered, ...] = ()
    """What people answered to this call's questions so far, oldest first: a tool that asks is run again from its
    beginning."""
    state: Any = None
    """Inline tools: the thread's state, an instance of the agent's `state_type` or a dict. None in a worker, which
    changes state by `patch_state`."""
    _sources: list[Source] = field(default_factory=list, init=False, repr=False, compare=False)
    _patch: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.deadline.tzinfo is None:
            raise DefinitionError("ToolContext.deadline needs a time zone")
        object.__setattr__(self, "metadata", deepcopy(dict(self.metadata)))

    def add_source(self, url: str, title: str, snippet: str = "") -> None:
        """Note where this result comes from. Sources reach the answer's citations, not the model.

        Long titles and snippets are cut. Raises pydantic's ValidationError for a URL that is empty or too long.
        """
        self._sources.append(Source.noted(url, title, snippet))

    def patch_state(self, patch: Mapping[str, Any]) -> None:
        """Change the thread's state when this result is accepted, by a JSON merge patch (RFC 7386).

        Several patches of one call become one; a later value wins. Raises ValueError if a key that an earlier patch
        set or removed is given an object: no single patch says that.
        """
        merged = merge_patches(self._patch, clean_json(plain_json(dict(patch))))
        self._patch.clear()
        self._patch.update(merged)

    @property
    def answer(self) -> Answered | None:
        """The newest answer to a question of this call; None if it asked none yet."""
        return self.answers[-1] if self.answers else None

    @property
    def sources(self) -> tuple[Source, ...]:
        """What `add_source` collected, in order."""
        return tuple(self._sources)

    @property
    def state_patch(self) -> dict[str, Any] | None:
        """What `patch_state` collected; None if it was not called, or only with empty patches."""
        return deepcopy(self._patch) or None

    @classmethod
    def for_test(
        cls,
        *,
        thread_id: str = "test",
        root_thread_id: str | None = None,
        thread_stack: tuple[str, ...] | None = None,
        call_id: str = "call",
        user_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        deadline: datetime = _NEVER,
        answers: tuple[Answered, ...] = (),
        state: Any = None,
    ) -> "ToolContext":
        """A context for calling a tool in a test: a root thread, no user, no deadline, unless told otherwise.

        Read `sources` and `state_patch` afterwards to see what the tool left.
        """
        root = root_thread_id or (thread_stack[0] if thread_stack else thread_id)
        return cls(
            thread_id=thread_id,
            root_thread_id=root,
            thread_stack=thread_stack or tuple(dict.fromkeys((root, thread_id))),
            call_id=call_id,
            user_id=user_id,
            metadata=metadata or {},
            deadline=deadline,
            answers=answers,
            state=state,
        )


def merge_patches(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """One JSON merge patch that does what `first` and then `second` do. Raises ValueError where there is none."""
    merged = deepcopy(dict(first))
    for key, value in second.items():
        earlier = merged.get(key)
        if not isinstance(value, dict) or key not in merged:
            merged[key] = deepcopy(value)
        elif isinstance(earlier, dict):
            merged[key] = merge_patches(earlier, value)
        else:
            raise ValueError(
                f"state key {key!r} was set or removed and then patched within one call: patch it once"
            )
    return merged
