"""A template on disk: read as text, and written back as a whole or not at all, with the line ends that it had."""

import os
import tempfile
from pathlib import Path

from core.errors import SettingsError


def read_template(file: Path) -> str:
    """Its text, with `\\n` at the ends of lines. Raises SettingsError if there is none that can be read."""
    try:
        return file.read_text("utf-8")
    except FileNotFoundError as error:
        raise SettingsError(f"there is no {file.name} in {file.absolute().parent}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error


def replace_template(file: Path, text: str) -> None:
    """Write it, with its mode, where a link leads. Raises SettingsError."""
    place = file.resolve()
    try:
        newline = "\r\n" if b"\r\n" in place.read_bytes() else "\n"
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as new:
            new.write(text.replace("\n", newline).encode())
        Path(new.name).chmod(place.stat().st_mode)
        os.replace(new.name, place)
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error}") from error
