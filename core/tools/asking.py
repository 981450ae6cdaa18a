"""How a worker's tool asks a person: it returns `AskChoice` or `AskAuth`, and is run again with the answer.

Apart from the result because a run that asks has none yet: its call stays live, and nothing runs meanwhile.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from core.blocks import Value
from core.errors import MisuseError
from core.text import clean_text

MAX_PROMPT_CHARACTERS = 10_000
MAX_CHOICES = 100
MAX_CHOICE_CHARACTERS = 1_000
MAX_URL_CHARACTERS = 4_000


class Answered(Value):
    """What a person answered to one question."""

    choice: str
    """One of the choices; of an authorisation, `approved` or `refused`."""
    comment: str = ""


@dataclass(frozen=True, init=False)
class AskChoice:
    """Returned by a tool: let a person choose. Raises MisuseError for what nobody could answer."""

    prompt: str
    choices: tuple[str, ...]
    default: str | None
    """Taken when nobody answers in time. None: then the call ends without an answer."""
    expires_in_seconds: float | None
    """None: as long as the call has."""

    def __init__(
        self,
        prompt: str,
        choices: Iterable[str],
        default: str | None = None,
        expires_in_seconds: float | None = None,
    ) -> None:
        values = {
            "prompt": clean_text(prompt),
            "choices": tuple(clean_text(choice) for choice in choices),
            "default": None if default is None else clean_text(default),
            "expires_in_seconds": expires_in_seconds,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _require(choice_fault(self.prompt, self.choices, self.default), expires_in_seconds)

    def fields(self) -> dict[str, Any]:
        """Those of a `question` message."""
        asked = {"kind": "choice", "prompt": self.prompt, "choices": list(self.choices)}
        return {**asked, "default": self.default, "expires_in_seconds": self.expires_in_seconds}


@dataclass(frozen=True, init=False)
class AskAuth:
    """Returned by a tool: let a person sign in or agree on a web page. Raises MisuseError for what is no page."""

    url: str
    expires_in_seconds: float | None

    def __init__(self, url: str, expires_in_seconds: float | None = None) -> None:
        object.__setattr__(self, "url", clean_text(url))
        object.__setattr__(self, "expires_in_seconds", expires_in_seconds)
        _require(url_fault(self.url), expires_in_seconds)

    def fields(self) -> dict[str, Any]:
        """Those of a `question` message."""
        return {"kind": "auth", "url": self.url, "expires_in_seconds": self.expires_in_seconds}


Ask = AskChoice | AskAuth


def choice_fault(prompt: str, choices: tuple[str, ...], default: str | None) -> str | None:
    """What is wrong with a choice, if anything."""
    if not prompt.strip() or len(prompt) > MAX_PROMPT_CHARACTERS:
        return f"prompt: 1 to {MAX_PROMPT_CHARACTERS:,} characters, not blank"
    if not 1 <= len(choices) <= MAX_CHOICES or len(set(choices)) < len(choices):
        return f"choices: 1 to {MAX_CHOICES}, each another"
    if not all(choice.strip() and len(choice) <= MAX_CHOICE_CHARACTERS for choice in choices):
        return f"choices: each 1 to {MAX_CHOICE_CHARACTERS:,} characters, not blank"
    if default is not None and default not in choices:
        return "default: must be one of the choices"
    return None


def url_fault(url: str) -> str | None:
    """What is wrong with the address of a page, if anything. People are sent there: nothing but a web page."""
    shown = all(character.isprintable() and not character.isspace() for character in url)
    if len(url) > MAX_URL_CHARACTERS or not shown:
        return f"url: at most {MAX_URL_CHARACTERS:,} characters, each to be seen: no white space, no marks of direction"
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "url: is none"
    if parts.scheme not in ("https", "http") or not named:
        return "url: must begin with https:// or http:// and name a host"
    if "@" in parts.netloc:
        return "url: must not name a user, which hides the host"
    return None


def _require(fault: str | None, expires_in_seconds: float | None) -> None:
    if fault is None and expires_in_seconds is not None:
        right = math.isfinite(expires_in_seconds) and expires_in_seconds > 0
        fault = None if right else "expires_in_seconds: above 0, or None"
    if fault is not None:
        raise MisuseError(fault)
