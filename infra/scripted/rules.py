"""Choosing the reply: the first rule whose `when` holds, with its placeholders filled in. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping

from infra.scripted.conversation import Conversation
from infra.scripted.placeholders import Placeholders
from infra.scripted.script import Regex, Reply, Rule, When


def choose(rules: Iterable[Rule], conversation: Conversation) -> Reply | None:
    """The filled-in reply of the first rule that holds; None if none does."""
    for rule in rules:
        groups = _groups(rule.when, conversation)
        if groups is not None:
            return Placeholders(conversation, groups).fill_reply(rule.reply)
    return None


def _groups(when: When, seen: Conversation) -> Mapping[str, str] | None:
    """The groups of the first regex given, by number, if all keys hold; else None."""
    context = seen.context
    plain = (
        (when.tool_result, {result.name for result in seen.results}),
        (when.depth, {context.depth}),
        (when.turns, {seen.turns}),
        (when.compaction, {context.compaction}),
        (when.routing, {context.routing}),
        (when.attempt, {context.attempt}),
        (when.event if isinstance(when.event, bool) else None, {seen.event is not None}),
    )
    if any(wanted is not None and wanted not in found for wanted, found in plain):
        return None
    searched: dict[str, str] | None = None
    for key in when.keys:
        pattern = getattr(when, key)
        if isinstance(pattern, re.Pattern):
            match = _search(pattern, _SUBJECTS[key](when, seen))
            if match is None:
                return None
            if searched is None:
                searched = {str(n): text or "" for n, text in enumerate(match.groups(), start=1)}
    return searched or {}


def _search(pattern: Regex, subjects: Iterable[str]) -> re.Match[str] | None:
    """The match in the first subject that has one."""
    return next((match for subject in subjects if (match := pattern.search(subject))), None)


def _results(when: When, seen: Conversation) -> list[str]:
    """Of the tool that the rule names, if it names one."""
    return [result.text for result in seen.results if when.tool_result in (None, result.name)]


_SUBJECTS: Mapping[str, Callable[[When, Conversation], list[str]]] = {
    "user": lambda _, seen: [seen.user] if seen.ends_with_user else [],
    "result": _results,
    "event": lambda _, seen: [seen.event.text, seen.event.origin] if seen.event else [],
    "contains": lambda _, seen: [seen.text],
}
