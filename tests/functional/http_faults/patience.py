"""The functions' AWS clients as production has them, without the time that passes between their tries, or for an answer
that never comes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.retries.quota import RetryQuota
from botocore.retries.standard import (
    ExponentialBackoff,
    RetryEventAdapter,
    RetryHandler,
    RetryPolicy,
    RetryQuotaChecker,
    StandardRetryConditions,
)

from handlers import clients

SHORT_SECONDS = 0.4
"""Of a read timeout: an emulator in the same process answers sooner, and if not, its request is tried again."""


def try_again_at_once(client: Any) -> None:
    """The synchronous client's own retries, as many and after the same failures as before, wait no more."""
    attempts = client.meta.config.retries["total_max_attempts"]
    policy = RetryPolicy(StandardRetryConditions(max_attempts=attempts), ExponentialBackoff(max_backoff=0))
    quota: Any = RetryQuotaChecker(RetryQuota())
    handler = RetryHandler(policy, RetryEventAdapter(), quota)
    service = client.meta.service_model.service_id.hyphenize()
    event, known_as = f"needs-retry.{service}", f"retry-config-{service}"
    client.meta.events.unregister(event, unique_id=known_as)
    client.meta.events.register(event, handler.needs_retry, unique_id=known_as)


@contextmanager
def short_read_timeouts() -> Iterator[None]:
    """Clients opened meanwhile do not wait for an answer as long as in production."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clients, "READ_TIMEOUT_SECONDS", SHORT_SECONDS)
        yield
