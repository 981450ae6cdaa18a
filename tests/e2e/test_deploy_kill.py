"""The deployed functions' processes are killed at random while conversations go on: each message is answered once.

The same seed draws the same kills; what they meet is the machine's affair. `TORPOR_KILL_SEED=…` draws others.
"""

import os
from collections import Counter

import pytest

from tests.e2e.deployed import Deployed
from tests.e2e.killing import Killer
from tests.e2e.openai_server import Message, Request, calls, says, tool_results

THREADS = 8
MOST_KILLS = 6
"""Over all threads: that one message meets five, and is a dead letter, is not to be expected."""
FEWEST_KILLS = 3
PATIENCE_SECONDS = 300.0
"""Each kill costs a cold start, and what it met the time until it is visible again."""
CONVERSATION = ["user", "assistant", "tool", "tool", "assistant", "user"]
SEED = os.environ.get("TORPOR_KILL_SEED", "1")


@pytest.mark.usefixtures("soon_visible")
def test_functions_die_at_random_and_every_message_is_answered_once(deployed: Deployed) -> None:
    print(f"TORPOR_KILL_SEED={SEED}")  # noqa: T201 - shown when it fails: that is how it is drawn again
    killer, mailbox = Killer(deployed.emulator, SEED, MOST_KILLS), deployed.mailbox
    threads = [f"killed-{number}" for number in range(THREADS)]

    def counts(request: Request) -> Message:
        """The same however often it is asked: whoever was killed asks again."""
        killer.sees_a_completion()
        if request["messages"][-1]["content"] == "Thanks.":
            return says("You are welcome.")
        if results := tool_results(request):
            return says(" ".join(results))
        return calls(("count_pages", {"book": "tides"}), ("count_pages", {"book": "moon"}))

    for thread_id in threads:
        deployed.model.follow(f"Count for {thread_id}.", counts)
        mailbox.say(thread_id, f"Count for {thread_id}.", message_id="m1")
    mailbox.wait_until(lambda: all(map(mailbox.answers, threads)), "answer to each", PATIENCE_SECONDS)
    killer.rests()
    assert [mailbox.answers(thread_id) for thread_id in threads] == [["tides: 5 moon: 4"]] * THREADS
    assert killer.killed >= FEWEST_KILLS
    for thread_id in threads:
        mailbox.say(thread_id, "Thanks.", message_id="m2")
    for thread_id in threads:
        assert mailbox.wait_for_answers(thread_id, 2)[1:] == ["You are welcome."]
        kinds = Counter(output["type"] for output in mailbox.outputs(thread_id))
        assert kinds == {"tool_started": 2, "assistant_message": 2}
        told = deployed.model.requests(f"Count for {thread_id}.")[-1]["messages"]
        assert [one["role"] for one in told if one["role"] != "system"] == CONVERSATION
