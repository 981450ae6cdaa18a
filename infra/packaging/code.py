"""The code of a function: what runs on Lambda, without tests, the local stack and what only people use.

Stands alone, with the standard library only: `sam build` has make run it once for each function (`build-%Function`),
under any Python.
"""

import argparse
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

HOME = Path(__file__).parents[2]
"""Where this Torpor is: a checkout, or the site-packages it is installed in."""
PACKAGES = ("core", "handlers", "infra")
NOT_DEPLOYED = (
    "infra/cli*.py",
    "infra/client",
    "infra/local",
    "infra/memory",
    "infra/operations",
    "infra/packaging",
    "infra/project",
    "infra/stack.py",
)
LEFT_OUT = ("__pycache__", "*.pyc", "py.typed", ".*")
"""Of any folder."""


def copy_code(target: Path, folders: Sequence[Path]) -> None:
    """Copy Torpor's packages, and the application's own folders or files, into a function's folder."""
    for package in PACKAGES:
        shutil.copytree(HOME / package, target / package, ignore=_left_out, dirs_exist_ok=True)
    for folder in folders:
        if folder.is_dir():
            shutil.copytree(folder, target / folder.name, ignore=_left_out, dirs_exist_ok=True)
        else:
            shutil.copy(folder, target)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """As `shutil.copytree` asks: which of the names in a folder stay behind."""
    return {name for name in names if _matches(name, LEFT_OUT) or _matches(_path(folder, name), NOT_DEPLOYED)}


def _path(folder: str, name: str) -> str:
    """Relative to this Torpor; the name alone elsewhere."""
    path = Path(folder, name)
    return path.relative_to(HOME).as_posix() if path.is_relative_to(HOME) else name


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m infra.packaging.code TARGET [FOLDER …]`."""
    parser = argparse.ArgumentParser(description="Copy the code of a function.")
    parser.add_argument("target", type=Path, help="the function's folder")
    parser.add_argument("folders", type=Path, nargs="*", help="of the application, or files")
    given = parser.parse_args(arguments)
    if missing := [str(folder) for folder in given.folders if not folder.exists()]:
        parser.error(f"there is no {' and no '.join(missing)} in {Path.cwd()}")
    copy_code(given.target, given.folders)


if __name__ == "__main__":
    main()
