"""What images and documents are, and what is wrong with them (faults.md, "images and documents")."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.media import (
    DOCUMENT_BYTES,
    IMAGE_BYTES,
    ImageHeader,
    check_document,
    check_image,
    decode_base64,
    read_image,
)
from tests.unit.bedrock.pictures import gif, jpeg, png, webp

Make = Callable[[int, int], bytes]
KINDS = [
    pytest.param("image/png", png, id="png"),
    pytest.param("image/gif", gif, id="gif"),
    pytest.param("image/jpeg", jpeg, id="jpeg"),
    pytest.param("image/jpeg", lambda *size: jpeg(*size, frame=0xC2), id="progressive jpeg"),
    pytest.param("image/webp", lambda *size: webp(b"VP8 ", *size), id="lossy webp"),
    pytest.param("image/webp", lambda *size: webp(b"VP8L", *size), id="lossless webp"),
    pytest.param("image/webp", lambda *size: webp(b"VP8X", *size), id="extended webp"),
]
every_kind = pytest.mark.parametrize(("media_type", "make"), KINDS)


@every_kind
def test_an_image_says_what_it_is_and_how_large(media_type: str, make: Make) -> None:
    for width, height in ((1, 1), (640, 480), (8000, 7999), (8001, 16383)):
        assert read_image(make(width, height)) == ImageHeader(media_type, width, height)


@every_kind
def test_an_image_of_the_type_it_says_passes(media_type: str, make: Make) -> None:
    assert check_image(media_type, make(8000, 8000)) is None
    assert check_image(f"{media_type.upper()}; q=1", make(1, 1)) is None


@every_kind
def test_an_image_that_is_cut_off_anywhere_in_its_header_is_none(media_type: str, make: Make) -> None:
    data = make(640, 480)
    for size in range(len(data)):
        assert read_image(data[:size]) in (None, ImageHeader(media_type, 640, 480))
    assert read_image(data[:8]) is None


def test_what_no_model_takes_is_told() -> None:
    assert check_image("image/jpg", jpeg()) is None
    wrong = {
        "type": check_image("image/bmp", b"BM"),
        "no type": check_image("", png()),
        "another type": check_image("image/jpeg", png()),
        "no image": check_image("image/png", b"hello"),
        "nothing": check_image("image/png", b""),
        "too wide": check_image("image/png", png(8001, 1)),
        "too high": check_image("image/png", png(1, 8001)),
        "without pixels": check_image("image/png", png(0, 1)),
        "too large": check_image("image/png", png(more=b"\x00" * IMAGE_BYTES)),
    }
    assert [name for name, problem in wrong.items() if not problem] == []


def test_documents_have_a_size_and_a_pdf_is_one() -> None:
    assert check_document("application/pdf", b"%PDF-1.7\n") is None
    assert check_document("text/plain", b"x" * DOCUMENT_BYTES) is None
    assert check_document("application/pdf", b"PK\x03\x04") is not None
    assert check_document("text/plain", b"") is not None
    assert check_document("text/plain", b"x" * (DOCUMENT_BYTES + 1)) is not None


@pytest.mark.parametrize(
    "text", ["aGVsbG8", "aGVsbG8=!", "ä", "a\x00==", "====", "data:image/png;base64,aGk="]
)
def test_what_is_not_base64_is_none(text: str) -> None:
    assert decode_base64(text) is None


def test_base64_may_be_broken_into_lines() -> None:
    assert decode_base64("aGVs\r\n bG8=\n") == b"hello"


@given(
    st.binary(max_size=64),
    st.sampled_from([b"", b"\xff\xd8\xff", b"RIFF0000WEBPVP8 ", b"GIF89a", png()[:16]]),
)
def test_any_bytes_can_be_asked(data: bytes, head: bytes) -> None:
    for media_type in ("image/png", "image/jpeg", "image/webp", "image/gif"):
        problem = check_image(media_type, head + data)
        assert problem is None or problem
