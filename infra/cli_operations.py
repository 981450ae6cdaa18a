"""The commands for a running system, deployed or local: their options, and which function runs. Imports little."""

import argparse
from pathlib import Path

from infra.cli_values import count, pair, seq

DEFAULT_STACK = "torpor"
DEFAULT_LISTED = 50
DEFAULT_TURNS = 5


def add_operations(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add them all."""
    _add_threads(commands)
    _add_show(commands)
    _add_said(commands)
    _add_check(commands)
    _add_settle(commands)
    _add_dlq(commands)
    _add_erase(commands)
    _add_export(commands)


def run_operation(options: argparse.Namespace) -> int:
    """Run the one that was asked for; returns the exit code."""
    match options.command:
        case "threads":
            from infra.cli_threads import list_threads

            return list_threads(options)
        case "show":
            from infra.cli_show import show_thread

            return show_thread(options)
        case "send" | "cancel" | "close" | "answer":
            from infra.cli_send import send_to_thread

            return send_to_thread(options)
        case "erase":
            from infra.cli_erase import erase_thread

            return erase_thread(options)
        case "export":
            from infra.cli_export import export_thread

            return export_thread(options)
        case "import":
            from infra.cli_export import import_file

            return import_file(options)
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


def _add_threads(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    threads = commands.add_parser(
        "threads",
        help="list threads",
        description="List threads, in no order, by a scan: to list all, the whole table is read, and paid for.",
    )
    threads.add_argument(
        "--limit", type=count, default=DEFAULT_LISTED, metavar="N", help="default: %(default)s"
    )
    threads.add_argument("--after", metavar="THREAD", help="go on behind the last one of an earlier list")
    threads.add_argument("--roots", action="store_true", help="without the threads that others have spawned")
    add_stack_options(threads)


def _add_show(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    show = commands.add_parser(
        "show",
        help="show what a thread does and waits for",
        description="Show what a thread is, what it waits for, and its last turns.",
    )
    show.add_argument("thread", metavar="THREAD")
    show.add_argument("--tree", action="store_true", help="with the open threads below it")
    show.add_argument(
        "--follow", action="store_true", help="and what comes, until the thread is closed or Ctrl-C"
    )
    show.add_argument(
        "--after", type=seq, metavar="SEQ", help="the turns behind this entry; default: the last ones"
    )
    show.add_argument(
        "--limit", type=count, default=DEFAULT_TURNS, metavar="N", help="turns; default: %(default)s"
    )
    show.add_argument(
        "--full", action="store_true", help="what it waits for also where that takes long to read"
    )
    add_stack_options(show)


def _add_said(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    send = commands.add_parser("send", help="say something to a thread", description="Send a user message.")
    cancel = commands.add_parser(
        "cancel",
        help="stop a thread's work",
        description="Answer live calls as interrupted; nothing is owed.",
    )
    close = commands.add_parser("close", help="end a thread", description="End a thread, and its children.")
    answer = commands.add_parser(
        "answer", help="answer a question of a thread", description="Answer what a thread asks a person."
    )
    for parser in (send, cancel, close, answer):
        parser.add_argument("thread", metavar="THREAD")
    send.add_argument("text", metavar="TEXT", help="- reads it from the standard input")
    send.add_argument(
        "--on-busy", choices=("interrupt", "queue"), help="while calls are live; default: the agent's"
    )
    send.add_argument("--agent", metavar="NAME", help="of a new thread; default: the app's")
    send.add_argument(
        "--metadata",
        action="append",
        default=[],
        type=pair,
        metavar="KEY=VALUE",
        help="may be given again",
    )
    answer.add_argument(
        "call", nargs="?", metavar="CALL", help="its id; may be left out where one question is open"
    )
    verdict = answer.add_mutually_exclusive_group()
    verdict.add_argument("--approve", action="store_true")
    verdict.add_argument("--refuse", action="store_true")
    verdict.add_argument("--choice", metavar="TEXT")
    answer.add_argument("--args", metavar="JSON", help="approved in place of those that were asked about")
    answer.add_argument("--comment", default="", metavar="TEXT")
    for parser in (send, cancel, close, answer):
        parser.add_argument(
            "--message-id", metavar="ID", help="sent again under it, it counts once; default: a new one"
        )
        add_stack_options(parser)


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


def _add_erase(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    erase = commands.add_parser(
        "erase",
        help="take a thread away",
        description="Remove a thread and its payloads for good, and say what went and what keeps the rest.",
    )
    erase.add_argument("thread", metavar="THREAD")
    erase.add_argument("--tree", action="store_true", help="and the threads below it")
    add_stack_options(erase)


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    export = commands.add_parser(
        "export",
        help="write a thread and its children as JSON lines",
        description="Write a tree of threads, and the logs that it reads, as JSON lines, large values in full.",
    )
    export.add_argument("thread", metavar="THREAD")
    export.add_argument("--to", type=Path, metavar="FILE", help="default: the standard output")
    restore = commands.add_parser(
        "import",
        help="bring an export back, into a stack that has none of it",
        description="Check an export and write its threads. Nothing is sent. The same command again goes on.",
    )
    restore.add_argument("file", type=Path, metavar="FILE")
    for parser in (export, restore):
        add_stack_options(parser)


def _add_dlq(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    dlq = commands.add_parser(
        "dlq",
        help="read, send again or drop what no thread could take",
        description="Parked bodies: messages that were refused, or given up when every try had failed.",
    )
    actions = dlq.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what there is, oldest first")
    listing.add_argument(
        "--limit", type=count, default=DEFAULT_LISTED, metavar="N", help="default: %(default)s"
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
