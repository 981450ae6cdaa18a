"""What inputs leave beside the history: metadata of the root, and sources that become citations."""

from typing import Any

import pytest

from core.changes import MetadataSet
from core.commit import Commit
from core.text import wire_json
from core.tools import ToolContext, tool
from core.work_messages import ToolCallMessage, parse_work
from infra.memory import MemoryStore
from infra.sqs.limits import MAX_BODY_BYTES
from tests.support.inputs import THREAD, result, user
from tests.support.played import calls, says
from tests.support.world import TOOLS, WEB, World, agent, world

FETCH = ("fetch", {"url": "u"})


def _set(one: World) -> list[dict[str, Any]]:
    """The metadata that each commit records."""
    assert isinstance(one.store, MemoryStore)
    log: tuple[Commit, ...] = one.store.commits(THREAD)
    return [change.values for commit in log for change in commit.changes if isinstance(change, MetadataSet)]


async def test_metadata_is_set_key_by_key_and_only_what_changed_is_written() -> None:
    one = world(*[says("done")] * 3)
    await one.run(user("1", "m1", metadata={"user_id": "u1", "tenant_id": "t"}))
    await one.run(user("2", "m2", metadata={"user_id": "u2", "tenant_id": "t"}))
    await one.run(user("3", "m3", metadata={"user_id": "u2"}))
    assert _set(one) == [{"user_id": "u1", "tenant_id": "t"}, {"user_id": "u2"}]
    assert (await one.manager()).metadata == {"user_id": "u2", "tenant_id": "t"}


async def test_none_is_a_value_like_any_other() -> None:
    one = world(says("done"), says("done"))
    await one.run(user("1", "m1", metadata={"reply_to": None}))
    await one.run(user("2", "m2", metadata={"reply_to": None}))
    assert _set(one) == [{"reply_to": None}]
    assert (await one.manager()).metadata == {"reply_to": None}


async def test_outputs_and_calls_carry_the_metadata_of_their_commit() -> None:
    one = world(calls(FETCH))
    await one.run(user("go", metadata={"user_id": "u1"}))
    (call,) = one.dispatcher.bodies(WEB)
    assert (call["user_id"], call["metadata"]) == ("u1", {"user_id": "u1"})
    assert {str(output["metadata"]) for output in one.dispatcher.outputs} == {"{'user_id': 'u1'}"}


@pytest.mark.parametrize("user_id", [7, None, ["u1"], {"id": "u1"}])
async def test_a_user_id_that_is_no_text_names_nobody(user_id: object) -> None:
    one = world(calls(FETCH))
    await one.run(user("go", metadata={"user_id": user_id}))
    (sent,) = one.dispatcher.once(WEB)
    call = parse_work(sent.body)
    assert isinstance(call, ToolCallMessage)
    assert (call.user_id, call.metadata) == (None, {"user_id": user_id})


async def test_metadata_is_bounded_since_every_output_carries_it() -> None:
    one = world(says("done"))
    big = {"blob": "x" * 65_000}
    report = await one.run(user("1", "m1", metadata=big), user("2", "m2", metadata={"more": "x" * 1_000}))
    assert [getattr(taken, "code", taken) for taken in report.inputs] == ["accepted", "invalid"]
    assert (await one.manager()).metadata == big
    assert await one.lines() == ["User(1)", "Asst(done)"]


async def test_refused_input_sets_no_metadata() -> None:
    one = world(says("done"))
    await one.run(user("go"))
    await one.run(user("other", metadata={"user_id": "u2"}))
    assert (await one.manager()).metadata == {}


def _source(number: int, title: str) -> dict[str, str]:
    return {"url": f"https://example.com/{number}", "title": title, "snippet": ""}


async def test_an_answer_cites_the_first_source_of_each_url() -> None:
    one = world(calls(FETCH, FETCH), says("done"))
    await one.run(user("go"))
    first, second = await one.live()
    await one.run(result(first, sources=[_source(1, "one"), _source(2, "two")]))
    await one.run(result(second, sources=[_source(1, "again"), _source(3, "three")]))
    answer = one.dispatcher.of_type("assistant_message")[-1]
    assert answer["citations"] == [_source(1, "one"), _source(2, "two"), _source(3, "three")]


async def test_new_user_text_begins_without_sources() -> None:
    one = world(calls(FETCH), says("cited"), says("not cited"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(result(call_id, sources=[_source(1, "one")]))
    await one.run(user("and?", "m2"))
    cited, plain = [output for output in one.dispatcher.of_type("assistant_message") if output["final"]]
    assert "citations" in cited
    assert "citations" not in plain
    assert (await one.state()).sources == ()


@tool
def note(ctx: ToolContext, title: str) -> str:
    """Note a source."""
    ctx.add_source("https://example.com/inline", title)
    return "noted"


async def test_an_inline_tools_sources_are_cited_once_the_answer_is_final() -> None:
    turns = (
        calls(("note", {"title": "a"}), text="Let me see."),
        calls(("note", {"title": "b"}), text="And here."),
        says("done"),
    )
    one = world(*turns, app=agent(tools=(*TOOLS, note)))
    await one.run(user("go"))
    said = one.dispatcher.of_type("assistant_message")
    assert [output.get("citations") for output in said] == [
        None,
        None,
        [_source(0, "a") | {"url": "https://example.com/inline"}],
    ]


async def test_sources_of_a_late_result_are_dropped_with_it() -> None:
    one = world(calls(FETCH), says("fine"))
    await one.run(user("go"))
    (call_id,) = await one.live()
    await one.run(user("never mind", "m2"))
    await one.run(result(call_id, sources=[_source(1, "late")], state_patch={"a": 1}))
    assert (await one.state()).sources == ()
    assert one.dispatcher.of_type("error") == []


async def test_an_answer_cites_no_more_sources_than_its_queue_can_carry() -> None:
    @tool(inline=True)
    def search(ctx: ToolContext) -> str:
        """Search."""
        for number in range(100):
            ctx.add_source(f"https://{number}", "т" * 500, "т" * 2_000)
        return "found"

    one = world(calls(("search", {})), says("done"), app=agent(tools=[search]))
    await one.run(user("go"))
    answer = one.dispatcher.of_type("assistant_message")[-1]
    assert answer["text"] == "done"
    assert len(answer["citations"]) >= 10
    assert len(wire_json(answer)) <= MAX_BODY_BYTES
