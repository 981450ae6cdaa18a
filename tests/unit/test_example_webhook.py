"""The webhook consumer: each output once and in order, nothing lost, nothing that blocks, no secret shown."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import SettingsError
from examples.webhook import Receiver, ReceiverUnavailable, Webhook, WebhookSettings, handle
from infra.memory import MemoryClock

NOW = datetime(2025, 1, 1, tzinfo=UTC)
EVENT = json.loads((Path(__file__).parents[1] / "events" / "two_groups.json").read_text())
A1, B1, A2 = (record["messageId"] for record in EVENT["Records"])


class Receiving(ThreadingHTTPServer):
    """A receiver that keeps what is posted and answers by `statuses`, in order; 204 when they are used up."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Post)
        self.posted: list[tuple[str, str, str]] = []
        """Path, idempotency key and body."""
        self.statuses: list[int] = []


class _Post(BaseHTTPRequestHandler):
    server: Receiving

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.posted.append((self.path, self.headers["Idempotency-Key"], body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not to the test's output."""


class Table:
    """A table of one key, as DynamoDB's client has it; it copies what it is given."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}

    def get_item(self, *, TableName: str, Key: Any, ConsistentRead: bool) -> dict[str, Any]:
        assert ConsistentRead
        found = self.items.get(Key["pk"]["S"])
        return {} if found is None else {"Item": dict(found)}

    def put_item(self, *, TableName: str, Item: Any) -> None:
        self.items[Item["pk"]["S"]] = dict(Item)


class Given:
    """A webhook with everything around it."""

    def __init__(self, receiving: Receiving) -> None:
        self.receiving, self.table, self.given_up = receiving, Table(), list[dict[str, Any]]()
        url = f"http://127.0.0.1:{receiving.server_port}/hook?token=secret"
        sqs = SimpleNamespace(send_message=lambda **message: self.given_up.append(message))
        settings = WebhookSettings(Receiver.of(url), "posted", "https://dead")
        self.webhook = Webhook(settings, sqs, self.table, MemoryClock(NOW))

    def take(self, *ids: str) -> list[str]:
        """What of A1, B1 and A2, which carry the outputs of these ids, must come again."""
        bodies = [json.dumps({"output_id": output_id}) for output_id in ids]
        return self.take_bodies(*bodies)

    def take_bodies(self, *bodies: str) -> list[str]:
        records = [record | {"body": body} for record, body in zip(EVENT["Records"], bodies, strict=False)]
        return [
            item["itemIdentifier"] for item in handle({"Records": records}, self.webhook)["batchItemFailures"]
        ]

    @property
    def posted(self) -> list[str]:
        return [output_id for _, output_id, _ in self.receiving.posted]


@pytest.fixture
def given() -> Iterator[Given]:
    server = Receiving()
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    yield Given(server)
    server.shutdown()
    serving.join()
    server.server_close()


def test_an_output_is_posted_as_it_is_under_its_id(given: Given) -> None:
    assert given.take("one") == []
    assert given.receiving.posted == [("/hook?token=secret", "one", '{"output_id": "one"}')]
    assert given.table.items["one"]["expires_at"] == {"N": str(int(NOW.timestamp()) + 60 * 86_400)}


def test_an_output_that_was_posted_is_not_posted_again_in_whatever_message_it_comes(given: Given) -> None:
    assert given.take("one", "two", "one") == []
    assert given.take("two") == []
    assert sorted(given.posted) == ["one", "two"]
    assert given.given_up == []


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_what_the_receiver_does_not_take_for_now_comes_again_before_the_rest_of_its_thread(
    given: Given, status: int
) -> None:
    given.receiving.statuses = [status]
    assert given.take("one") == [A1]
    assert given.take("one", "other thread", "two") == []
    assert [found for found in given.posted if found != "other thread"] == ["one", "one", "two"]
    assert given.given_up == []


def test_after_a_failure_the_rest_of_the_thread_waits_and_other_threads_go_on(given: Given) -> None:
    given.table.items["other thread"] = {}
    given.receiving.statuses = [503]
    assert given.take("one", "other thread", "two") == [A1, A2]
    assert given.posted == ["one"]


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 410])
def test_what_the_receiver_refuses_for_good_is_kept_for_people_and_the_thread_goes_on(
    given: Given, status: int
) -> None:
    given.table.items["other thread"] = {}
    given.receiving.statuses = [status]
    assert given.take("one", "other thread", "two") == []
    assert given.posted == ["one", "two"]
    (kept,) = given.given_up
    assert (kept["QueueUrl"], kept["MessageBody"]) == ("https://dead", '{"output_id": "one"}')
    assert kept["MessageGroupId"] == "a"


def test_what_is_moved_back_is_posted_and_when_refused_once_more_not_lost(given: Given) -> None:
    given.receiving.statuses = [404, 404]
    given.take("one")
    again = EVENT["Records"][0] | {"receiptHandle": "later", "body": '{"output_id": "one"}'}
    handle({"Records": [again]}, given.webhook)
    first, second = (kept["MessageDeduplicationId"] for kept in given.given_up)
    assert first != second
    handle({"Records": [again]}, given.webhook)
    assert "one" in given.table.items


@pytest.mark.parametrize(
    "body",
    [
        "no json",
        "[1]",
        "{}",
        '{"output_id": 7}',
        '{"output_id": ""}',
        '{"output_id": "a\\r\\nB: c"}',
        "[" * 9999,
    ],
)
def test_what_is_no_output_is_kept_for_people_and_never_posted(given: Given, body: str) -> None:
    assert given.take_bodies(body) == []
    assert given.posted == []
    assert [kept["MessageBody"] for kept in given.given_up] == [body]


def test_a_receiver_that_is_not_there_is_waited_for_and_not_named() -> None:
    receiver = Receiver.of("http://127.0.0.1:1/secret")
    with pytest.raises(ReceiverUnavailable) as raised:
        receiver.post("{}", "one")
    assert "secret" not in f"{raised.value} {receiver}"


@pytest.mark.parametrize(
    "url",
    [
        "http://receiver.example/secret",
        "ftp://127.0.0.1/secret",
        "https:///secret",
        "https://host:secret/",
        "https://host:99999/secret",
        "https://user:secret@host/",
        "https://host/secret secret",
        "https://host/sécret",
        "https://[secret",
        "secret",
    ],
)
def test_a_url_that_cannot_be_is_refused_at_start_without_being_shown(url: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Receiver.of(url)
    assert "secret" not in str(raised.value)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_a_url_is_taken_apart() -> None:
    assert Receiver.of("https://hooks.example:8443/a/b?c=d#e") == Receiver(
        True, "hooks.example", 8443, "/a/b?c=d"
    )
    assert Receiver.of("http://localhost") == Receiver(False, "localhost", None, "/")
    assert Receiver.of("http://[::1]:80/") == Receiver(False, "::1", 80, "/")


def test_settings_name_everything_that_is_missing() -> None:
    with pytest.raises(SettingsError, match=r"TORPOR_WEBHOOK_URL, TORPOR_WEBHOOK_TABLE, .*_DEAD_LETTERS_URL"):
        WebhookSettings.read({})
