"""Behaviours of a slice's rounds: streaming, committing, calls run here and calls sent to workers. Over both stores."""

from core.chunks import Completed, ReasoningBlock, ReasoningDelta, TextChunk
from core.clock import iso
from core.entries import ToolCall
from core.ports import LoadedThread, Outgoing
from core.slice.notices import ThinkingEnded, ThinkingStarted, ThreadVisited
from tests.contract.stores import Stores
from tests.support.inputs import THREAD, result, user
from tests.support.played import Turn, calls, results_of, says, signed
from tests.support.world import START, WEB, World, world


async def _settled(one: World) -> bool:
    loaded: LoadedThread = await one.store.load(THREAD)
    return loaded.last is not None and loaded.tip == loaded.last.number


async def test_text_round(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(says("Hello ", "world!"), store=opened.store)
        report = await one.run(user("hello"))
        pieces = [event for event in one.observer.events if isinstance(event, TextChunk)]
        assert pieces == [TextChunk("Hello "), TextChunk("world!")]
        assert (report.inputs, report.rounds, report.commits) == (("accepted",), 1, 1)
        assert len(one.model.requests) == 1
        assert await one.lines() == ["User(hello)", "Asst(Hello world!)"]
        (output,) = one.dispatcher.outputs
        assert (output["type"], output["text"], output["final"]) == (
            "assistant_message",
            "Hello world!",
            True,
        )
        assert (await one.state()).owes is False
        assert await _settled(one)


async def test_thinking_order(stores: Stores) -> None:
    async with stores.open() as opened:
        block = signed("hm...", "sig")
        turn: Turn = [ReasoningDelta("hm"), ReasoningDelta("..."), block, TextChunk("answer"), Completed()]
        one = world(turn, store=opened.store)
        await one.run(user("why?"))
        assert one.observer.events == [
            ThreadVisited(("t1",)),
            ThinkingStarted(),
            ReasoningDelta("hm"),
            ReasoningDelta("..."),
            ThinkingEnded(),
            block,
            TextChunk("answer"),
            Completed(),
        ]
        assert await one.lines() == ["User(why?)", "Reason(hm..., sig)", "Asst(answer)"]


async def test_unsigned_reasoning_for_a_provider_that_signs(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(
            [ReasoningBlock("hm"), TextChunk("answer"), Completed()], says("again"), store=opened.store
        )
        await one.run(user("why?"))
        assert ReasoningBlock("hm") in one.observer.events
        assert await one.lines() == ["User(why?)", "Asst(answer)"]
        await one.run(user("and?", "m2"))
        assert [
            part for message in one.model.requests[1].messages for part in message.parts if "hm" in str(part)
        ] == []


async def test_worker_call_commits_before_dispatch(stores: Stores) -> None:
    async with stores.open() as opened:
        one = world(calls(("fetch", {"url": "u"}), text="Looking."), store=opened.store)
        durable: list[list[str]] = []

        async def look(message: Outgoing) -> None:
            durable.append([entry.kind for entry in await opened.another().entries(THREAD)])

        one.dispatcher.on_send = look
        report = await one.run(user("read u"))
        assert durable[0] == ["user", "assistant", "tool_call"]
        assert await one.lines() == ["User(read u)", "Asst(Looking.)", 'Call(fetch, {"url": "u"})']
        assert (report.rounds, report.commits, len(one.model.requests)) == (1, 1, 1)
        (call,) = one.dispatcher.bodies(WEB)
        (call_id,) = await one.live()
        assert (call["thread_id"], call["call_id"], call["args"]) == (THREAD, call_id, {"url": "u"})
        assert call["deadline"] == iso(START.replace(minute=10))


async def test_inline_calls_loop(stores: Stores) -> None:
    async with stores.open() as opened:
        first, second = calls(("echo", {"text": "first"})), calls(("echo", {"text": "second"}))
        one = world(first, second, says("done"), store=opened.store)
        report = await one.run(user("go"))
        assert (report.rounds, report.commits, len(one.model.requests)) == (3, 3, 3)
        assert one.dispatcher.once(WEB) == []
        assert await one.lines() == [
            "User(go)",
            'Call(echo, {"text": "first"})',
            "Result(echo, first)",
            'Call(echo, {"text": "second"})',
            "Result(echo, second)",
            "Asst(done)",
        ]
        assert results_of(one.model.requests[1].messages[-1]) == ["echo: first"]


async def test_inline_and_worker_in_one_turn(stores: Stores) -> None:
    async with stores.open() as opened:
        turn = calls(("fetch", {"url": "u"}), ("echo", {"text": "here"}))
        one = world(turn, says("both"), store=opened.store)
        report = await one.run(user("go"))
        assert (report.rounds, report.commits) == (1, 1)
        assert [call["name"] for call in one.dispatcher.bodies(WEB)] == ["fetch"]
        entries = await opened.store.entries(THREAD)
        fetched, echoed = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
        assert await one.live() == [fetched]
        assert fetched != echoed
        await one.run(result(fetched, "page"))
        assert one.model.last_results == ["fetch: page", "echo: here"]
        assert (await one.lines())[-1] == "Asst(both)"
