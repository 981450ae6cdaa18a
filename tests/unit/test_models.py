"""From a model's name to its adapter: which there are, what each needs, and that nothing is imported before."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.clock import SYSTEM_CLOCK
from core.errors import DefinitionError
from infra.library_models import apis
from infra.models import model_for


@pytest.mark.parametrize("name", ["nobody:model", "openai", "openai:", "model"])
def test_a_name_that_no_provider_has_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError):
        model_for(name, Path(), SYSTEM_CLOCK)


@pytest.mark.parametrize("provider", list(apis.APIS))
def test_a_model_of_another_provider_needs_its_key_or_the_address_of_a_server(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = apis.APIS[provider]
    with pytest.raises(DefinitionError, match=f"{api.key}.*{api.base_url}"):
        model_for(f"{provider}:m", Path(), SYSTEM_CLOCK)
    monkeypatch.setenv(api.key, "k")
    model_for(f"{provider}:m", Path(), SYSTEM_CLOCK)
    monkeypatch.delenv(api.key)
    monkeypatch.setenv(api.base_url, "http://127.0.0.1:1/v1")
    model_for(f"{provider}:m:with:colons", Path(), SYSTEM_CLOCK)


@pytest.mark.parametrize("provider", list(apis.APIS))
def test_without_the_extra_the_way_to_install_it_is_told(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apis, "LIBRARY", "not_installed_here")
    with pytest.raises(DefinitionError, match=r"torpor\[models\]"):
        model_for(f"{provider}:m", Path(), SYSTEM_CLOCK)


@pytest.mark.parametrize(
    ("address", "own"),
    [("", False), ("https://api.openai.com/v1", False), ("http://localhost:11434/v1", True)],
)
def test_a_server_of_ones_own_is_known_by_its_address(
    address: str, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    assert apis.is_own_server("openai") == own


def test_nothing_of_the_extra_is_imported_before_such_a_model_is_asked_for() -> None:
    program = (
        "import sys, handlers.agent_container, infra.local, infra.cli_chat, infra.models;"
        "print([name for name in ('pydantic_ai', 'openai', 'anthropic', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
