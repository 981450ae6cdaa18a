"""The client over both stores, and what waiting and following cost on DynamoDB."""

from core.changes import Owes
from core.commit import Commit
from core.messages import InputKey
from core.outbox import SendAnswer
from infra.client import AgentClient, Answered
from tests.contract.commits import THREAD, made, settle, turn, user
from tests.contract.stores import DynamoStores, OpenedDynamo, Stores
from tests.support.client import SteppingClock
from tests.support.compacting import NEAR, SUMMARY, compacted, small
from tests.support.played import USAGE
from tests.support.recording import RecordingDispatcher
from tests.support.rules import on
from tests.support.tree import ROOT, tree
from tests.support.world import world


def _client(store: object) -> tuple[AgentClient, SteppingClock]:
    clock = SteppingClock(world())
    return AgentClient(store, RecordingDispatcher(clock), clock=clock), clock  # type: ignore[arg-type]


def _answered(number: int) -> Commit:
    """Commit `number` with a question and its answer."""
    answer = SendAnswer(
        first_seq=2 * number, last_seq=2 * number, final=True, usage=USAGE, stop_reason="end_turn"
    )
    plain = turn(number, outbox=[answer])
    asked = plain.entries[0].model_copy(update={"message_id": f"m{number}"})
    return plain.model_copy(update={"entries": (asked, *plain.entries[1:])})


async def test_answers_are_found_behind_summaries(stores: Stores) -> None:
    async with stores.open() as opened:
        one = tree(
            [SUMMARY, on(says="long ago", user="first"), on(says="fine", tokens=NEAR)],
            app=small(),
            store=opened.store,
        )
        for text in ("first", "second", "third", "fourth"):
            await one.say(text, message_id=text)
        assert compacted(one) != []
        client, _ = _client(opened.another())
        outcomes = [await client.wait(ROOT, text, 0) for text in ("first", "fourth")]
        assert [outcome.text for outcome in outcomes if isinstance(outcome, Answered)] == ["long ago", "fine"]
        own = {child.spawned for child in (await client.tree(ROOT)).children}
        assert own == {"compaction"}
        assert [turn.answer async for turn in client.turns(ROOT)] == ["long ago", "fine", "fine", "fine"]


async def _log(opened: OpenedDynamo, number: int) -> None:
    await opened.seed([_answered(one) for one in range(1, number)])
    await settle(opened.store, _answered(number))
    opened.dynamodb.operations()


async def test_an_answer_that_is_there_costs_the_same_at_any_age_of_the_thread(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        costs: list[list[str]] = []
        for number in (3, 300):
            await _log(opened, number)
            await settle(opened.store, _answered(number))
            opened.dynamodb.operations()
            client, _ = _client(opened.another())
            outcome = await client.wait(THREAD, f"m{number}", 0)
            assert isinstance(outcome, Answered)
            assert outcome.text == f"answer {number}"
            costs.append(opened.dynamodb.operations())
        assert costs == [["query", "query"]] * 2


async def test_a_look_without_news_is_one_query_at_any_age(dynamo: DynamoStores) -> None:
    async with dynamo.open() as opened:
        await _log(opened, 100)
        asked = user("go").model_copy(update={"message_id": "go"})
        owed = Owes(to="go")
        taken = InputKey("user_message", "go")
        await settle(opened.store, made(101, [asked], first_seq=201, consumed=[taken], changes=[owed]))
        client, clock = _client(opened.another())
        costs: list[list[str]] = []

        async def look() -> None:
            costs.append(opened.dynamodb.operations())

        clock.steps.extend([look] * 4)
        opened.dynamodb.operations()
        assert (await client.wait(THREAD, "go", 1)).kind == "waiting"
        assert costs[1:] == [["query"]] * 3
        assert opened.s3.operations() == []
