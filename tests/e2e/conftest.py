"""The fixtures of the end-to-end tests, which `make e2e` runs: what is not ours, as processes and servers, and the
project deployed to it.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e.deployed import Deployed, deployed_to
from tests.e2e.ministack import running
from tests.e2e.openai_server import ModelServer, model_server
from tests.e2e.processes import environment
from tests.e2e.project import Project, build_project

SOON_SECONDS = 15


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


@pytest.fixture(scope="session")
def project() -> Iterator[Project]:
    """Built once. It is large, so it does not stay."""
    with TemporaryDirectory(prefix="torpor-e2e-") as folder:
        yield build_project(Path(folder, "project"), environment(Path(folder), "http://127.0.0.1:9"))


@pytest.fixture(scope="session", params=["enforced", "open"])
def deployed(request: pytest.FixtureRequest, project: Project) -> Iterator[Deployed]:
    """One deployment for all tests, and another without permission enforcement. Each test has threads of its own."""
    with deployed_to(project, enforced=request.param == "enforced") as there:
        yield there


@pytest.fixture
def soon_visible(deployed: Deployed) -> Iterator[None]:
    """What functions had received when they were killed comes again after this time. The emulator kills those that it
    updates, as AWS does not.
    """
    sqs = deployed.stack.client("sqs")
    urls = [deployed.stack.resource(name) for name in ("InputQueue", "LibraryQueue", "DelayQueue")]
    asked = "VisibilityTimeout"
    before = [
        sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[asked])["Attributes"][asked] for url in urls
    ]
    for url in urls:
        sqs.set_queue_attributes(QueueUrl=url, Attributes={asked: str(SOON_SECONDS)})
    yield
    for url, seconds in zip(urls, before, strict=True):
        sqs.set_queue_attributes(QueueUrl=url, Attributes={asked: seconds})
