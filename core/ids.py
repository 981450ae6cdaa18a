"""Derived ids (invariant *derived ids*) and the alphabets of ids from outside.

Every id is a function of what caused it: the same cause gives the same id in any process, another cause another. No
id is random, none is a timestamp.
"""

import base64
import hashlib
import re
from typing import Any

from core.text import canonical_json

ROOT_THREAD_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
CHILD_THREAD_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}~[A-Za-z0-9_-]{1,27}")
THREAD_IDS = "1-100 of A-Za-z0-9_.:- (a child's adds ~ and at most 27 more)"
"""The same for people."""
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
DIGEST = re.compile(r"[a-z2-7]{26}")
"""What `digest` gives."""


def digest(*parts: Any) -> str:
    """26 characters of `a-z2-7`: 128 bits over the parts (JSON values), boundaries between them included."""
    hashed = hashlib.sha256(canonical_json(parts).encode("ascii")).digest()
    return base64.b32encode(hashed[:16]).decode("ascii").rstrip("=").lower()


def is_thread_id(text: str) -> bool:
    """Whether `text` can name a thread: a root's id, or a child's (root's id, `~`, at most 27 more)."""
    return bool(ROOT_THREAD_ID.fullmatch(text) or CHILD_THREAD_ID.fullmatch(text))


def root_of(thread_id: str) -> str:
    """The root thread's id, which every thread's id begins with."""
    return thread_id.partition("~")[0]


def is_child(thread_id: str) -> bool:
    """Whether the id is a child's. Only a `spawn` can make such a thread."""
    return "~" in thread_id


def birth_id(thread_id: str, cause: str) -> str:
    """What tells one log of a thread id from another under the same id. `cause`: the first input's id."""
    return digest("birth", thread_id, cause)


def call_id(thread_id: str, birth: str, seq: int, position: int, name: str, arguments: Any) -> str:
    """A call's id. A model's own ids are not trusted: models repeat them, across turns and inside one."""
    return "call_" + digest("call", thread_id, birth, seq, position, name, arguments)


def child_thread_id(root_thread_id: str, spawned_by: str) -> str:
    """A child's thread id. `spawned_by`: the id of the call or of the event, each of which spawns one at most."""
    return f"{root_thread_id}~{digest('child', spawned_by)}"


def event_cause(thread_id: str, birth: str, event_key: str) -> str:
    """What a child for one event is spawned by. `event_key`: what the event is known by in this log."""
    return digest("event", thread_id, birth, event_key)


def compaction_cause(thread_id: str, birth: str, commit_number: int) -> str:
    """What a compaction child is spawned by: the commit that asks for it asks for one at most."""
    return digest("compaction", thread_id, birth, commit_number)


def outbox_id(thread_id: str, commit_digest: str, position: int) -> str:
    """Message id, deduplication id, output id and schedule name of one outbox message."""
    return digest("outbox", thread_id, commit_digest, position)
