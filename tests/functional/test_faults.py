"""Input that nobody should send, through the whole local stack: no group is blocked, no thread poisoned (faults.md)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from infra.local import LocalTorpor
from tests.functional.local_app import SPEC


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTorpor]:
    """One stack, the agent taking several inputs at a time; each test has threads of its own."""
    with LocalTorpor(app=SPEC, batch_size=10) as stack:
        yield stack


def _user(thread_id: str, content: Any) -> dict[str, Any]:
    return {"type": "user_message", "thread_id": thread_id, "content": content}


def _answers(local: LocalTorpor, thread_id: str) -> list[str]:
    return [output["text"] for output in local.outputs(thread_id) if output.get("final")]


MALFORMED: dict[str, str | dict[str, Any]] = {
    "not JSON": '{"type": "user_message"',
    "no object": "[1, 2]",
    "an unknown type": {"type": "shout", "thread_id": "THREAD"},
    "an unknown version": {"v": 2, **_user("THREAD", "hello")},
    "a wrong field type": _user("THREAD", 7),
    "a wrong block": _user("THREAD", [{"type": "video", "data": "x"}]),
    "a thread id outside the alphabet": _user("a b", "hello"),
    "a thread id over the limit": _user("x" * 101, "hello"),
    "another thread than the group's": _user("elsewhere", "hello"),
    "a message id over the limit": {**_user("THREAD", "hello"), "message_id": "m" * 129},
}


def test_malformed_body_unknown_type_or_version_wrong_field_types_ids_outside_the_alphabet_or_over_the_limit(
    local: LocalTorpor,
) -> None:
    sent: dict[str, str] = {}
    for number, (case, body) in enumerate(MALFORMED.items()):
        thread_id = f"malformed{number}"
        text = body if isinstance(body, str) else json.dumps(body).replace("THREAD", thread_id)
        sent[local.send(text, thread_id=thread_id)] = case
        local.send(_user(thread_id, "still here"))
    local.drain()
    reasons = {parked["body"]: parked["reason"] for parked in local.parked()}
    assert len(reasons) == len(MALFORMED)
    assert all(reason.startswith("invalid: ") for reason in reasons.values())
    told = [output for output in local.outputs() if output["type"] == "error"]
    assert sorted(output["code"] for output in told) == ["invalid"] * len(MALFORMED)
    for number, case in enumerate(MALFORMED):
        assert _answers(local, f"malformed{number}") == ["You said: still here"], case


TEXTS: dict[str, str] = {
    "NUL": "a\x00b",
    "escape codes": "\x1b[31mred\x1b[0m\x07",
    "lone surrogates": "\ud800 and \udfff",
    "non-characters": "\ufffe \uffff \ufdd0 \U0010ffff",
    "a megabyte of one line": "x" * 1_000_000,
    "right-to-left marks": "\u202eabc\u202c \u200f",
    "only white space": " \t\n\u00a0\u2003",
    "nothing": "",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_with_nul_escape_codes_lone_surrogates_non_characters_a_megabyte_only_white_space_or_nothing(
    local: LocalTorpor, kind: str
) -> None:
    thread_id = f"text.{kind.replace(' ', '_')}"
    local.send(_user(thread_id, TEXTS[kind]))
    local.drain()
    local.send(_user(thread_id, "still here"))
    local.drain()
    first, second = _answers(local, thread_id)
    assert first.startswith("You said: ")
    assert second == "You said: still here"
    (stored,) = local.history(thread_id)[0]["content"]
    assert stored["text"].strip()
    assert len(stored["text"]) >= len(TEXTS[kind])
    assert not set(stored["text"]) & set("\x00\x1b\x07\ufffe\uffff\ufdd0\U0010ffff")


def test_two_threads_in_one_warm_process_are_served_side_by_side_and_cross_no_state(
    local: LocalTorpor,
) -> None:
    for name in ("one", "other"):
        local.send({**_user(f"warm.{name}", "two calls"), "metadata": {"user_id": name}})
    local.drain()
    for name in ("one", "other"):
        outputs = local.outputs(f"warm.{name}")
        assert {output["metadata"]["user_id"] for output in outputs} == {name}
        assert _answers(local, f"warm.{name}") == ['Found: tide is a word\n{"noted": "moon"}']
        assert [entry["seq"] for entry in local.history(f"warm.{name}")] == list(range(1, 8))
