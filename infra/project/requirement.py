"""What a project writes down to install Torpor: the same Torpor that made it, wherever that came from."""

import json
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from core.errors import DefinitionError

WANTED = "torpor[local]"
"""With the local stack, for the project's tests."""
_ROOT = Path(__file__).parents[2]


def requirement(given: str | None) -> str:
    """A line for pip. `given`: a folder, a wheel, a URL, or a requirement; None: where this Torpor was installed from.

    Raises DefinitionError for what is none of these.
    """
    if given is None:
        return _own()
    path = Path(given).expanduser()
    if path.exists():
        return f"{WANTED} @ {path.resolve().as_uri()}"
    if re.match(r"[a-z+]+://", given):
        return f"{WANTED} @ {given}"
    if re.match(r"torpor\b", given):
        return re.sub(r"^torpor(?!\[)", WANTED, given)
    raise DefinitionError(f"{given}: there is no such file, and it is no URL and no torpor==VERSION")


def _own() -> str:
    if (_ROOT / "pyproject.toml").is_file():  # a checkout, however it was installed
        return f"{WANTED} @ {_ROOT.as_uri()}"
    installed = distribution("torpor")
    direct = installed.read_text("direct_url.json")  # PEP 610: there if it did not come from an index
    return f"{WANTED} @ {url_of(json.loads(direct))}" if direct else f"{WANTED}=={installed.version}"


def url_of(origin: dict[str, Any]) -> str:
    """Of what PEP 610 says of an installation."""
    match origin:
        case {"url": str(url), "vcs_info": {"vcs": vcs, "commit_id": commit}}:
            return f"{vcs}+{url}@{commit}"
        case _:
            return str(origin["url"])
