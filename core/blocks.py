"""Content blocks: what user messages, tool results and events are made of.

The wire, the store and the renderer share them.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from core.text import in_key_order


class Value(BaseModel):
    """Base of every stored or sent value: frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """The JSON object of this value; fields that are None are left out."""
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)


class TextBlock(Value):
    type: Literal["text"] = "text"
    text: str


class JsonBlock(Value):
    """Any JSON value, the keys of its objects in order. Providers take only objects: the renderer wraps the others."""

    type: Literal["json"] = "json"
    data: Annotated[Any, AfterValidator(in_key_order)] = None


class _Media(Value):
    data: str | None = None
    """Base64, or None when the bytes are in S3."""
    s3: str | None = None
    """`s3://bucket/key`, or None when the bytes are here."""

    @model_validator(mode="after")
    def _one_source(self) -> "_Media":
        if (self.data is None) == (self.s3 is None):
            raise ValueError("give either data (base64) or s3 (a URI), not both")
        return self


class ImageBlock(_Media):
    type: Literal["image"] = "image"
    media_type: str = Field(max_length=100)


class DocumentBlock(_Media):
    type: Literal["document"] = "document"
    media_type: str = Field(max_length=100)
    name: str = Field(max_length=200)


class StoredBlock(Value):
    """A block whose JSON was too large for the commit item and lies in the payload bucket.

    Only the store writes and resolves these; nothing else meets one except as a payload that is gone.
    """

    type: Literal["stored"] = "stored"
    s3: str
    size_bytes: int
    note: str = ""


Block = Annotated[
    TextBlock | JsonBlock | ImageBlock | DocumentBlock | StoredBlock, Field(discriminator="type")
]
Content = tuple[Block, ...]

WireBlock = Annotated[TextBlock | JsonBlock | ImageBlock | DocumentBlock, Field(discriminator="type")]
"""What may come from outside: nobody but the store says what lies in the payload bucket."""
WireContent = tuple[WireBlock, ...]


def text_content(text: str) -> Content:
    """One text block."""
    return (TextBlock(text=text),)
