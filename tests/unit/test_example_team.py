"""The team example's tools and its notice board, which is an event source: who follows is told of each notice once."""

from pathlib import Path
from typing import Any

import pytest

from core import Agent, ToolContext
from core.messages import Envelope, SubscriptionEvent
from core.parsing import parse_input
from core.text import wire_json
from examples.notice_board import Board, send_to_input_queue
from examples.team import MAX_REPORT_CHARACTERS, app, follow_board, publish


@pytest.fixture(autouse=True)
def _own_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORPOR_BOARD", str(tmp_path))
    monkeypatch.delenv("TORPOR_INPUT_QUEUE_URL", raising=False)


def test_only_the_lead_has_children_and_only_the_writer_publishes() -> None:
    agents = [player for player in app.agents if isinstance(player, Agent)]
    spawning = [agent.name for agent in agents if "spawn_thread" in agent.offered]
    publishing = [agent.name for agent in agents if "publish" in agent.offered]
    assert (spawning, publishing) == (["lead"], ["writer"])


def test_following_opens_a_subscription_and_publishing_says_where_the_report_is(tmp_path: Path) -> None:
    assert follow_board(ToolContext.for_test(call_id="c1")).subscription
    ctx = ToolContext.for_test(call_id="c2")
    told = [publish(" On\n tides", "They rise.", ctx) for _ in range(2)]
    (notice,) = tmp_path.glob("*.md")
    assert notice.read_text() == "# On tides\n\nThey rise.\n"
    assert [text.endswith(f"Published as {notice}") for text in told] == [True, True]


def test_a_report_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=r".+"):
        publish("On tides", "x" * MAX_REPORT_CHARACTERS, ToolContext.for_test())


def test_every_follower_is_told_of_each_notice_under_one_id(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    board = Board(tmp_path, sent.append)
    board.put_up("before", "Too early.")
    for call_id in ("c1", "c1", "c2"):
        board.follow("t1", call_id)
    for name in ("first", "first", "second"):
        board.put_up(name, f"# The {name}\n\nText.")
    assert [message["call_id"] for message in sent] == ["c1", "c2"] * 3
    assert len({(message["call_id"], message["event_id"]) for message in sent}) == 4
    taken = parse_input(wire_json(sent[0]), Envelope("m1", "t1")).message
    assert isinstance(taken, SubscriptionEvent)
    assert "The first" in str(taken.content)


@pytest.mark.parametrize("call_id", ["", "../x", "a" * 65])
def test_what_is_no_calls_id_does_not_follow(tmp_path: Path, call_id: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Board(tmp_path, send_to_input_queue).follow("t1", call_id)
    assert list(tmp_path.rglob("*")) == []
