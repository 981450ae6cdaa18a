"""Two hundred threads at once, on loopback: every answer comes once, and nothing is left over."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from bench.load import Load, thread_name, told
from infra.local.aws import client
from infra.stack import find_stack, store_of

THREADS = 200
CHILDREN = THREADS // 4
DEAD = "-dead"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def load() -> Iterator[Load]:
    with Load(worker_dies_every=17, agent_dies_every=41) as load:
        load.run(THREADS)
        yield load


def test_workers_and_agents_died_in_it(load: Load) -> None:
    assert load.workers.died >= THREADS // 50
    assert load.agents.died >= THREADS // 25


def test_every_answer_comes_once(load: Load) -> None:
    outputs = load.local.outputs()
    assert len({output["output_id"] for output in outputs}) == len(outputs)
    said = Counter(
        (output["thread_id"], output["text"])
        for output in outputs
        if output["type"] == "assistant_message" and output["final"]
    )
    expected = [answer for number in range(THREADS) for answer in answers(number)]
    assert {key: count for key, count in said.items() if "~" not in key[0]} == dict(Counter(expected))
    children = [text for (thread_id, text) in said.elements() if "~" in thread_id]
    assert children == ["It is deep."] * CHILDREN
    assert not [output for output in outputs if output["type"] == "error"]


def test_every_thread_rests_and_is_settled(load: Load) -> None:
    threads = threads_in(load)

    async def unrest() -> list[str]:
        found = []
        async with store_of(find_stack("any", None, load.local.endpoint_url)) as store:
            for thread_id in threads:
                loaded = await store.load(thread_id)
                state = loaded.folded.state
                left = [*state.live, *state.children, *state.deferred]
                if left or state.owes or loaded.tip != state.number:
                    found.append(thread_id)
        return found

    assert len(threads) == THREADS + CHILDREN
    assert asyncio.run(unrest()) == []


def test_nothing_waits_anywhere(load: Load) -> None:
    load.local.outputs()
    assert load.local.parked() == []
    sqs, scheduler = (client(service, load.local.endpoint_url) for service in ("sqs", "scheduler"))
    counts = {url.rpartition("/")[2]: messages_in(sqs, url) for url in sqs.list_queues()["QueueUrls"]}
    assert any(DEAD in name for name in counts)
    assert set(counts.values()) == {0}
    assert scheduler.list_schedules()["Schedules"] == []


def answers(number: int) -> list[tuple[str, str]]:
    """What the thread of that number has to say at last, and its id."""
    word = f"word{number}"
    texts = {
        "look": [f"It says: {word} is a word"],
        "child": ["It works.", "I hear: It is deep."],
        "hello": [f"You said: hello {word}"],
    }
    return [(thread_name(number), text) for text in texts[told(number)]]


def messages_in(sqs: Any, url: str) -> int:
    """Visible, delayed and in flight."""
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return sum(int(count) for name, count in attributes.items() if name.startswith("ApproximateNumberOf"))


def threads_in(load: Load) -> list[str]:
    """All that have commits."""
    dynamodb = client("dynamodb", load.local.endpoint_url)
    table = find_stack("any", None, load.local.endpoint_url).output("TableName")
    found, page = set[str](), dynamodb.scan(TableName=table)
    while True:
        found |= {
            item["pk"]["S"].removeprefix("T#") for item in page["Items"] if item["sk"]["S"].startswith("C#")
        }
        if "LastEvaluatedKey" not in page:
            return sorted(found)
        page = dynamodb.scan(TableName=table, ExclusiveStartKey=page["LastEvaluatedKey"])
