"""What sam is told: what a person chose, and what fits the machine."""

import platform
import sys
from pathlib import Path

import pytest

from core.errors import SettingsError
from infra.packaging.parameters import parsed, plan, python_of
from infra.packaging.template_facts import parameters
from tests.architecture.template import TEMPLATE, TEXT

OWN = f"python{sys.version_info.major}.{sys.version_info.minor}"
KNOWN: dict[str, tuple[str, ...]] = {"ModelId": (), "LogLevel": ("DEBUG", "INFO"), "UserSenders": ()}


def test_the_parameters_of_a_template_are_read_off_its_text() -> None:
    stated = {
        name: tuple(map(str, parameter.get("AllowedValues", ())))
        for name, parameter in TEMPLATE["Parameters"].items()
    }
    assert parameters(TEXT) == stated
    assert parameters("Resources: {}\n") == {}


@pytest.mark.parametrize(
    "form",
    [
        "[a, 'b']  # two",
        "[\n      a,\n      'b',\n    ]",
        "\n      - a # one\n      - 'b'",
        "\n    - a\n    - b",
    ],
)
def test_values_may_be_listed_in_any_form_that_yaml_has(form: str) -> None:
    template = f"Parameters:\n  One:\n    AllowedValues: {form}\n    Default: a\n  Two:\n    Default: b\n\nOutputs:\n"
    assert parameters(template) == {"One": ("a", "b"), "Two": ()}


def test_parameters_are_words_in_a_shells_quotes() -> None:
    given = parsed("""ModelId=bedrock:a=b UserSenders="A, 'B'" LogLevel=INFO""", KNOWN)
    assert given == {"ModelId": "bedrock:a=b", "UserSenders": "A, 'B'", "LogLevel": "INFO"}


@pytest.mark.parametrize(
    "text", ["Modelid=x", "ModelId", "LogLevel=LOUD", "LogLevel=", 'ModelId="x', r"'ModelId=x\y'"]
)
def test_what_template_or_sam_do_not_take_is_refused_before_anything_is_built(text: str) -> None:
    with pytest.raises(SettingsError):
        parsed(text, KNOWN)


def test_the_python_that_runs_this_and_the_machines_architecture_are_chosen() -> None:
    made = plan({"ModelId": "m"}, ("python3.1", OWN, "python3.99"))
    architecture = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    assert made.parameters == {"ModelId": "m", "PythonRuntime": OWN, "Architecture": architecture}
    assert made.python.parent == Path(sys.executable).parent


def test_what_was_chosen_stands_if_the_machine_has_it() -> None:
    made = plan({"PythonRuntime": OWN, "Architecture": "arm64"}, ("python3.1", OWN))
    assert (made.parameters["PythonRuntime"], made.parameters["Architecture"]) == (OWN, "arm64")
    with pytest.raises(SettingsError, match="PythonRuntime"):
        plan({}, ())
    with pytest.raises(SettingsError, match=r"no python3\.1 with pip"):
        plan({"PythonRuntime": "python3.1"}, ("python3.1", OWN))


@pytest.mark.parametrize("says", ["echo python3.98", "exit 1", ""])
def test_a_program_that_is_not_what_it_is_called_is_passed_over(
    says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python3.99"
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert python_of("python3.99") is None
    program.write_text("#!/bin/sh\necho python3.99\n")
    assert python_of("python3.99") == program
