"""The local stack: Torpor on one machine, with the emulator's AWS. Nothing deployed imports it.

Needs the extra `local` (moto).
"""

from infra.local.functions import WrapPorts
from infra.local.source import LocalStackError
from infra.local.stack import LocalTorpor

__all__ = ["LocalStackError", "LocalTorpor", "WrapPorts"]
