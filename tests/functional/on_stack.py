"""What tests of the command line do on a local stack: run commands against it, and leave a commit unsettled there."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pytest

from core.app import load_app
from core.clock import SYSTEM_CLOCK
from core.messages import Envelope
from core.parsing import parse_input
from core.ports import Outgoing, Unsent
from core.slice import SlicePorts, run_slice
from core.text import wire_json
from infra.cli import main
from infra.local import LocalTorpor
from infra.models import app_root, model_for
from infra.stack import Stack, find_stack, store_of

KEYS = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}


class Commands:
    """The command line in this process, against one local stack."""

    def __init__(self, local: LocalTorpor, capsys: pytest.CaptureFixture[str]) -> None:
        self.local = local
        self._capsys = capsys

    @cached_property
    def stack(self) -> Stack:
        return find_stack("any", None, self.local.endpoint_url)

    def run(self, *arguments: str) -> tuple[int, list[str], str]:
        """Exit code, lines, and what it complains of."""
        self._capsys.readouterr()
        code = main([*arguments, "--endpoint", self.local.endpoint_url])
        said = self._capsys.readouterr()
        return code, said.out.splitlines(), said.err


class _Died(Exception):
    pass


class _Dying:
    async def send(self, messages: Sequence[Outgoing]) -> tuple[Unsent, ...]:
        raise _Died


def cut_off(stack: Stack, spec: str, **body: Any) -> None:
    """A slice that takes the message in, commits its turn, and dies before it sends anything."""

    async def slice_that_dies() -> None:
        async with store_of(stack) as store:
            ports = SlicePorts(
                store,
                _Dying(),
                lambda name: model_for(name, app_root(spec), SYSTEM_CLOCK),
                SYSTEM_CLOCK,
            )
            taken = parse_input(wire_json(body), Envelope("cut-off", body["thread_id"]))
            with pytest.raises(_Died):
                await run_slice(load_app(spec), ports, body["thread_id"], [taken], seconds_left=lambda: 60.0)

    asyncio.run(slice_that_dies())
