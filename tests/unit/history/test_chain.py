"""The chain of history processors: order, sync and async, the check of what each returns, and what they cannot do."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from core.blocks import DocumentBlock
from core.chunks import Usage
from core.history import HistoryContext, ProcessorFailed, keep_recent_messages, only_user_messages
from core.history.chain import run_processors
from core.request import CallPart, ReasoningPart, RequestMessage, ResultPart
from tests.support.conversations import assistant, document, said, user

Messages = list[RequestMessage]
NO_CONTEXT = HistoryContext()
CALL = CallPart("c1", "t", {"q": ["x"]})
RESULT = ResultPart("c1", "t", (said("out"),))
TALK = (user(said("go")), assistant(CALL), user(RESULT), assistant(said("well")), user(said("and?")))


async def run(
    *processors: Callable[..., Any],
    messages: Sequence[RequestMessage] = TALK,
    context: HistoryContext = NO_CONTEXT,
    timeout_seconds: float = 60,
) -> tuple[RequestMessage, ...]:
    return await run_processors(processors, messages, context, timeout_seconds)


async def test_without_processors_everything_is_shown() -> None:
    assert await run() == TALK


async def test_processors_run_in_order_sync_or_async() -> None:
    seen: list[str] = []

    def first(messages: Messages) -> Messages:
        seen.append(f"first {len(messages)}")
        return messages[4:]

    async def second(messages: Messages) -> Messages:
        seen.append(f"second {len(messages)}")
        return [*messages, user(said("more"))]

    class Third:
        async def __call__(self, messages: Messages) -> Messages:
            seen.append(f"third {len(messages)}")
            return messages

    shown = await run(first, second, Third())
    assert seen == ["first 5", "second 1", "third 1"]
    assert shown == (user(said("and?"), said("more")),)


async def test_neighbours_of_one_role_become_one_message_results_first() -> None:
    def with_a_note(messages: Messages) -> Messages:
        return [*messages[:2], user(said("note")), *messages[2:]]

    shown = await run(with_a_note)
    assert shown == (*TALK[:2], user(RESULT, said("note")), *TALK[3:])
    assert await run(only_user_messages) == (user(said("go"), said("and?")),)


async def test_a_processor_may_ask_for_the_context() -> None:
    context = HistoryContext("t1", "bedrock:m", (Usage(input_tokens=9), Usage(input_tokens=12)))
    seen: list[HistoryContext] = []

    def by_usage(messages: Messages, *, context: HistoryContext) -> Messages:
        seen.append(context)
        return keep_recent_messages(2)(messages) if context.past_usage[-1].total > 10 else messages

    assert len(await run(by_usage, context=context)) == 1
    assert seen == [context]


def changes_arguments(messages: Messages) -> Messages:
    call = messages[1].parts[0]
    assert isinstance(call, CallPart)
    call.args["q"].append("y")
    call.args["more"] = 1
    messages.clear()
    return messages or list(TALK)


async def test_what_is_stored_is_out_of_reach() -> None:
    await run(changes_arguments)
    assert CALL.args == {"q": ["x"]}
    assert len(TALK) == 5


def drops_results(messages: Messages) -> Messages:
    return [*messages[:2], *messages[3:]]


def drops_calls(messages: Messages) -> Messages:
    return [messages[0], *messages[2:]]


def drops_the_first(messages: Messages) -> Messages:
    return messages[1:]


def ends_with_the_assistant(messages: Messages) -> Messages:
    return messages[:-1]


def repeats_a_pair(messages: Messages) -> Messages:
    return [*messages[:3], *messages[1:]]


def shows_nothing(messages: Messages) -> Messages:
    return []


def says_nothing(messages: Messages) -> Messages:
    return [*messages, user(said(" "))]


def ends_a_turn_in_reasoning(messages: Messages) -> Messages:
    return [messages[0], assistant(ReasoningPart("hm", "s")), messages[-1]]


def names_documents_alike(messages: Messages) -> Messages:
    twice: tuple[DocumentBlock, ...] = (document("a"), document("a"))
    return [*messages, user(*twice)]


def forgets_to_return(messages: Messages) -> Any:
    return None


def gives_dicts(messages: Messages) -> Any:
    return [{"role": "user", "content": "hi"}]


def raises(messages: Messages) -> Messages:
    raise KeyError("k")


async def raises_late(messages: Messages) -> Messages:
    raise SystemExit(3)


BAD = [
    *(drops_results, drops_calls, drops_the_first, ends_with_the_assistant, repeats_a_pair, shows_nothing),
    *(says_nothing, ends_a_turn_in_reasoning, names_documents_alike, forgets_to_return, gives_dicts),
    *(raises, raises_late),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
async def test_the_one_that_breaks_a_rule_is_named(bad: Callable[..., Any]) -> None:
    with pytest.raises(ProcessorFailed, match=repr(bad.__name__)):
        await run(keep_recent_messages(), bad, partial(only_user_messages))


@pytest.mark.parametrize(
    ("processor", "name"), [(partial(drops_results), "drops_results"), (lambda messages: [], "<lambda>")]
)
async def test_processors_without_a_name_of_their_own_are_named(
    processor: Callable[..., Any], name: str
) -> None:
    with pytest.raises(ProcessorFailed, match=name):
        await run(processor)


async def test_one_that_hangs_is_given_up_and_named() -> None:
    async def waits(messages: Messages) -> Messages:
        await asyncio.Event().wait()
        return messages

    with pytest.raises(ProcessorFailed, match="'waits'"):
        await run(waits, timeout_seconds=0)


async def test_a_cancelled_slice_is_no_failure_of_a_processor() -> None:
    begun = asyncio.Event()

    async def waits(messages: Messages) -> Messages:
        begun.set()
        await asyncio.Event().wait()
        return messages

    task = asyncio.ensure_future(run(waits))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_errors_say_nothing_of_what_was_said() -> None:
    secret = (user(said("secret word")),)
    for bad in (shows_nothing, says_nothing, forgets_to_return, gives_dicts):
        with pytest.raises(ProcessorFailed) as caught:
            await run(bad, messages=secret)
        assert "secret" not in str(caught.value)
