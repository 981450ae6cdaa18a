"""From amounts to money: what a turn costs, and a month of so many, by what the bill would say."""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from tests.architecture.sources import ROOT
from tests.architecture.template import TEMPLATE
from tests.cost.tally import Amounts, invocations

PRICES = ROOT / "docs" / "prices.toml"
MILLION = 1_000_000
GB = 1_000_000_000
MONTH_MINUTES = 30 * 24 * 60
MONTH_SECONDS = 60 * MONTH_MINUTES

Lines = Mapping[str, float]
"""Dollars by line of the bill."""


@dataclass(frozen=True, slots=True)
class Book:
    """docs/prices.toml."""

    date: date
    region: str
    prices: Mapping[str, float]
    assumptions: Mapping[str, float]
    steps: Mapping[str, float]
    turns: Mapping[str, float]
    """Of a hundred."""
    extras: Mapping[str, float]
    limits: Mapping[str, float]

    @property
    def slice_seconds(self) -> float:
        """Of the function, the model's apart."""
        return sum(self.steps.values()) - self.steps["deliver"]


def read_book() -> Book:
    """As it stands."""
    return Book(**tomllib.loads(PRICES.read_text("utf-8")))


def mixed(counted: Mapping[str, Amounts], book: Book) -> Amounts:
    """Of an average turn."""
    total: defaultdict[str, float] = defaultdict(float)
    for name, hundredths in [*book.turns.items(), *book.extras.items()]:
        for what, amount in counted[name].items():
            total[what] += amount * hundredths / 100
    return total


def lines_of(amounts: Amounts, book: Book) -> Lines:
    """Dollars for one turn, what is kept of it included, the model's tokens apart."""
    price, assumed = book.prices, book.assumptions
    kept = amounts.get("stored_bytes", 0) / GB * assumed["retention_months"]
    objects = amounts.get("s3_bytes", 0) / GB * assumed["retention_months"]
    each = defaultdict(float, {name: amount / MILLION for name, amount in amounts.items()})
    return {
        "Lambda, waiting for the model": amounts["completions"]
        * assumed["model_seconds"]
        * memory_gb("AgentFunction")
        * price["lambda_gb_second"],
        "Lambda, everything else": _rest_of_lambda(amounts, book),
        "DynamoDB, writes": each["write_units"] * price["dynamodb_write_million"],
        "DynamoDB, writes again, when it is erased": each["write_units"] * price["dynamodb_write_million"],
        "DynamoDB, reads": each["read_units"] * price["dynamodb_read_million"],
        "DynamoDB, kept": kept * (price["dynamodb_gb_month"] + price["dynamodb_backup_gb_month"]),
        "SQS": each["fifo_requests"] * price["sqs_fifo_million"]
        + each["standard_requests"] * price["sqs_standard_million"],
        "EventBridge Scheduler": each["schedules"] * price["scheduler_million"],
        "S3": each["s3_puts"] * price["s3_put_million"]
        + each["s3_gets"] * price["s3_get_million"]
        + objects * price["s3_gb_month"],
        "CloudWatch, logs": invocations(amounts) * assumed["log_bytes"] / GB * price["logs_gb"],
    }


def _rest_of_lambda(amounts: Amounts, book: Book) -> float:
    gb_seconds = amounts.get("agent_invocations", 0) * book.slice_seconds * memory_gb("AgentFunction")
    gb_seconds += (
        amounts.get("worker_invocations", 0) * book.assumptions["tool_seconds"] * memory_gb("LibraryFunction")
    )
    gb_seconds += (
        amounts.get("relay_invocations", 0)
        * book.assumptions["passing_seconds"]
        * memory_gb("TimerRelayFunction")
    )
    return (
        gb_seconds * book.prices["lambda_gb_second"]
        + invocations(amounts) / MILLION * book.prices["lambda_million"]
    )


def fixed_lines(book: Book) -> Lines:
    """Dollars a month of a stack that nobody talks to."""
    kinds = Counter(
        resource["Type"] for resource in TEMPLATE["Resources"].values() if "Condition" not in resource
    )
    polls = book.assumptions["polls_minute"] * MONTH_MINUTES / MILLION
    return {
        "CloudWatch, alarms": kinds["AWS::CloudWatch::Alarm"] * book.prices["alarm_month"],
        "CloudWatch, metrics": book.assumptions["metrics"] * book.prices["metric_month"],
        "SQS, event sources that find nothing": sum(
            polls * book.prices["sqs_fifo_million" if fifo else "sqs_standard_million"]
            for fifo in event_sources()
        ),
    }


def event_sources() -> list[bool]:
    """Of the template as deployed by default: whether the queue of each is FIFO."""
    resources = TEMPLATE["Resources"]
    queues = [
        event["Properties"]["Queue"]
        for resource in resources.values()
        if resource["Type"] == "AWS::Serverless::Function" and "Condition" not in resource
        for event in resource["Properties"].get("Events", {}).values()
        if event["Type"] == "SQS"
    ]
    queues += [
        resource["Properties"]["EventSourceArn"]
        for resource in resources.values()
        if resource["Type"] == "AWS::Lambda::EventSourceMapping" and "Condition" not in resource
    ]
    names = [queue["Fn::GetAtt"][0] for queue in queues]
    return [
        "FifoQueue" in resources[name]["Properties"]
        for name in names
        if resources[name]["Type"] == "AWS::SQS::Queue"
    ]


def memory_gb(function: str) -> float:
    """As the template sets it."""
    properties = TEMPLATE["Resources"][function]["Properties"]
    megabytes = properties.get("MemorySize", TEMPLATE["Globals"]["Function"]["MemorySize"])
    return float(megabytes) / 1024
