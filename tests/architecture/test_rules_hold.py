"""Every file keeps the rules of architecture.md and style.md."""

from collections.abc import Callable

import pytest

from tests.architecture import rules
from tests.architecture.sources import ALL, SHIPPED, Source, sources

Rule = Callable[[Source], list[str]]


@pytest.mark.parametrize(
    ("rule", "tops"),
    [
        pytest.param(rules.wrong_direction, SHIPPED, id="imports point handlers, infra, core"),
        pytest.param(rules.foreign_to_core, ("core",), id="core imports the standard library and pydantic"),
        pytest.param(rules.too_long, ALL, id="files and functions are short"),
        pytest.param(rules.undocumented, ALL, id="modules say what they hold"),
        pytest.param(rules.broad_excepts, ALL, id="only the batch boundary catches everything"),
        pytest.param(rules.prints, ("core", "handlers"), id="nothing is printed"),
    ],
)
def test_files_keep_the_rule(rule: Rule, tops: tuple[str, ...]) -> None:
    files = sources(*tops)
    assert {file.top for file in files} >= set(tops) & set(SHIPPED)
    assert [violation for file in files for violation in rule(file)] == []


def test_ports_are_protocols_with_a_contract() -> None:
    (ports,) = (file for file in sources("core") if file.path == "core/ports.py")
    assert "Protocol" in ports.text
    assert rules.unkept_ports(ports) == []
