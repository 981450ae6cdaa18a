"""The fixtures of the functional tests: one emulator per session."""

from collections.abc import Iterator

import pytest

from tests.contract.emulator import running_emulator


@pytest.fixture(scope="session")
def aws_endpoint() -> Iterator[str]:
    """The emulator's URL."""
    with running_emulator() as endpoint:
        yield endpoint
