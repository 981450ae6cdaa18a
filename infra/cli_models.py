"""Which model `torpor chat` plays: the one asked for, the agent's own, or the bundled script if that cannot be had."""

from dataclasses import dataclass
from pathlib import Path

from core.app import load_app
from core.clock import SYSTEM_CLOCK
from core.errors import DefinitionError
from infra.models import PROVIDERS, app_root, model_for

SCRIPT = "script"
BUNDLED = Path(__file__).parents[1] / "examples" / "research.json"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """`override` takes the place of every agent's model, if given."""

    override: str | None = None
    note: str | None = None
    """One line for a person."""


def choose_model(spec: str, asked: str | None) -> ChosenModel:
    """The model for the app `spec`. Raises DefinitionError for an app or an asked model that cannot be had."""
    app = load_app(spec)
    root = app_root(spec)
    if asked is not None:
        model_for(asked, root, SYSTEM_CLOCK)
        return ChosenModel(asked)
    own = app.agent().model
    try:
        model_for(own, root, SYSTEM_CLOCK)
    except DefinitionError as error:
        if not BUNDLED.is_file():
            raise
        return ChosenModel(f"{SCRIPT}:{BUNDLED}", f"({error}; {BUNDLED.name} is played instead. {_advice()})")
    return ChosenModel(note=f"(No model: {own} is played. {_advice()})" if _is_script(own) else None)


def _is_script(model: str) -> bool:
    return model.partition(":")[0] == SCRIPT


def _advice() -> str:
    others = [f"{provider}:…" for provider in PROVIDERS if provider != SCRIPT]
    if others:
        return f"For a real one: --model {' or '.join(others)}"
    return "For a real one, add its provider to infra/models.py and give --model PROVIDER:MODEL"
