"""The commands for a running system, deployed or local: their options, and which function runs. Imports little."""

import argparse

DEFAULT_STACK = "torpor"
DEFAULT_LISTED = 50


def add_operations(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add them all."""
    _add_check(commands)
    _add_settle(commands)
    _add_dlq(commands)


def run_operation(options: argparse.Namespace) -> int:
    """Run the one that was asked for; returns the exit code."""
    match options.command:
        case "check":
            from infra.cli_check import check_thread

            return check_thread(options)
        case "settle":
            from infra.cli_settle import settle_thread

            return settle_thread(options)
        case _:
            from infra.cli_dlq import dlq

            return dlq(options)


def add_stack_options(parser: argparse.ArgumentParser) -> None:
    """Which system it is: a deployed stack, or a local one."""
    parser.add_argument("--stack", default=DEFAULT_STACK, metavar="NAME", help="default: %(default)s")
    parser.add_argument("--region", help="default: the environment's or the profile's")
    parser.add_argument(
        "--endpoint", metavar="URL", help="a local stack's, as `torpor chat` shows it, in place of --stack"
    )


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = commands.add_parser(
        "check",
        help="hold everything that is stored of a thread against the rules",
        description="Read a thread from end to end and say what is wrong with it, and what to do. Exit code 1 if any.",
    )
    check.add_argument("thread", metavar="THREAD")
    add_stack_options(check)


def _add_settle(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    settle = commands.add_parser(
        "settle",
        help="send what a thread's last commit promised",
        description="Settle a thread's last commit, as its next slice would: the same messages under the same ids.",
    )
    settle.add_argument("thread", metavar="THREAD")
    settle.add_argument("--dry-run", action="store_true", help="only say what would be sent")
    add_stack_options(settle)


def _add_dlq(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    dlq = commands.add_parser(
        "dlq",
        help="read, send again or drop what no thread could take",
        description="Parked bodies: messages that were refused, or given up when every try had failed.",
    )
    actions = dlq.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what there is, oldest first")
    listing.add_argument(
        "--limit", type=int, default=DEFAULT_LISTED, metavar="N", help="default: %(default)s"
    )
    listing.add_argument("--after", metavar="PLACE", help="go on where an earlier list ended")
    showing = actions.add_parser("show", help="one body, whole")
    showing.add_argument("id", metavar="ID")
    again = actions.add_parser(
        "redrive",
        help="send bodies again, where they came from",
        description="Send bodies again under their message ids. An input is sent in its first sender's name.",
    )
    again.add_argument("--vouch", action="store_true", help="send it as your own word, whoever sent it first")
    dropping = actions.add_parser("drop", help="remove bodies for good")
    for several in (again, dropping):
        several.add_argument("ids", nargs="*", metavar="ID")
        several.add_argument("--all", action="store_true", help="every one that there is now")
    for parser in (listing, showing, again, dropping):
        add_stack_options(parser)
