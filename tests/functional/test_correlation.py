"""One correlation id from a user's message to every slice, call and worker's run of the tree that works on it."""

from core.correlation import correlation_of
from infra.local import LocalTorpor
from tests.functional.team_app import SPEC
from tests.support.listening import listening

ROOT = "t1"
WATCH, GO = (correlation_of(ROOT, message_id) for message_id in ("m-watch", "m-go"))


def test_each_line_goes_back_to_the_message_that_it_is_for() -> None:
    with LocalTorpor(app=SPEC) as local, listening() as kept:
        for text in ("watch", "go"):
            body = {"type": "user_message", "thread_id": ROOT, "message_id": f"m-{text}", "content": text}
            local.send(body)
            local.drain()
    for action in ("slice", "input", "model", "commit", "settle", "call_dispatched", "call_answered"):
        lines = kept.of(action)
        assert {line["correlation_id"] for line in lines} == {WATCH, GO}, action
        watching = [line for line in lines if line["correlation_id"] == WATCH]
        assert {line["thread_id"] for line in watching} == {ROOT}
    assert len({line["thread_id"] for line in kept.of("slice")}) > 4, (
        "the root, three children and a grandchild"
    )
    (watched, *others) = kept.of("worker_run")
    assert (watched["correlation_id"], {run["correlation_id"] for run in others}) == (WATCH, {GO})
    dispatched = {line["call_id"]: line["correlation_id"] for line in kept.of("call_dispatched")}
    assert {run["call_id"]: run["correlation_id"] for run in kept.of("worker_run")} == dispatched
    assert {line["correlation_id"] for line in kept.metrics if "correlation_id" in line} == {WATCH, GO}
