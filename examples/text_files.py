"""Reading a folder of text documents safely, and finding words in them. What the research tools stand on.

Apart from the tools because it knows nothing of agents. A model chooses the paths, so none may lead out of the root,
symbolic links included, and nothing is read whole that is too large or no text.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".md", ".rst", ".txt")
MAX_FILES = 500
MAX_FILE_BYTES = 1_000_000

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Document:
    """One text. `path` is relative to the root, with forward slashes."""

    path: str
    text: str

    @property
    def title(self) -> str:
        """The first heading or line; the file's name if there is none."""
        first = next((line.strip("#=* \t") for line in self.text.splitlines() if line.strip()), "")
        return first or Path(self.path).stem

    @property
    def paragraphs(self) -> list[str]:
        """Without the title."""
        blocks = [block.strip() for block in re.split(r"\n\s*\n", self.text)]
        return [block for block in blocks if block and block.strip("#=* \t") != self.title]


@dataclass(frozen=True)
class Hit:
    document: Document
    score: float
    snippet: str
    """The paragraph that speaks most of what was asked."""


def documents_root() -> Path:
    """Where documents may be read: `TORPOR_DOCUMENTS`, else the folder that comes with this example."""
    given = os.environ.get("TORPOR_DOCUMENTS")
    return Path(given).expanduser().resolve() if given else Path(__file__).resolve().parent / "documents"


def read_document_file(root: Path, path: str) -> Document:
    """The document at `path`, relative to `root`. Raises ValueError, saying why, if it may not or cannot be read."""
    return _read(root, _inside(root, path))


def folder_documents(root: Path, folder: str) -> list[Document]:
    """The readable documents in a folder and below, by path, at most MAX_FILES. Hidden files are left out.

    Raises ValueError if the folder is outside `root` or not there.
    """
    start = _inside(root, folder)
    if not start.is_dir():
        raise ValueError(f"there is no folder {folder!r}")
    found: list[Document] = []
    for file in _text_files(root, start):
        try:
            found.append(_read(root, file))
        except ValueError:
            continue  # one file that is no text must not hide the others
        if len(found) == MAX_FILES:
            break
    return found


def search(documents: list[Document], query: str) -> list[Hit]:
    """The documents that hold any of the query's words, best first: rare words count more than common ones."""
    wanted = set(words(query))
    counts = [Counter(words(document.text)) for document in documents]
    rarity = {
        word: math.log(1 + len(documents) / (1 + sum(word in count for count in counts))) for word in wanted
    }
    hits = []
    for document, count in zip(documents, counts, strict=True):
        score = sum(rarity[word] * (1 + math.log(count[word])) for word in wanted if count[word])
        if score:
            hits.append(Hit(document, score, next(iter(best_paragraphs(document, query, 1)), "")))
    return sorted(hits, key=lambda hit: (-hit.score, hit.document.path))


def best_paragraphs(document: Document, query: str, limit: int) -> list[str]:
    """At most `limit` paragraphs that speak most of the query, in the order of the text; the first if none does."""
    wanted = set(words(query))
    paragraphs = document.paragraphs
    ranked = sorted(range(len(paragraphs)), key=lambda at: (-len(wanted & set(words(paragraphs[at]))), at))
    return [paragraphs[at] for at in sorted(ranked[:limit])]


def words(text: str) -> list[str]:
    """Words in lower case, a plural's s taken off: as good a stem as needs no dictionary."""
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in _WORD.findall(text.lower())
    ]


def _inside(root: Path, path: str) -> Path:
    try:
        target = (root / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError("the path cannot be followed") from error
    if not target.is_relative_to(root.resolve()):
        raise ValueError("the path leads outside the documents (TORPOR_DOCUMENTS says where those are)")
    return target


def _text_files(root: Path, start: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(start):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if (
                not name.startswith(".")
                and file.suffix.lower() in SUFFIXES
                and file.resolve().is_relative_to(root.resolve())
            ):
                yield file


def _read(root: Path, file: Path) -> Document:
    shown = file.relative_to(root.resolve()).as_posix()
    if file.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{shown} is not a text document: only {', '.join(SUFFIXES)} are read")
    if not file.is_file():
        raise ValueError(f"there is no file {shown}")
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{shown} cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{shown} is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown} is not UTF-8 text") from error
    if "\0" in text:
        raise ValueError(f"{shown} is not text")
    return Document(shown, text)
