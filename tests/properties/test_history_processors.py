"""No chain of processors breaks a pair, on random histories: what comes out passes the strict check (*well-formed*)."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.history import (
    HistoryContext,
    estimate_tokens,
    keep_recent_messages,
    only_user_messages,
    shrink_results,
    trim_to_tokens,
)
from core.history.chain import run_processors
from core.request import ModelRequest, RequestMessage, ToolSpec
from core.strict import check_request
from tests.support.conversations import conversations

ANY_TOOL = ToolSpec("any", "Any.", {"type": "object"})


async def shows_it_as_it_is(messages: list[RequestMessage]) -> list[RequestMessage]:
    return messages


PROCESSORS: st.SearchStrategy[Callable[..., Any]] = st.one_of(
    st.builds(keep_recent_messages, st.integers(2, 12)),
    st.builds(trim_to_tokens, st.integers(1, 400), st.sampled_from([1, 4, 2.5])),
    st.builds(shrink_results, st.integers(1, 60), keep_newest=st.integers(0, 3)),
    st.sampled_from([only_user_messages, shows_it_as_it_is]),
)


@given(conversations(), st.lists(PROCESSORS, min_size=1, max_size=4))
@settings(max_examples=150)
async def test_no_chain_of_processors_breaks_a_pair(
    messages: tuple[RequestMessage, ...], chain: list[Callable[..., Any]]
) -> None:
    before = repr(messages)
    shown = await run_processors(chain, messages, HistoryContext(), 60)
    check_request(ModelRequest("script:x", shown, tools=(ANY_TOOL,)))
    assert shown[0].parts[0] == messages[0].parts[0]
    assert repr(messages) == before


@given(conversations(), st.integers(2, 12))
@settings(max_examples=60)
def test_no_more_messages_are_kept_than_asked_for_and_a_response(
    messages: tuple[RequestMessage, ...], max_messages: int
) -> None:
    kept = keep_recent_messages(max_messages)(messages)
    assert len(kept) - max_messages in (
        {0, 1} if len(messages) >= max_messages else {len(messages) - max_messages}
    )
    assert kept[0] is messages[0]
    assert kept[1:] == list(messages[len(messages) - len(kept) + 1 :])


@given(conversations(), st.integers(1, 400))
@settings(max_examples=60)
def test_no_more_is_dropped_than_must_be(messages: tuple[RequestMessage, ...], max_tokens: int) -> None:
    kept = trim_to_tokens(max_tokens)(messages)
    assert kept[0] is messages[0]
    assert kept[1:] == list(messages[len(messages) - len(kept) + 1 :])
    assert len(kept) >= min(2, len(messages))
    if len(kept) > 3:  # the first, and more than one group
        assert estimate_tokens(kept) <= max_tokens
    if len(kept) < len(messages):
        one_group_more = list(messages[len(messages) - len(kept) - 1 :])
        assert estimate_tokens([messages[0], *one_group_more]) > max_tokens
