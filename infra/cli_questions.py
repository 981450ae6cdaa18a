"""Questions at the prompt of `torpor chat`: how one is shown, and what is typed as its answer. Pure functions."""

import json
from typing import Any

from core.text import shorten
from infra.operations.shown import block

MOST_SHOWN = 2_000
"""Characters of the arguments to approve: a person must see what is approved."""

_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})
ANYTHING_ELSE = "Anything else is said to the agent, and ends the question."


def shown(question: dict[str, Any]) -> list[str]:
    """The `question` output as lines, with how to answer it. What is not to be seen in it is written out: a person
    must approve what stands there, and not what a mark of direction makes of it.
    """
    return [block(line) for line in _lines(question)]


def _lines(question: dict[str, Any]) -> list[str]:
    until = f"until {question['expires_at'][:19]}Z"
    match question["kind"]:
        case "approval":
            arguments = shorten(json.dumps(question["args"], ensure_ascii=False), MOST_SHOWN)
            how = "y runs it, n does not (n and a reason), {…} runs it with these arguments."
            return [f"May {question['name']} run with {arguments}? ({until})", f"{how} {ANYTHING_ELSE}"]
        case "choice":
            numbered = [f"  {number}. {choice}" for number, choice in enumerate(question["choices"], 1)]
            default = question.get("default")
            how = "Type a number or a choice" + (f", or nothing for {default}." if default else ".")
            return [f"{question['prompt']} ({until})", *numbered, f"{how} {ANYTHING_ELSE}"]
        case _:
            how = "y when it is done, n if you refuse."
            return [
                f"{question['name']} asks you to visit {question['url']} ({until})",
                f"{how} {ANYTHING_ELSE}",
            ]


def answer_typed(question: dict[str, Any], typed: str) -> dict[str, Any] | None:
    """The fields of an `answer` message; None if something else was said."""
    head = {"type": "answer", "thread_id": question["thread_id"], "call_id": question["call_id"]}
    given = _choice(question, typed.strip()) if question["kind"] == "choice" else _approval(question, typed)
    return None if given is None else {**head, **given}


def _choice(question: dict[str, Any], typed: str) -> dict[str, Any] | None:
    choices: list[str] = question["choices"]
    if typed in choices:
        return {"choice": typed}
    if typed.isdecimal() and 1 <= int(typed) <= len(choices):
        return {"choice": choices[int(typed) - 1]}
    default = question.get("default")
    return {"choice": default} if not typed and default else None


def _approval(question: dict[str, Any], typed: str) -> dict[str, Any] | None:
    word, _, comment = typed.strip().partition(" ")
    if word.lower() in _YES and not comment:
        return {"approved": True}
    if word.lower().rstrip(",:") in _NO:
        return {"approved": False, "comment": comment.strip()}
    if question["kind"] == "approval" and typed.lstrip().startswith("{"):
        try:
            return {"approved": True, "args": json.loads(typed)}
        except ValueError:
            return None
    return None
