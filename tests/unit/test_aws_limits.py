"""The limits of DynamoDB and S3 at their boundaries: the emulator would let most of this through."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import MisuseError
from infra import aws_limits


def key(pk: str = "T#thread", sk: str = "TIP") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def of_size(size: int, letter: str = "x") -> dict[str, Any]:
    """An item of exactly `size` bytes; `letter` may take several."""
    fixed = aws_limits.item_bytes(key() | {"j": {"S": ""}})
    letters, rest = divmod(size - fixed, len(letter.encode()))
    return key() | {"j": {"S": letter * letters + "." * rest}}


KEYS = [key(sk=str(number)) for number in range(101)]
ALLOWED: list[Callable[[], None]] = [
    lambda: aws_limits.check_item(of_size(aws_limits.ITEM_BYTES)),
    lambda: aws_limits.check_item(of_size(aws_limits.ITEM_BYTES, "漢")),
    lambda: aws_limits.check_key(key("p" * 2048, "s" * 1024)),
    lambda: aws_limits.check_batch(KEYS[:100], aws_limits.BATCH_GET_KEYS),
    lambda: aws_limits.check_batch(KEYS[:25], aws_limits.BATCH_WRITE_ITEMS),
    lambda: aws_limits.check_expression("e" * 4096),
    lambda: aws_limits.check_object_key("k" * 1024),
]
REFUSED: list[Callable[[], Any]] = [
    lambda: aws_limits.check_item(of_size(aws_limits.ITEM_BYTES + 1)),
    lambda: aws_limits.check_item(of_size(aws_limits.ITEM_BYTES + 1, "漢")),
    lambda: aws_limits.check_item(key(sk="")),
    lambda: aws_limits.check_key(key(pk="")),
    lambda: aws_limits.check_key(key("p" * 2049)),
    lambda: aws_limits.check_key(key(sk="é" * 513)),
    lambda: aws_limits.check_batch(KEYS[:101], aws_limits.BATCH_GET_KEYS),
    lambda: aws_limits.check_batch(KEYS[:26], aws_limits.BATCH_WRITE_ITEMS),
    lambda: aws_limits.check_batch([], aws_limits.BATCH_GET_KEYS),
    lambda: aws_limits.check_batch([key(), key()], aws_limits.BATCH_GET_KEYS),
    lambda: aws_limits.check_expression("é" * 2049),
    lambda: aws_limits.check_object_key(""),
    lambda: aws_limits.check_object_key("é" * 513),
    lambda: aws_limits.item_bytes({"m": {"M": {}}}),
]


@pytest.mark.parametrize("check", ALLOWED, ids=range(len(ALLOWED)))
def test_what_is_just_allowed_passes(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize("check", REFUSED, ids=range(len(REFUSED)))
def test_what_aws_would_refuse_is_refused(check: Callable[[], Any]) -> None:
    with pytest.raises(MisuseError):
        check()


def test_sizes_count_names_and_bytes() -> None:
    assert aws_limits.item_bytes({"ab": {"S": "é"}}) == 4
    assert aws_limits.item_bytes({"a": {"B": b"123"}}) == 4
    assert aws_limits.item_bytes({"n": {"N": "1234"}}) == 4
