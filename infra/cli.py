"""The command line, `torpor`: options, and which command runs. Commands are imported when they run."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

DEFAULT_APP = "examples.research:app"
INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 failed, 2 used wrongly, 130 interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    from infra.cli_chat import chat

    try:
        return chat(options.app, options.model, options.thread, options.text)
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torpor", description="AI agents as a chain of short Lambda invocations."
    )
    parser.add_argument("--version", action="version", version=f"torpor {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    talk = commands.add_parser(
        "chat",
        help="talk to an agent on a local stack",
        description="Talk to an agent: the real handlers, queues and worker processes on this machine.",
    )
    talk.add_argument("text", nargs="?", metavar="TEXT", help="one question; without it, a conversation")
    talk.add_argument("--app", default=DEFAULT_APP, metavar="MODULE:ATTRIBUTE", help="default: %(default)s")
    talk.add_argument("--model", metavar="PROVIDER:MODEL", help="default: the agent's own")
    talk.add_argument("--thread", default="chat", metavar="ID", help="the thread's id; default: %(default)s")
    return parser


def _version() -> str:
    try:
        return version("torpor")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
