"""What every test runs under: no network but loopback, nobody's AWS credentials, coroutine tests, steady hypothesis.

Alone at the top because it must hold before the first test module is imported.
"""

import asyncio
import functools
import inspect
import ipaddress
import os
import sys
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("torpor", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("torpor")

# A developer's own profile or key must never sign a request that a test makes.
for _name in ("AWS_PROFILE", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
    os.environ.pop(_name, None)
os.environ.update(
    AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true"
)


class NetworkUsedError(RuntimeError):
    """A test reached for another machine. Not an OSError: clients would take that for a bad line and try again."""


def _is_local(host: object) -> bool:
    if not isinstance(host, str | bytes):
        return True  # AF_NETLINK and the like: numbers, no machine
    name = host.decode() if isinstance(host, bytes) else host
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name in ("", "localhost") or name.endswith(".localhost")


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: it sees the sockets of every library and thread, and a test cannot undo it."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and address and not _is_local(address[0]):
            raise NetworkUsedError(f"{event} to {address}: tests use loopback only")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
        if not _is_local(host) and not _is_numeric(host):
            raise NetworkUsedError(f"{event} of {host!r}: tests use loopback only")


def _is_numeric(host: str | bytes) -> bool:
    """Numeric addresses are parsed without asking anyone."""
    name = host.decode() if isinstance(host, bytes) else host
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


sys.addaudithook(_refuse_network)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests, `@given` ones too, each in an event loop of its own."""
    test = pyfuncitem.obj
    given = getattr(test, "hypothesis", None)
    if given is not None and inspect.iscoroutinefunction(given.inner_test):
        given.inner_test = _in_a_loop(given.inner_test)
        return None
    if not inspect.iscoroutinefunction(test):
        return None
    _in_a_loop(test)(**{name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters})
    return True


def _in_a_loop(test: Any) -> Any:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run
