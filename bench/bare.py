"""What the emulator alone takes for the requests of a run: the same bytes once more, for threads of other names."""

from collections.abc import Sequence
from http.client import HTTPConnection
from time import perf_counter
from urllib.parse import urlsplit

from bench.wire import Raw


def bare_seconds(endpoint_url: str, requests: Sequence[Raw], *, instead_of: str, name: str) -> float:
    """Seconds to make them again, one after another. `instead_of`: what thread ids began with; `name`, as long, how
    they begin now, so that every condition holds as it did.
    """
    again = [(one, _renamed(one.body, instead_of, name)) for one in requests]
    connection = HTTPConnection(urlsplit(endpoint_url).netloc)
    began = perf_counter()
    for one, body in again:
        connection.request(one.method, one.path, body, one.headers)
        connection.getresponse().read()
    seconds = perf_counter() - began
    connection.close()
    return seconds


def _renamed(body: bytes, before: str, after: str) -> bytes:
    """Calls too: workers' records go by their ids."""
    return body.replace(f'"{before}-'.encode(), f'"{after}-'.encode()).replace(b'"call_', b'"CALL_')
