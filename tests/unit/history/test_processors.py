"""The history processors: one test for every sentence that is promised of them."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import DefinitionError
from core.history import (
    estimate_tokens,
    keep_recent_messages,
    only_user_messages,
    shrink_results,
    trim_to_tokens,
)
from core.history.estimates import MEDIA_TOKENS
from core.request import CallPart, JsonObject, ReasoningPart, RequestMessage, ResultPart
from tests.support.conversations import PICTURE, assistant, said, user


def call(call_id: str, **args: Any) -> CallPart:
    return CallPart(call_id, "t", args)


def result(call_id: str, text: str = "out") -> ResultPart:
    return ResultPart(call_id, "t", (said(text),))


def talk(*texts: str) -> list[RequestMessage]:
    """Texts of the user and the assistant, in turns."""
    return [(assistant if index % 2 else user)(said(text)) for index, text in enumerate(texts)]


WORK = [
    user(said("go")),
    assistant(call("c1"), call("c2")),
    user(result("c1"), result("c2")),
    assistant(call("c3")),
    user(result("c3")),
    assistant(said("done")),
    user(said("and now?")),
]


# ---- keep_recent_messages


@pytest.mark.parametrize("count", [1, 99, 100])
def test_a_hundred_messages_are_kept_by_default(count: int) -> None:
    messages = talk(*map(str, range(count)))
    assert keep_recent_messages()(messages) == messages


def test_the_first_message_and_the_newest_are_kept() -> None:
    messages = talk(*map(str, range(101)))
    assert keep_recent_messages()(messages) == [messages[0], *messages[2:]]
    assert keep_recent_messages(3)(messages) == [messages[0], *messages[-2:]]
    assert keep_recent_messages(max_messages=2)(messages) == [messages[0], messages[-1]]


@pytest.mark.parametrize(
    ("max_messages", "kept"),
    [
        (2, [0, 6]),
        (3, [0, 5, 6]),
        (4, [0, 3, 4, 5, 6]),  # the cut falls on a result: its response comes along
        (5, [0, 3, 4, 5, 6]),
        (6, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_a_cut_never_separates_a_call_from_its_result(max_messages: int, kept: list[int]) -> None:
    assert keep_recent_messages(max_messages)(WORK) == [WORK[index] for index in kept]


# ---- trim_to_tokens


def test_eighty_thousand_tokens_are_shown_by_default() -> None:
    fits = talk("a" * 160_000, "b" * 80_000, "c" * 80_000)
    assert trim_to_tokens()(fits) == fits
    assert trim_to_tokens()(talk("a" * 160_000, "b" * 80_001, "c" * 80_000)) == [fits[0], fits[2]]


def test_the_oldest_in_between_go_first() -> None:
    messages = talk(*"abcdefg" * 1)
    assert trim_to_tokens(4, chars_per_token=1)(messages) == [messages[0], *messages[4:]]
    assert trim_to_tokens(2, chars_per_token=2)(messages) == [messages[0], *messages[4:]]


def test_call_groups_go_whole() -> None:
    everything = estimate_tokens(WORK, chars_per_token=1)
    assert trim_to_tokens(everything, chars_per_token=1)(WORK) == WORK
    assert trim_to_tokens(everything - 1, chars_per_token=1)(WORK) == [WORK[0], *WORK[3:]]


@pytest.mark.parametrize("messages", [talk("aa"), talk("aa", "bb"), talk("aa", "bb", "cc"), WORK])
def test_never_below_two_messages(messages: list[RequestMessage]) -> None:
    kept = trim_to_tokens(1, chars_per_token=1)(messages)
    assert kept == ([messages[0], messages[-1]] if len(messages) > 1 else messages)


def test_the_newest_results_stay_with_their_calls() -> None:
    assert trim_to_tokens(1)(WORK[:5]) == [WORK[0], *WORK[3:5]]


# ---- shrink_results


def test_results_are_shown_in_part_and_the_newest_whole() -> None:
    long = "r" * 50
    messages = [
        user(said(long)),
        assistant(call("c1")),
        user(ResultPart("c1", "t", (said(long), JsonObject({"k": long}), PICTURE), is_error=True)),
        assistant(call("c2")),
        user(result("c2", long)),
    ]
    shrunk = shrink_results(max_characters=10)(messages)
    assert [shrunk[0], shrunk[1], *shrunk[3:]] == [messages[0], messages[1], *messages[3:]]
    note = said("[99 more characters are stored but not shown]")
    assert shrunk[2] == user(ResultPart("c1", "t", (said("r" * 10), PICTURE, note), is_error=True))
    (newest,) = shrink_results(10, keep_newest=0)(messages)[4].parts
    assert isinstance(newest, ResultPart)
    assert newest.content[0] == said("r" * 10)


def test_results_that_are_short_stay_as_they_are() -> None:
    assert shrink_results()(WORK) == WORK


# ---- only_user_messages


def test_only_what_the_user_said_is_shown() -> None:
    messages = [*WORK[:4], user(result("c3"), said("wait"))]
    assert only_user_messages(messages) == [WORK[0], user(said("wait"))]


# ---- all of them


@pytest.mark.parametrize("processor", [keep_recent_messages, trim_to_tokens, shrink_results])
def test_one_may_be_named_without_brackets(processor: Callable[..., Any]) -> None:
    messages = talk(*("x" * 4_000 for _ in range(161)))
    assert processor(messages) == processor()(messages)
    assert processor(tuple(WORK)) == WORK


@pytest.mark.parametrize(("processor", "options"), [(keep_recent_messages, (3,)), (trim_to_tokens, (1, 1))])
def test_one_that_is_called_itself_takes_its_options_by_position_too(
    processor: Callable[..., Any], options: tuple[int, ...]
) -> None:
    messages = talk("a", "b", "c", "d", "e")
    assert processor(messages, *options) == processor(*options)(messages)


@pytest.mark.parametrize(
    "processor", [keep_recent_messages, trim_to_tokens, shrink_results, only_user_messages]
)
def test_what_is_given_is_not_changed(processor: Callable[..., Any]) -> None:
    messages = list(WORK)
    processor(messages)
    assert messages == WORK


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (keep_recent_messages, {"max_messages": 1}),
        (keep_recent_messages, {"max_messages": "3"}),
        (trim_to_tokens, {"max_tokens": 0}),
        (trim_to_tokens, {"chars_per_token": 0}),
        (shrink_results, {"max_characters": 0}),
        (shrink_results, {"keep_newest": -1}),
    ],
)
def test_options_that_make_no_sense_are_refused(make: Callable[..., Any], options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match=next(iter(options))):
        make(**options)


# ---- estimate_tokens


def test_tokens_are_estimated_by_characters_rounded_up() -> None:
    assert estimate_tokens([]) == 0
    assert estimate_tokens(talk("abcd", "e")) == 2
    assert estimate_tokens(talk("abcd", "e"), chars_per_token=2.5) == 2
    assert estimate_tokens([user(said("ab"), PICTURE)]) == MEDIA_TOKENS + 1
    assert estimate_tokens([assistant(ReasoningPart("abcd"), ReasoningPart(redacted="abcd"))]) == 2
    assert estimate_tokens([assistant(call("c", k=1)), user(result("c", "four"))], 1) == len('t{"k":1}four')
    assert estimate_tokens([user(ResultPart("c", "t", (JsonObject({"k": 1}),)))], 1) == len('{"k":1}')
