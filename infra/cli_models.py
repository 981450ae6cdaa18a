"""Which model `torpor chat` plays: the one asked for, the agent's own, or the bundled script if that cannot be had."""

from dataclasses import dataclass
from pathlib import Path

from core.app import load_app
from core.clock import SYSTEM_CLOCK
from core.errors import DefinitionError
from core.supervisor import players
from infra.bedrock.errors import CREDENTIALS_ADVICE
from infra.models import app_root, model_for

SCRIPT, BEDROCK = "script", "bedrock"
BUNDLED = Path(__file__).parents[1] / "examples" / "research.json"
_ADVICE = "For a real one: --model bedrock:ID, anthropic:ID or openai:ID (README, Choose a model)"


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
        _check(asked, root)
        return ChosenModel(asked)
    own = app.agent().model
    try:
        for model in dict.fromkeys(one.model for one in players(app.player())):
            _check(model, root)
    except DefinitionError as error:
        if not BUNDLED.is_file():
            raise
        return ChosenModel(f"{SCRIPT}:{BUNDLED}", f"({error}. {BUNDLED.name} is played instead. {_ADVICE})")
    played = f"(No model: {own} is played. {_ADVICE})"
    return ChosenModel(note=played if own.startswith(f"{SCRIPT}:") else None)


def _check(model: str, root: Path) -> None:
    """Raises DefinitionError. Nobody is called: that the model answers is not known before it does."""
    model_for(model, root, SYSTEM_CLOCK)
    if model.startswith(f"{BEDROCK}:") and (lack := _lack_of_credentials()):
        raise DefinitionError(f"model {model!r}: {lack}: {CREDENTIALS_ADVICE}")


def _lack_of_credentials() -> str | None:
    """What is wrong with the AWS credentials here, as far as can be seen without asking anybody."""
    import botocore.session
    from botocore.exceptions import BotoCoreError

    try:
        found = botocore.session.get_session().get_credentials()
    except BotoCoreError as failure:  # such as a profile that is not there
        return str(failure)
    return "there are no AWS credentials here" if found is None else None
