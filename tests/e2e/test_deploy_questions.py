"""The deployed system asks its user: an approval before a call is dispatched, then a choice by the tool that runs."""

import json
from typing import Any

from tests.e2e.deployed import Deployed
from tests.e2e.openai_server import calls, says, tool_results

THREAD = "signing"


def _asked(deployed: Deployed, kind: str) -> dict[str, Any]:
    """The question of that kind, once it comes."""

    def there() -> list[dict[str, Any]]:
        return [one for one in deployed.mailbox.outputs(THREAD, "question") if one["kind"] == kind]

    deployed.mailbox.wait_until(lambda: bool(there()), f"{kind} asked for")
    return there()[0]


def _answer(deployed: Deployed, question: dict[str, Any], **fields: Any) -> None:
    answer = {"type": "answer", "thread_id": THREAD, "call_id": question["call_id"], **fields}
    deployed.mailbox.send(json.dumps(answer), THREAD)


def test_a_person_approves_edits_and_chooses(deployed: Deployed) -> None:
    deployed.model.play("Sign it.", calls(("sign", {"paper": "the lease"})), says("It is signed."))
    deployed.mailbox.say(THREAD, "Sign it.")
    approval = _asked(deployed, "approval")
    assert (approval["name"], approval["args"]) == ("sign", {"paper": "the lease"})
    assert deployed.mailbox.outputs(THREAD, "tool_started") == []
    _answer(deployed, approval, approved=True, args={"paper": "the other lease"})
    choice = _asked(deployed, "choice")
    assert choice["choices"] == ["black", "blue"]
    _answer(deployed, choice, choice="blue")
    assert deployed.mailbox.wait_for_answers(THREAD) == ["It is signed."]
    (result,) = tool_results(deployed.model.requests("Sign it.")[-1])
    assert "the other lease signed in blue" in result
    closed = [one["outcome"] for one in deployed.mailbox.outputs(THREAD, "question_closed")]
    assert closed == ["answered", "answered"]
