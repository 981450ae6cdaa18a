"""The app that the deploy tests deploy: the research example, with a tool that shows what a function may do.

It is copied into the deployed project's `examples`. What later tests of the deployed system need joins it here.
"""

from dataclasses import replace
from typing import Any

from core import App, AskChoice, ToolContext, ToolResult, tool
from examples.research import researcher


def _asked(service: str, operation: str, arguments: dict[str, Any]) -> str:
    import boto3
    from botocore.exceptions import ClientError

    try:
        getattr(boto3.client(service), operation)(**arguments)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return "allowed"


@tool(worker="library", timeout_seconds=30)
def attempt_in_worker(service: str, operation: str, arguments: dict[str, Any]) -> str:
    """Ask AWS for something as the worker."""
    return _asked(service, operation, arguments)


@tool(inline=True)
def attempt_in_agent(service: str, operation: str, arguments: dict[str, Any]) -> str:
    """Ask AWS for something as the agent."""
    return _asked(service, operation, arguments)


@tool(worker="library", requires_approval=True)
def sign(paper: str, ctx: ToolContext) -> str | AskChoice:
    """Sign a paper in the ink that a person chooses."""
    if ctx.answer is None:
        return AskChoice("Which ink?", ["black", "blue"])
    return f"{paper} signed in {ctx.answer.choice}"


@tool(worker="library")
def watch(place: str) -> ToolResult:
    """Watch a place: every change comes as an event."""
    return ToolResult(f"watching {place}", subscription=True)


@tool(worker="library", timeout_seconds=5)
def count_pages(book: str) -> str:
    """Count the pages of a book."""
    return f"{book}: {len(book)}"


app = App(
    agents=[
        replace(
            researcher,
            instructions="Do as you are told.",
            tools=[*researcher.tools, attempt_in_worker, attempt_in_agent, sign, watch, count_pages],
        )
    ]
)
