"""The port for ids that nothing causes, and its one real implementation.

Inside the system every id is derived (`core/ids.py`). A message that a person writes has no cause to derive one from,
and other programs write to the same thread: whoever sends it names it, before the first request is made.
"""

import base64
import os
from collections.abc import Callable

NewId = Callable[[], str]
"""Gives an id that nobody else gives, at every call another: 1–128 characters that a message id may have."""


def new_id() -> str:
    """26 characters of `a-z2-7`: 128 bits of the machine's randomness."""
    return base64.b32encode(os.urandom(16)).decode("ascii").rstrip("=").lower()
