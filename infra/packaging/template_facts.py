"""What is read off a `template.yaml` as text: its parameters. The packages that a base install has read no YAML.

Only Torpor's own form is understood: a parameter's name indented by two, what is said of it by four.
"""

import re

_SECTION = re.compile(r"^Parameters:\n(?P<body>(?:[ #].*\n|\n)*)", re.MULTILINE)
_PARAMETER = re.compile(r"^  (?P<name>\w+):\n(?P<body>(?:    .*\n|\n)*)", re.MULTILINE)
_ALLOWED = re.compile(
    r"^    AllowedValues:[ ]*(?:\[(?P<flow>[^\]]*)\]|\n(?P<block>(?: +- .*\n)+)).*$", re.MULTILINE
)
"""Both of YAML's forms of a list."""


def parameters(template: str) -> dict[str, tuple[str, ...]]:
    """The values each parameter may have, by its name; empty if they are not listed."""
    section = _SECTION.search(template)
    return {
        found["name"]: _allowed(found["body"])
        for found in _PARAMETER.finditer(section["body"] if section else "")
    }


def _allowed(body: str) -> tuple[str, ...]:
    listed = _ALLOWED.search(body)
    if listed is None:
        return ()
    values = (listed["flow"] or "").split(",") if listed["block"] is None else listed["block"].splitlines()
    words = (value.partition(" #")[0].strip().removeprefix("- ") for value in values)
    return tuple(word.strip(" \"'") for word in words if word)
