"""The fixtures of the end-to-end tests, which `make e2e` runs: what is not ours, as processes and servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.ministack import running
from tests.e2e.openai_server import ModelServer, model_server


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """The model at the end of it all."""
    with model_server() as served:
        yield served


@pytest.fixture
def ministack_url(tmp_path: Path, model: ModelServer) -> Iterator[str]:
    """ministack, whose Bedrock forwards to `model`."""
    with running(tmp_path, MINISTACK_BEDROCK_PROXY_URL=model.url) as url:
        yield url
