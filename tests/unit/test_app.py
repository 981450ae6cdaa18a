"""Apps: which agent serves a thread, which tools a worker has, and loading one by name."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import Agent, App, DefinitionError, load_app, tool


@tool
def inline(text: str) -> str:
    """Inline."""
    return text


@tool(worker="research")
def fetch(url: str) -> str:
    """Fetch."""
    return url


@tool(worker="files", name="fetch")
def fetch_file(path: str) -> str:
    """Fetch a file."""
    return path


@tool(worker="research", name="fetch")
def other_fetch(url: str) -> str:
    """Fetch otherwise."""
    return url


def _agent(name: str, *tools: Any) -> Agent:
    return Agent(name=name, model="script:s.json", tools=tools)


A, B = _agent("a", inline, fetch), _agent("b", fetch_file)


def test_a_thread_is_served_by_the_agent_it_names_or_the_default() -> None:
    app = App(agents=[A, B], default="b")
    assert app.agent("a") is A
    assert app.agent(None) is B
    assert app.agent("gone since the last deployment") is B
    assert App(agents=[A, B]).agent() is A


def test_an_app_may_be_a_single_agent() -> None:
    assert App.of(A) == App(agents=[A])
    app = App(agents=[A])
    assert App.of(app) is app
    with pytest.raises(DefinitionError):
        App.of({"agents": [A]})


def test_each_worker_has_its_tools_from_all_agents() -> None:
    app = App(agents=[A, B, _agent("c", fetch)])
    assert app.workers() == {"research": {"fetch": fetch.tool}, "files": {"fetch": fetch_file.tool}}


def test_one_model_for_every_agent() -> None:
    app = App(agents=[A, B], default="b").with_model("bedrock:m")
    assert [agent.model for agent in app.agents] == ["bedrock:m", "bedrock:m"]
    assert app.agent().toolbox == B.toolbox
    with pytest.raises(DefinitionError):
        app.with_model("nothing")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"agents": []}, "agents"),
        ({"agents": A}, "agents"),
        ({"agents": [inline]}, "Agent"),
        ({"agents": [A, _agent("a")]}, "'a'"),
        ({"agents": [A], "default": "z"}, "'z'"),
        ({"agents": [A, _agent("d", other_fetch)]}, "fetch"),
    ],
    ids=["none", "bare", "tool", "twice", "default", "two tools of one name on one worker"],
)
def test_mistakes_are_refused_by_name(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(DefinitionError, match=named):
        App(**wrong)


MODULES = {
    "good": "from core import Agent, App\nsolo = Agent(name='a', model='m:x')\napp = App([solo])\ntext = 'x'\n",
    "heavy": "import a_library_that_is_not_there\n",
    "broken": "1 / 0\n",
}


@pytest.fixture
def apps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package `users_apps` with the modules above, importable for one test."""
    package = tmp_path / "users_apps"
    package.mkdir()
    for name, text in MODULES.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package.name
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        del sys.modules[name]


def test_loading_by_module_and_attribute(apps: str) -> None:
    assert load_app(f"{apps}.good:app").agent().name == "a"
    assert load_app(f"{apps}.good:solo").agent().name == "a"


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("", "module:attribute"),
        ("module", "module:attribute"),
        (":app", "module:attribute"),
        ("users_apps.good:", "module:attribute"),
        ("no_such_package.app:app", "'no_such_package'"),
        ("users_apps.missing:app", "'users_apps.missing'"),
        ("users_apps.good:nope", "'nope'"),
        ("users_apps.good:text", "str"),
        ("users_apps.heavy:app", "a_library_that_is_not_there"),
    ],
)
def test_what_is_missing_is_named(apps: str, spec: str, named: str) -> None:
    with pytest.raises(DefinitionError, match=named):
        load_app(spec)


def test_what_the_module_raises_passes(apps: str) -> None:
    with pytest.raises(ZeroDivisionError):
        load_app(f"{apps}.broken:app")
