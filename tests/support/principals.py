"""Who is who in the tests of the sender check: a deployment's roles, and a policy that knows them."""

from core.senders import Enforced

AGENT, RELAY = "AROA4EXAMPLE00AGENT01", "AROA4EXAMPLE00RELAY01"
DEAD_LETTERS, OPERATOR = "AROA4EXAMPLE0DEADLT01", "AROA4EXAMPLE0OPERAT01"
WEB, MAIL = "AROA4EXAMPLE0000WEB01", "AROA4EXAMPLE000MAIL01"
"""Roles of the two workers."""
WEBHOOK = "AROA4EXAMPLE0WEBHOOK1"
"""A tool from elsewhere."""
ALICE = "AIDA4EXAMPLE0ALICE001"
"""An IAM user."""

POLICY = Enforced(
    agent=AGENT,
    relay=RELAY,
    dead_letters=DEAD_LETTERS,
    operator=OPERATOR,
    workers={"web": WEB, "mail": MAIL},
    tool_senders=(WEBHOOK,),
)


def session(role: str, name: str = "torpor-function") -> str:
    """The `SenderId` of whoever has assumed the role."""
    return f"{role}:{name}"
