"""The command line, `torpor`: options, and which command runs. Commands are imported when they run."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from infra.cli_operations import add_operations, add_stack_options, run_operation
from infra.cli_streams import with_streams
from infra.cli_values import pair, seconds

DEFAULT_APP = "examples.research:app"
WORKER_TIMEOUT_SECONDS = 90
ASK_SECONDS = 120.0
INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 failed, 2 used wrongly, 130 interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return with_streams(lambda: _run(options))
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "chat":
            from infra.cli_chat import chat

            return chat(options.app, options.model, options.thread, options.text)
        case "ask":
            from infra.cli_ask import ask

            return ask(options)
        case "new":
            from infra.cli_project import new

            return new(options.folder, options.name, options.torpor)
        case "new-worker":
            from infra.cli_project import new_worker

            return new_worker(options.name, options.timeout)
        case "fork":
            from infra.cli_fork import fork_thread

            return fork_thread(options, options.thread, options.at, options.to)
        case "deploy":
            from infra.cli_deploy import Deployment, deploy

            return deploy(Deployment(options.stack, options.region, options.parameters, options.build_dir))
        case _:
            return run_operation(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torpor", description="AI agents as a chain of short Lambda invocations."
    )
    parser.add_argument("--version", action="version", version=f"torpor {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_chat(commands)
    _add_ask(commands)
    _add_new(commands)
    _add_new_worker(commands)
    _add_deploy(commands)
    _add_fork(commands)
    add_operations(commands)
    return parser


def _add_chat(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    talk = commands.add_parser(
        "chat",
        help="talk to an agent on a local stack",
        description="Talk to an agent: the real handlers, queues and worker processes on this machine.",
    )
    talk.add_argument("text", nargs="?", metavar="TEXT", help="one question; without it, a conversation")
    talk.add_argument("--app", default=DEFAULT_APP, metavar="MODULE:ATTRIBUTE", help="default: %(default)s")
    talk.add_argument("--model", metavar="PROVIDER:MODEL", help="default: the agent's own")
    talk.add_argument("--thread", default="chat", metavar="ID", help="the thread's id; default: %(default)s")


def _add_ask(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    ask = commands.add_parser(
        "ask",
        help="one question to a thread of a stack, and its answer",
        description="Ask a thread, and print its answer and what it cites: of a stack, else of a local one of its own.",
        epilog="Exit codes: 0 answered, 1 no answer will come, 2 used wrongly, 3 not answered yet, 130 interrupted.",
    )
    ask.add_argument("text", metavar="TEXT")
    ask.add_argument("--thread", metavar="ID", help="default: a new one")
    ask.add_argument(
        "--message-id", metavar="ID", help="asked again with it, it goes on waiting; default: a new one"
    )
    ask.add_argument(
        "--metadata",
        action="append",
        default=[],
        type=pair,
        metavar="KEY=VALUE",
        help="who asks, such as user_id=ann; may be given again",
    )
    ask.add_argument(
        "--timeout", type=seconds, default=ASK_SECONDS, metavar="SECONDS", help="default: %(default)s"
    )
    where = ask.add_mutually_exclusive_group()
    where.add_argument("--stack", metavar="NAME", help="a deployed one")
    where.add_argument(
        "--endpoint", metavar="URL", help="of a local one that runs, as `torpor chat` shows it"
    )
    where.add_argument("--app", default=DEFAULT_APP, metavar="MODULE:ATTRIBUTE", help="default: %(default)s")
    ask.add_argument("--model", metavar="PROVIDER:MODEL", help="with --app; default: the agent's own")
    ask.add_argument("--region", help="of --stack; default: the environment's or the profile's")


def _add_new(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    project = commands.add_parser(
        "new",
        help="make a project with an agent of your own",
        description="Make a project: an agent with two tools, its test, a Makefile, and a template to deploy it.",
    )
    project.add_argument("folder", type=Path, metavar="DIR", help="is made; must be empty if it is there")
    project.add_argument("--name", help="of its Python package; default: the folder's")
    project.add_argument(
        "--torpor",
        metavar="SPEC",
        help="what pip installs: a folder, a wheel, a URL, torpor==…; default: this one",
    )


def _add_new_worker(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    worker = commands.add_parser(
        "new-worker",
        help="add a worker to template.yaml",
        description="Add a worker's block, and its lines in what others are told, to template.yaml in this folder.",
    )
    worker.add_argument("name", metavar="NAME", help="as in @tool(worker=NAME)")
    worker.add_argument(
        "--timeout",
        type=int,
        default=WORKER_TIMEOUT_SECONDS,
        metavar="SECONDS",
        help="of its function, 3 more than its slowest tool's; default: %(default)s",
    )


def _add_deploy(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    deploy = commands.add_parser(
        "deploy",
        help="build template.yaml and deploy it, by sam",
        description="Build template.yaml of this folder for a Python that this machine has, and deploy it.",
    )
    deploy.add_argument(
        "stack", nargs="?", metavar="STACK", help="its name; without it, build and deploy nothing"
    )
    deploy.add_argument("--region", help="default: the environment's or the profile's")
    deploy.add_argument("--parameters", default="", metavar="'NAME=VALUE …'", help="of the template")
    deploy.add_argument("--build-dir", type=Path, default=Path(".aws-sam/build"), help="default: %(default)s")


def _add_fork(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    fork = commands.add_parser(
        "fork",
        help="begin a new thread with the history of another",
        description="Begin a new root thread that shares the history of another one up to a safe point.",
    )
    fork.add_argument("thread", metavar="THREAD", help="its id; it stays as it is")
    fork.add_argument(
        "--at", type=int, required=True, metavar="SEQ", help="the last entry to share, or one after it"
    )
    fork.add_argument("--to", required=True, metavar="NEW", help="the new thread's id")
    add_stack_options(fork)


def _version() -> str:
    try:
        return version("torpor")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
