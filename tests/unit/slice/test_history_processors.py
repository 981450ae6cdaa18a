"""History processors in a slice: before each model call, in order, and never on what is stored."""

from typing import Any

from core.chunks import Usage
from core.history import HistoryContext, keep_recent_messages, shrink_results
from core.request import RequestMessage, ResultPart
from tests.support.conversations import said
from tests.support.conversations import user as from_user
from tests.support.inputs import THREAD, user
from tests.support.played import USAGE, calls, says
from tests.support.world import World, agent, world

Messages = list[RequestMessage]
ECHO = ("echo", {"text": "x" * 50})


async def talk(one: World, *texts: str) -> list[tuple[RequestMessage, ...]]:
    """Say these, one slice each; the messages of every request."""
    for text in texts:
        await one.run(user(text, message_id=text))
    return [request.messages for request in one.model.requests]


async def test_without_processors_the_whole_history_is_shown() -> None:
    shown = await talk(world(says("a"), says("b"), says("c")), "1", "2", "3")
    assert [len(messages) for messages in shown] == [1, 3, 5]


async def test_processors_run_before_each_model_call_and_change_nothing_that_is_stored() -> None:
    contexts: list[HistoryContext] = []

    async def with_a_note(messages: Messages, context: HistoryContext) -> Messages:
        contexts.append(context)
        return [*messages, from_user(said("note"))]

    processors = [keep_recent_messages(2), shrink_results(10, keep_newest=0), with_a_note]
    one = world(says("a"), calls(ECHO), says("b"), app=agent(history_processors=processors))
    shown = await talk(one, "1", "2")
    assert shown[0] == (from_user(said("1"), said("note")),)
    assert shown[1] == (from_user(said("1"), said("2"), said("note")),)
    result, note = shown[2][-1].parts
    assert isinstance(result, ResultPart)
    assert (len(shown[2]), result.content[0], note) == (3, said("x" * 10), said("note"))
    assert contexts == [HistoryContext(THREAD, "test:model", (USAGE,) * turns) for turns in range(3)]
    echoed = "x" * 50
    assert (await one.lines())[3:] == [
        f'Call(echo, {{"text": "{echoed}"}})',
        f"Result(echo, {echoed})",
        "Asst(b)",
    ]


async def test_one_that_breaks_pairs_ends_the_turn_with_an_error_that_names_it() -> None:
    def drops_results(messages: Messages) -> Any:
        return [message for message in messages if not isinstance(message.parts[0], ResultPart)]

    one = world(calls(ECHO), says("never"), app=agent(history_processors=[drops_results]))
    await one.run(user("go"))
    error = one.dispatcher.outputs[-1]
    assert (error["type"], error["code"]) == ("error", "model")
    assert "drops_results" in error["message"]
    assert (await one.lines())[-1] == "TurnEnd(failed)"
    state = await one.state()
    assert (state.owes, state.wake, len(one.model.requests)) == (False, None, 1)


async def test_the_next_message_works_once_the_processor_does() -> None:
    broken = [True]

    def sometimes(messages: Messages) -> Messages:
        if broken:
            raise KeyError(broken.pop())
        return messages

    one = world(says("a"), app=agent(history_processors=[sometimes]))
    shown = await talk(one, "1", "2")
    assert shown == [(from_user(said("1"), said("2")),)]
    assert (await one.lines())[-1] == "Asst(a)"


async def test_real_usage_is_told_of_turns_with_and_without_text_and_outlasts_the_process() -> None:
    seen: list[tuple[Usage, ...]] = []

    def watching(messages: Messages, context: HistoryContext) -> Messages:
        seen.append(context.past_usage)
        return messages

    one = world(calls(ECHO), *[says("a")] * 23, app=agent(history_processors=[watching]))
    await talk(one, *[str(number) for number in range(23)])
    assert [len(usage) for usage in seen] == [*range(20), *[20] * 4]
    assert set(seen[-1]) == {USAGE}


async def test_without_processors_a_turn_without_text_records_no_usage() -> None:
    one = world(calls(ECHO), says("a"))
    await talk(one, "1")
    assert (await one.state()).past_usage == (USAGE,)
