"""How a user message with metadata is shown to a model: by a template of the author's, so that "mine" can be known.

What is stored stays as it was said. Values and text are the sender's own words: a template tells people apart for the
model, it does not prove who they are. A tool that must know asks its context.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from core.blocks import Content, TextBlock
from core.entries import Entry, User
from core.errors import DefinitionError
from core.text import shorten

VALUE_CHARACTERS = 200
"""Of a metadata value in a prompt; what is longer is cut."""
_CONTENT = "{content}"
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]+)\}")


def check_template(owner: str, template: object) -> None:
    """Raises DefinitionError unless `template` is text that holds `{content}` once."""
    if not isinstance(template, str) or template.count(_CONTENT) != 1:
        raise DefinitionError(
            f"{owner}: message_template must be text with {_CONTENT} in it once, such as '[{{user_id}}] {_CONTENT}'"
        )


def with_template(entry: Entry, template: str | None) -> Entry:
    """The entry as a model sees it. Only user messages that brought metadata are shown otherwise than they were said.

    `{key}` stands for the message's own metadata, on one line; nothing, where it has no such key.
    """
    if template is None or not isinstance(entry, User) or not entry.metadata:
        return entry
    before, _, after = template.partition(_CONTENT)
    metadata = entry.metadata
    content = _joined(_filled(before, metadata), entry.content, _filled(after, metadata))
    return entry.model_copy(update={"content": content})


def _filled(text: str, metadata: Mapping[str, Any]) -> str:
    return _PLACEHOLDER.sub(lambda found: _one_line(metadata.get(found[1], "")), text)


def _one_line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shorten(" ".join(text.split()), VALUE_CHARACTERS)


def _joined(before: str, content: Content, after: str) -> Content:
    """Text joins the first and the last block if those are text, else it stands beside them."""
    blocks = list(content)
    if blocks and isinstance(blocks[0], TextBlock):
        blocks[0] = TextBlock(text=before + blocks[0].text)
    elif before.strip():
        blocks.insert(0, TextBlock(text=before))
    if blocks and isinstance(blocks[-1], TextBlock):
        blocks[-1] = TextBlock(text=blocks[-1].text + after)
    elif after.strip():
        blocks.append(TextBlock(text=after))
    return tuple(blocks)
