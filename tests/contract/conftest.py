"""The fixtures of the contract tests: one emulator per session, and each store over it or in memory."""

from collections.abc import Iterator

import pytest

from tests.contract.emulator import running_emulator
from tests.contract.stores import DynamoStores, MemoryStores, Stores


@pytest.fixture(scope="session")
def aws_endpoint() -> Iterator[str]:
    """The emulator's URL."""
    with running_emulator() as endpoint:
        yield endpoint


@pytest.fixture
def dynamo(aws_endpoint: str) -> DynamoStores:
    """The DynamoDB store alone, for what only it can do."""
    return DynamoStores(aws_endpoint)


@pytest.fixture(params=["memory", "dynamodb"])
def stores(request: pytest.FixtureRequest) -> Stores:
    """Each store in turn. A test opens it inside its own event loop."""
    if request.param == "memory":
        return MemoryStores()
    return DynamoStores(request.getfixturevalue("aws_endpoint"))
