"""What `sam build` made, one folder for each function and layer: byte code for it, and its sizes.

Stands alone, with the standard library only: it is run on any build, by any Python.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

MOST_BYTES = 250 * 2**20
"""Lambda's bound for a function with its layers, unzipped."""
LAYER, FUNCTION = "Layer", "Function"
"""How the template's logical ids end."""


def folders(build: Path) -> list[Path]:
    """Of the layers and functions, in order of their logical ids."""
    return sorted(
        folder for folder in build.iterdir() if folder.is_dir() and folder.name.endswith((LAYER, FUNCTION))
    )


def compile_code(build: Path, python: Path) -> None:
    """Put byte code beside every module, as `python` makes it; a file that does not compile stays without.

    Lambda's folders cannot be written to, so without this each cold start compiles what it imports: 0.9 s of CPU for
    the agent. Hashes that are never checked, because packing changes the times of files, and no trace of this
    machine's folders: the same sources make the same package.
    """
    for folder in folders(build):
        options = ["-qq", "-f", "--invalidation-mode", "unchecked-hash", "-s", str(folder)]
        subprocess.run([python, "-m", "compileall", *options, str(folder)], check=False)


def sizes_of(build: Path) -> dict[str, int]:
    """Bytes, unzipped, by logical id."""
    return {
        folder.name: sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        for folder in folders(build)
    }


def most_at_once(sizes: Mapping[str, int]) -> int:
    """Bytes of the largest function with the largest layer: each function has one."""
    largest = [
        max((size for name, size in sizes.items() if name.endswith(end)), default=0)
        for end in (LAYER, FUNCTION)
    ]
    return sum(largest)


def report(sizes: Mapping[str, int]) -> str:
    """For people: a line for each, and how much of Lambda's bound is taken."""
    lines = [f"  {name:<28}{size / 1e6:>7.1f} MB" for name, size in sizes.items()]
    most = most_at_once(sizes)
    share = f"The largest function with its layer: {most / 1e6:.1f} MB of Lambda's {MOST_BYTES / 1e6:.0f} MB."
    return "\n".join(["Sizes, unzipped:", *lines, share])


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m infra.packaging.built FOLDER`: print the sizes; fails if Lambda would refuse them."""
    parser = argparse.ArgumentParser(description="Print the sizes of what `sam build` made.")
    parser.add_argument("build", type=Path, nargs="?", default=Path(".aws-sam/build"))
    given = parser.parse_args(arguments)
    if not given.build.is_dir():
        parser.error(f"{given.build} is not there: build first")
    sizes = sizes_of(given.build)
    sys.stdout.write(report(sizes) + "\n")
    if most_at_once(sizes) > MOST_BYTES:
        parser.exit(1, "That is more than Lambda takes.\n")


if __name__ == "__main__":
    main()
