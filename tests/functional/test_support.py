"""The support example on the local stack: follow-ups go where the conversation is, each person hears of their own."""

from infra.local import LocalTorpor

SAID = [
    ("ann", "Where is my order?", "orders", "A17"),
    ("bob", "What about mine?", "orders", "B42"),
    ("bob", "And what do I owe?", "billing", "B42"),
    ("ann", "What about mine?", "billing", "A17"),
]


def test_two_people_ask_and_follow_up_in_one_thread() -> None:
    with LocalTorpor(app="examples.support:app") as local:
        for number, (person, text, _, _) in enumerate(SAID):
            body = {"type": "user_message", "thread_id": "t1", "content": text, "message_id": f"m{number}"}
            local.send({**body, "metadata": {"user_id": person}})
            local.drain()
        answers = [output for output in local.outputs("t1") if output.get("final")]
        assert [answer["route"] for answer in answers] == [route for *_, route, _ in SAID]
        for answer, (*_, order) in zip(answers, SAID, strict=True):
            assert order in answer["text"]
            assert [source["title"] for source in answer["citations"]] == [f"Order {order}"]


def test_whoever_has_no_order_is_told_of_nobody_elses() -> None:
    with LocalTorpor(app="examples.support:app") as local:
        body = {"type": "user_message", "thread_id": "t1", "content": "I am ann. Where is my order?"}
        local.send({**body, "metadata": {"user_id": "eve"}})
        local.drain()
        assert "A17" not in str(local.outputs("t1"))
