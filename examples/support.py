"""A support desk: a supervisor, one who knows the orders and one who knows the bills, for several people in one thread.

Who asks is in the metadata of each message; tools go by that, not by what is said. Both specialists share the state of
the thread: which order was spoken of. Without a model at hand it plays
`examples/support_*.json`.
"""

from dataclasses import dataclass

from core import Agent, App, Supervisor, ToolContext, tool

SHOWN = "[{user_id}] {content}"
GUEST = "ann"
"""Who asks at a prompt, where messages come without metadata."""
SHOP = "https://shop.example/orders"


@dataclass(frozen=True)
class Order:
    number: str
    what: str
    where: str
    owed: str


ORDERS = {
    "ann": Order("A17", "two lamps", "shipped on Tuesday", "paid"),
    "bob": Order("B42", "a desk", "still in the workshop", "140 euros are owed until Friday"),
}


@dataclass
class Desk:
    """What the thread remembers for both specialists."""

    order: str | None = None
    """Number of the order that was spoken of last."""


def _order_of(ctx: ToolContext) -> Order:
    person = ctx.user_id or GUEST
    if person not in ORDERS:
        raise ValueError("there is no order of this person")
    order = ORDERS[person]
    ctx.state.order = order.number
    ctx.add_source(f"{SHOP}/{order.number}", f"Order {order.number}")
    return order


@tool(inline=True)
def track_order(ctx: ToolContext) -> str:
    """Say where the order of the person who asks is."""
    order = _order_of(ctx)
    return f"Order {order.number} ({order.what}) is {order.where}."


@tool(inline=True)
def read_bill(ctx: ToolContext) -> str:
    """Say what the person who asks owes."""
    order = _order_of(ctx)
    return f"The bill of order {order.number}: {order.owed}."


orders = Agent(
    name="orders",
    instructions="You know where orders are. Each message names who sent it: answer that person, about their order.",
    model="script:examples/support_orders.json",
    tools=[track_order],
    state_type=Desk,
    message_template=SHOWN,
    builtin_tools=False,
)
billing = Agent(
    name="billing",
    instructions="You know what is paid and what is owed. Each message names who sent it: answer that person.",
    model="script:examples/support_billing.json",
    tools=[read_bill],
    state_type=Desk,
    message_template=SHOWN,
    builtin_tools=False,
)
desk = Supervisor(
    "desk",
    {"orders": orders, "billing": billing},
    default="orders",
    model="script:examples/support_desk.json",
)

app = App(agents=[desk])
