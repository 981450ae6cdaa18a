"""Each rule finds the violation it is there for, so that finding none means something."""

from collections.abc import Callable

import pytest

from tests.architecture import rules
from tests.architecture.sources import Source

LONG_FUNCTION = "def f() -> None:\n" + "    pass\n" * rules.MAX_FUNCTION_LINES


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (rules.wrong_direction, "core/a.py", "def f():\n    import infra.sqs"),
        (rules.wrong_direction, "infra/a.py", "from handlers.agent import handler"),
        (rules.wrong_direction, "handlers/a.py", "if TYPE_CHECKING:\n    from tests import conftest"),
        (rules.foreign_to_core, "core/a.py", "import boto3"),
        (rules.foreign_to_core, "core/a.py", "from infra import sqs"),
        (rules.too_long, "core/a.py", "\n" * (rules.MAX_FILE_LINES + 1)),
        (rules.too_long, "tests/a.py", LONG_FUNCTION),
        (rules.undocumented, "infra/a.py", "x = 1"),
        (rules.broad_excepts, "infra/a.py", "try:\n    f()\nexcept:\n    pass"),
        (rules.broad_excepts, "infra/a.py", "try:\n    f()\nexcept (ValueError, Exception):\n    pass"),
        (rules.broad_excepts, "infra/a.py", "with contextlib.suppress(BaseException):\n    f()"),
        (rules.prints, "handlers/a.py", "print(event)"),
        (rules.unkept_ports, "core/ports.py", "class P(Protocol):\n    async def f(self): ..."),
        (rules.unkept_ports, "core/ports.py", "class P:\n    '''Doc.'''\n    async def f(self): ..."),
    ],
)
def test_rule_finds_a_planted_violation(rule: Callable[[Source], list[str]], path: str, text: str) -> None:
    assert len(rule(Source(path, text))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (rules.wrong_direction, "infra/a.py", "from . import sqs\nimport core.ids"),
        (
            rules.foreign_to_core,
            "core/a.py",
            "import json\nfrom pydantic import BaseModel\nfrom .ids import digest",
        ),
        (rules.too_long, "core/a.py", LONG_FUNCTION.removesuffix("    pass\n")),
        (rules.undocumented, "infra/__init__.py", ""),
        (rules.broad_excepts, "handlers/batch.py", "try:\n    f()\nexcept Exception:\n    pass"),
        (rules.broad_excepts, "infra/a.py", "try:\n    f()\nexcept (ValueError, OSError):\n    pass"),
    ],
)
def test_rule_lets_what_is_right_pass(rule: Callable[[Source], list[str]], path: str, text: str) -> None:
    assert rule(Source(path, text)) == []
