"""The deployed system, used as its user does: through its two queues, with a model behind Bedrock's protocol. Once as
it is, once with permission enforcement on.
"""

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import Message, Request, calls, echoes, says, tool_results

THREADS = 20


def test_parallel_calls_of_two_workers_are_answered_together(deployed: Deployed) -> None:
    deployed.model.play(
        "Look everywhere.",
        calls(
            ("search_documents", {"query": "spring tides"}),
            ("list_reports", {}),
            ("plan_search", {"question": "tides"}),
            ("list_documents", {}),
            text="I look.",
        ),
        says("I looked."),
    )
    deployed.mailbox.say("parallel", "Look everywhere.")
    assert deployed.mailbox.wait_for_answers("parallel") == ["I looked."]
    started = [output["name"] for output in deployed.mailbox.outputs("parallel", "tool_started")]
    assert sorted(started) == ["list_documents", "list_reports", "search_documents"]
    _, asked = deployed.model.requests("Look everywhere.")
    for result, telling in zip(
        tool_results(asked), ("spring tides", "report", "queries", "tides.md"), strict=True
    ):
        assert telling in result


def test_a_failing_tool_is_told_to_the_model(deployed: Deployed) -> None:
    deployed.model.play(
        "Read it.", calls(("read_document", {"path": "not-there.md"})), says("There is none.")
    )
    deployed.mailbox.say("failing", "Read it.")
    assert deployed.mailbox.wait_for_answers("failing") == ["There is none."]
    (result,) = tool_results(deployed.model.requests("Read it.")[-1])
    assert "not-there.md" in result


def test_a_message_that_comes_twice_is_answered_once(deployed: Deployed) -> None:
    deployed.model.follow("Once?", echoes)
    for _ in range(2):
        deployed.mailbox.say("duplicate", "Once?", message_id="m1")
    deployed.mailbox.say("duplicate", "And now?", message_id="m2")
    assert deployed.mailbox.wait_for_answers("duplicate", 2) == ["To: Once?", "To: And now?"]
    assert len(deployed.model.requests("Once?")) == 2


def test_user_text_interrupts_the_calls_of_workers(deployed: Deployed) -> None:
    def calls_while_the_user_goes_on(_: Request) -> Message:
        """The text is in the thread's group before any result can be."""
        deployed.mailbox.say("interrupted", "Stop, that is enough.")
        return calls(("list_documents", {}), ("list_reports", {}))

    deployed.model.play("Take your time.", calls_while_the_user_goes_on, says("I stop."), echoes)
    deployed.mailbox.say("interrupted", "Take your time.")
    assert deployed.mailbox.wait_for_answers("interrupted") == ["I stop."]
    deployed.mailbox.say("interrupted", "Are you there?")
    assert deployed.mailbox.wait_for_answers("interrupted", 2) == ["I stop.", "To: Are you there?"]
    _, after, _ = deployed.model.requests("Take your time.")
    told = {one["content"] for one in after["messages"][-3:] if one["role"] == "user"}
    assert told == {"Stop, that is enough."}
    assert [text.partition(":")[0] for text in tool_results(after)] == ["Interrupted", "Interrupted"]


def test_twenty_threads_at_once_are_each_answered_once(deployed: Deployed) -> None:
    numbers = range(THREADS)
    for number in numbers:
        deployed.model.play(f"Thread {number}.", calls(("list_documents", {})), says(f"Answer {number}."))
    for number in numbers:
        deployed.mailbox.say(f"many-{number}", f"Thread {number}.")
    for number in numbers:
        assert deployed.mailbox.wait_for_answers(f"many-{number}") == [f"Answer {number}."]
    assert [len(deployed.model.requests(f"Thread {number}.")) for number in numbers] == [2] * THREADS
