"""The tables of docs/cost.md, from what was counted and docs/prices.toml."""

from collections.abc import Iterable, Mapping, Sequence

from tests.cost.bill import MILLION, MONTH_SECONDS, Book, event_sources, fixed_lines, lines_of, mixed
from tests.cost.tally import KB, Amounts, invocations

MONTHS = (1_000, MILLION, 1_000 * MILLION)
TOKENS = "the model's tokens"
BAR = 40

Counted = Mapping[str, Amounts]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """In markdown, all columns but the first to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def turns(counted: Counted, book: Book) -> str:
    """What each kind of turn is made of."""
    head = ["", "DynamoDB requests", "write units", "read units", "KB kept", "SQS requests", "Lambda runs"]
    head += ["completions", "schedules", "$ a million"]

    def row(name: str, amounts: Amounts) -> list[str]:
        sqs = amounts.get("fifo_requests", 0) + amounts.get("standard_requests", 0)
        many = [amounts.get(key, 0) for key in ("dynamodb_requests", "write_units", "read_units")]
        kept = amounts.get("stored_bytes", 0) / KB
        rest = [sqs, invocations(amounts), amounts["completions"], amounts.get("schedules", 0)]
        numbers = [*map(_number, many), f"{kept:.1f}", *map(_number, rest)]
        return [name, *numbers, f"{MILLION * sum(lines_of(amounts, book).values()):.0f}"]

    rows = [row(name, amounts) for name, amounts in counted.items()]
    return table(head, [*rows, row("**an average turn**", mixed(counted, book))])


def picture(counted: Counted, book: Book) -> str:
    """Where the money of an average turn goes."""
    lines = lines_of(mixed(counted, book), book)
    most, total = max(lines.values()), sum(lines.values())
    width = max(map(len, lines))
    drawn = [
        f"{name:{width}}  {'█' * round(BAR * dollars / most) or '▏':{BAR}} {dollars / total:4.0%}"
        for name, dollars in sorted(lines.items(), key=lambda line: -line[1])
    ]
    return "\n".join(["```text", *drawn, "```"])


def bill(counted: Counted, book: Book) -> str:
    """A month of so many turns, in dollars."""
    each, fixed = lines_of(mixed(counted, book), book), fixed_lines(book)
    rows = [[name, *(_dollars(dollars * month) for month in MONTHS)] for name, dollars in each.items()]
    rows += [[f"{name} (fixed)", *[_dollars(dollars)] * len(MONTHS)] for name, dollars in fixed.items()]
    total = [sum(each.values()) * month + sum(fixed.values()) for month in MONTHS]
    rows += [["**together**", *(f"**{_dollars(dollars)}**" for dollars in total)]]
    completions = mixed(counted, book)["completions"]
    rows += [[TOKENS, *(f"{completions * month:,.0f} × yours" for month in MONTHS)]]
    return table(["a month of", *(f"{month:,} turns" for month in MONTHS)], rows)


def assumptions(book: Book) -> str:
    """What is reckoned with."""
    given = {**book.prices, **book.assumptions}
    rows = [[name.replace("_", " "), f"{value:g}"] for name, value in given.items()]
    half = -(-len(rows) // 2)
    paired = zip(rows[:half], [*rows[half:], *[["", ""]] * (2 * half - len(rows))], strict=True)
    mix = ", ".join(f"{count:g} × {name}" for name, count in book.turns.items())
    extras = ", ".join(f"{count:g} × {name}" for name, count in book.extras.items())
    together = [f"| {left[0]} | {left[1]} | {right[0]} | {right[1]} |" for left, right in paired]
    head = [f"| {book.date}, {book.region} | | | |", "| --- | ---: | --- | ---: |"]
    return "\n".join([*head, *together, "", f"A hundred turns: {mix}. With them come {extras}."])


def hot_thread(counted: Counted, book: Book) -> str:
    """What one thread can do at most, by the steps of a slice."""
    seconds, model = sum(book.steps.values()), book.assumptions["model_seconds"]
    text, limits = counted["text answer"], book.limits
    slices = 1 / seconds
    steps = " + ".join(f"{name} {1000 * step:.0f}" for name, step in book.steps.items())
    rows = [
        ["slices a second, without a model", f"{slices:.0f}", f"{steps} = {1000 * seconds:.0f} ms"],
        ["answered messages a minute", f"{60 / (seconds + model):.0f}", f"with completions of {model:g} s"],
        [
            "write units a second",
            f"{slices * text['write_units']:.0f}",
            _of(limits["dynamodb_partition_writes"]),
        ],
        [
            "read units a second, warm",
            f"{slices * text['read_units']:.0f}",
            _of(limits["dynamodb_partition_reads"]),
        ],
        [
            "commits a second that its partition could take",
            f"{limits['dynamodb_partition_writes'] / text['write_units']:.0f}",
            f"of {text['write_units']:.0f} units each",
        ],
        ["sends a second to its group", f"{slices:.0f}", f"of {limits['sqs_fifo_group_requests']:,.0f}"],
    ]
    return table(["one thread", "at most", ""], rows)


def limits(counted: Counted, book: Book) -> str:
    """What an account's quotas are to a billion turns a month, and from how many on they bite."""
    turn, assumed = mixed(counted, book), book.assumptions
    agent_seconds = turn["agent_invocations"] * book.slice_seconds
    agent_seconds += turn["completions"] * assumed["model_seconds"]
    worker_seconds = turn["worker_invocations"] * assumed["tool_seconds"]
    rows = [
        _limit("slices at a time (`MaximumConcurrency`)", "maximum_concurrency", agent_seconds, book),
        _limit("Lambda runs at a time", "lambda_concurrency", agent_seconds + worker_seconds, book),
        _limit("write units a second, new table", "dynamodb_new_table_writes", turn["write_units"], book),
        _limit("write units a second, table", "dynamodb_table_writes", turn["write_units"], book),
        _limit("read units a second, table", "dynamodb_table_reads", turn["read_units"], book),
        _limit("receives a second, input queue", "sqs_fifo_requests", turn["agent_invocations"], book),
        _limit("schedules made a second", "scheduler_creations", turn["schedules"], book),
        _limit("schedules fired a second", "scheduler_invocations", turn["schedules"], book),
    ]
    completions = turn["completions"] * MONTHS[-1] / MONTH_SECONDS * 60
    asked = [f"{number:,.0f}" for number in (completions, completions * assumed["peak"])]
    rows.insert(0, ["completions a minute (Bedrock)", "yours", *asked, ""])
    return table(["", "quota", "a billion a month", "at its peak", "bites from, turns a month"], rows)


def _limit(name: str, key: str, each_turn: float, book: Book) -> list[str]:
    quota, a_second = book.limits[key], MONTHS[-1] / MONTH_SECONDS
    peak = each_turn * a_second * book.assumptions["peak"]
    bites = quota / peak * MONTHS[-1]
    return [name, f"{quota:,.0f}", f"{each_turn * a_second:,.0f}", f"{peak:,.0f}", _round(bites)]


def idle(book: Book) -> str:
    """The stack that nobody talks to."""
    total = sum(fixed_lines(book).values())
    return f"{len(event_sources())} event sources, ${total:.2f} a month."


def _of(limit: float) -> str:
    return f"of {limit:,.0f} of a partition"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


def _dollars(value: float) -> str:
    """To cents, and from a hundred on to three digits."""
    return f"{value:,.2f}" if value < 100 else f"{float(f'{value:.2e}'):,.0f}"


def _round(value: float) -> str:
    """To two digits."""
    return f"{int(float(f'{value:.1e}')):,}"
