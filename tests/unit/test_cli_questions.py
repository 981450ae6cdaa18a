"""Questions at the prompt: everything that is asked is shown, and what is typed becomes the answer that it means."""

from typing import Any

import pytest

from infra.cli_questions import answer_typed, shown

HEAD = {"thread_id": "t1", "call_id": "c1", "name": "pay", "expires_at": "2026-01-01T00:00:00.000Z"}
APPROVAL = {**HEAD, "kind": "approval", "args": {"amount": 5, "to": "Zoë"}}
CHOICE = {
    **HEAD,
    "kind": "choice",
    "prompt": "Which colour?",
    "choices": ["red", "2", "green"],
    "default": None,
}
AUTH = {**HEAD, "kind": "auth", "url": "https://example.org/in"}


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        (APPROVAL, ["pay", "amount", "Zoë", "2026-01-01T00:00:00Z"]),
        (CHOICE, ["Which colour?", "1. red", "3. green"]),
        (AUTH, ["https://example.org/in"]),
    ],
    ids=["approval", "choice", "auth"],
)
def test_everything_that_is_asked_is_shown(question: dict[str, Any], facts: list[str]) -> None:
    text = "\n".join(shown(question))
    assert [fact for fact in facts if fact not in text] == []


@pytest.mark.parametrize(
    ("question", "typed", "given"),
    [
        (APPROVAL, "y", {"approved": True}),
        (APPROVAL, " YES ", {"approved": True}),
        (APPROVAL, "n", {"approved": False, "comment": ""}),
        (APPROVAL, "No, too much", {"approved": False, "comment": "too much"}),
        (APPROVAL, '{"amount": 3}', {"approved": True, "args": {"amount": 3}}),
        (APPROVAL, '{"amount": ', None),
        (APPROVAL, "yes please", None),
        (APPROVAL, "never mind", None),
        (APPROVAL, "", None),
        (CHOICE, "red", {"choice": "red"}),
        (CHOICE, "1", {"choice": "red"}),
        (CHOICE, "2", {"choice": "2"}),
        (CHOICE, "4", None),
        (CHOICE, "0", None),
        (CHOICE, "²", None),
        (CHOICE, "", None),
        ({**CHOICE, "default": "green"}, "", {"choice": "green"}),
        (AUTH, "y", {"approved": True}),
        (AUTH, "n", {"approved": False, "comment": ""}),
        (AUTH, '{"a": 1}', None),
    ],
)
def test_what_is_typed_is_the_answer_it_means(
    question: dict[str, Any], typed: str, given: dict[str, Any] | None
) -> None:
    answer = answer_typed(question, typed)
    head = {"type": "answer", "thread_id": "t1", "call_id": "c1"}
    assert answer == (None if given is None else {**head, **given})


@pytest.mark.parametrize(
    "question",
    [
        {**APPROVAL, "args": {"to": "\u202eeoZ", "\x1b[2J": 1}},
        {**CHOICE, "prompt": "\x1b[2Jred\u202e?", "choices": ["\x1b[2J", "\u202eder"]},
        {**AUTH, "url": "https://example.org/\x1b[2J\u202e"},
    ],
    ids=["approval", "choice", "auth"],
)
def test_what_is_asked_is_shown_as_it_stands_there_and_obeyed_by_no_terminal(
    question: dict[str, Any],
) -> None:
    text = "\n".join(shown(question))
    assert not set(text) & {"\x1b", "\u202e"}
    assert "u202e" in text
    assert "x1b" in text or "u001b" in text
