"""The table of who may say what, every type of contract.md by every kind of sender."""

from dataclasses import replace
from typing import get_args

import pytest

from core.messages import Message
from core.senders import SPEAKERS, UNCHECKED, CallOf, MessageType, is_one_of, may_send
from tests.support.principals import (
    AGENT,
    ALICE,
    DEAD_LETTERS,
    MAIL,
    OPERATOR,
    POLICY,
    RELAY,
    WEB,
    WEBHOOK,
    session,
)

USERS = ("user_message", "answer", "cancel", "close", "compact")
TOOLS = ("tool_result", "subscription_event", "question")
INTERNAL = ("wake", "timer", "spawn", "thread_report", "parent_message", "compaction_done")
ALL = {*USERS, *TOOLS, *INTERNAL}
WEB_CALL = CallOf("web")


def said_by(sender: str | None, *, call: CallOf | None = WEB_CALL, thread_id: str = "t1") -> set[str]:
    """The types this sender may send."""
    return {kind for kind in SPEAKERS if may_send(POLICY, sender, kind, thread_id, call)}


def test_every_type_has_a_rule() -> None:
    assert set(SPEAKERS) == set(get_args(MessageType)) == ALL
    union, *_ = get_args(Message)
    assert {get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(union)} <= ALL


@pytest.mark.parametrize(
    ("sender", "may"),
    [
        (ALICE, set(USERS)),
        (session("AROA4EXAMPLE0SUPPORT1", "alice@example.com"), set(USERS)),
        ("123456789012", set(USERS)),
        (session(WEB), set(TOOLS)),
        (session(MAIL), set()),
        (session(WEBHOOK), set(TOOLS)),
        (session(AGENT), {*USERS, *INTERNAL}),
        (session(RELAY), {*USERS, *INTERNAL}),
        (session(DEAD_LETTERS), ALL),
        (session(OPERATOR, "alice"), ALL),
        (None, set()),
        ("", set()),
    ],
)
def test_without_user_senders_everybody_but_tools_speaks_for_users(sender: str | None, may: set[str]) -> None:
    assert said_by(sender) == may


@pytest.mark.parametrize(
    ("sender", "may"),
    [
        (ALICE, {*USERS}),
        (session("AROA4EXAMPLE0GATEWAY1"), {*USERS}),
        (session("AROA4EXAMPLE0SUPPORT1", "alice@example.com"), set()),
        (session(WEBHOOK), {*USERS, *TOOLS}),
        (session(WEB), {*TOOLS}),
        (session(AGENT), {*INTERNAL}),
        (session(RELAY), {*INTERNAL}),
        (session(DEAD_LETTERS), {*TOOLS, *INTERNAL}),
        (session(OPERATOR, "alice"), ALL),
    ],
)
def test_with_user_senders_nobody_else_speaks_for_users(sender: str, may: set[str]) -> None:
    policy = replace(POLICY, user_senders=(ALICE, "AROA4EXAMPLE0GATEWAY1", WEBHOOK))
    assert {kind for kind in SPEAKERS if may_send(policy, sender, kind, "t1", WEB_CALL)} == may


@pytest.mark.parametrize("settler", [AGENT, DEAD_LETTERS])
def test_what_settles_a_commit_may_close_children_and_no_root(settler: str) -> None:
    policy = replace(POLICY, user_senders=(ALICE,))
    assert may_send(policy, session(settler), "close", "t1~child", None)
    assert not may_send(policy, session(settler), "close", "t1", None)
    assert not may_send(policy, session(RELAY), "close", "t1~child", None)
    assert not may_send(policy, session(settler), "cancel", "t1~child", None)


@pytest.mark.parametrize(
    ("call", "may"),
    [
        (CallOf("web"), {WEB, WEBHOOK, DEAD_LETTERS, OPERATOR}),
        (CallOf("mail"), {MAIL, WEBHOOK, DEAD_LETTERS, OPERATOR}),
        (CallOf("elsewhere"), {WEBHOOK, DEAD_LETTERS, OPERATOR}),
        (CallOf(None), {WEBHOOK, DEAD_LETTERS, OPERATOR}),
        (None, {WEB, MAIL, WEBHOOK, DEAD_LETTERS, OPERATOR}),
    ],
)
@pytest.mark.parametrize("kind", TOOLS)
def test_a_call_is_answered_by_its_own_worker(kind: MessageType, call: CallOf | None, may: set[str]) -> None:
    everybody = {AGENT, RELAY, DEAD_LETTERS, OPERATOR, WEB, MAIL, WEBHOOK, ALICE}
    assert {role for role in everybody if may_send(POLICY, session(role), kind, "t1", call)} == may


def test_a_role_that_several_functions_share_may_what_each_of_them_may() -> None:
    shared = replace(POLICY, workers={"web": AGENT, "mail": AGENT})
    assert may_send(shared, session(AGENT), "tool_result", "t1", CallOf("mail"))
    assert may_send(shared, session(AGENT), "wake", "t1", None)
    assert not may_send(shared, session(AGENT), "user_message", "t1", None)


def test_without_an_operator_nobody_is_one() -> None:
    nobody = replace(POLICY, operator=None)
    assert not may_send(nobody, session(OPERATOR), "wake", "t1", None)


@pytest.mark.parametrize("kind", SPEAKERS)
def test_unchecked_anybody_may_say_anything(kind: MessageType) -> None:
    assert may_send(UNCHECKED, None, kind, "t1", CallOf("web"))


@pytest.mark.parametrize(
    ("sender", "named", "is_it"),
    [
        ("AROAONE:session", "AROAONE", True),
        ("AROAONE:session", "AROAONE:session", True),
        ("AROAONE:session", "AROAONE:other", False),
        ("AROAONE:session", "AROA", False),
        ("AROAONE:session", "session", False),
        ("AROAONE:a:b", "AROAONE", True),
        ("AROAONE", "AROAONE:session", False),
        ("AIDAONE", "AIDAONE", True),
        ("AIDAONE", "aidaone", False),
        ("123456789012", "123456789012", True),
        ("123456789012:alice", "123456789012", False),
        ("123456789012:alice", "123456789012:alice", True),
    ],
)
def test_a_unique_id_means_its_own_principal_or_its_roles_sessions(
    sender: str, named: str, is_it: bool
) -> None:
    assert is_one_of(sender, (named,)) is is_it
