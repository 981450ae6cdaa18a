"""Whole trees of threads on DynamoDB, against the plain model: few, since the properties try many in memory."""

from hypothesis import HealthCheck, given, settings

from core.history import HistoryManager
from tests.contract.stores import DynamoStores
from tests.support.forest import Forest, Step, steps
from tests.support.forest_checks import check_thread

few = settings(max_examples=3, suppress_health_check=list(HealthCheck))


@few
@given(script=steps)
async def test_every_thread_sees_what_the_plain_model_sees(dynamo: DynamoStores, script: list[Step]) -> None:
    async with dynamo.open() as opened:
        forest = Forest(opened.store)
        await forest.live(script)
        another = opened.another()
        for thread_id in forest.views:
            cold = await HistoryManager.new_with_history(another, thread_id)
            check_thread(forest, thread_id, cold)
            warm = await HistoryManager.new_with_history(another, thread_id)
            assert (warm.summary, warm.history) == (cold.summary, cold.history)
