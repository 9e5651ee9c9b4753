"""The labels of an item that people are asked about: DuplexAct's action and condition, in its words and with ours."""

from __future__ import annotations

from collections.abc import Mapping

from fullduplex.benchmarks.duplexact.conditions import Condition, actions, condition_named


def labels_of(scenario: str) -> Mapping[str, str]:
    """Return ``action`` and ``condition`` of a scenario, each with what it means; nothing where it is no condition.

    The action is told without its condition: whoever judges it has not been told that yet.
    """
    found = condition_named(scenario.removeprefix("da_"))
    if found is None:
        return {}
    action = next(one for one in actions() if one.key == found.action)
    return {
        "action": f"{action.title}. {action.immediate}",
        "condition": f"{found.title}. {found.definition}",
    }


def titles_of(condition: Condition) -> tuple[str, str]:
    """Return the titles of a condition's action and of itself."""
    return next(one.title for one in actions() if one.key == condition.action), condition.title
