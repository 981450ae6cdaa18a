"""Records of earlier schema versions become today's, one version at a time (storage.md, "Versions").

A new version comes with its step here and a table of the old one under `tests/contract/stored`. Readers of it ship a
release before anything writes it. Fields that may be missing, with a default that means what was true before, need no
step; their writers ship later than their readers all the same, for no reader lets pass what it does not know.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from core.errors import UnreadableRecord

SCHEMA_VERSION: Final = 1

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""From a whole record, snapshots included, to the one that the next version would have written. Does not change it."""

UPCASTERS: Final[Mapping[int, Upcaster]] = {}
"""By the version that they read. One for each before SCHEMA_VERSION."""


def upcast(
    record: dict[str, Any],
    *,
    to_version: int = SCHEMA_VERSION,
    upcasters: Mapping[int, Upcaster] = UPCASTERS,
) -> dict[str, Any]:
    """The record as of `to_version`. Raises UnreadableRecord for a newer version, or what is none."""
    version = record.get("v")
    require_readable(version, to_version=to_version)
    for earlier in range(int(version or 0), to_version):
        record = {**upcasters[earlier](record), "v": earlier + 1}
    return record


def require_readable(version: object, *, to_version: int = SCHEMA_VERSION) -> None:
    """Raises UnreadableRecord for a version that this code does not know, before anything else is looked at."""
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= to_version:
        raise UnreadableRecord(
            f"a record of schema version {version!r}, this code reads up to {to_version}: deploy a newer one"
        )
