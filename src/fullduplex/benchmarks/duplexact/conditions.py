"""The actions and conditions of DuplexAct as ``conditions.toml`` has them: one table, easy to correct."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Condition:
    """A circumstance under which an action is expected.

    ``source``: whose definition it is, ``paper``, ``inferred`` or ``ours``. ``made``: what the publication's items
    are made from, ``recordings`` or ``synthesis``; ``official``: how many it has, inferred; ``varied``: what differs
    among synthesised ones.
    """

    action: str
    key: str
    title: str
    source: str
    made: str
    official: int
    varied: str
    definition: str
    calls_for: str

    @property
    def name(self) -> str:
        """Return the scenario's name, ``ACTION_CONDITION``; items of it lie in the set ``da_`` and that."""
        return f"{self.action}_{self.key}"


@dataclass(frozen=True, slots=True)
class Action:
    """One of the eight: what succeeds at once (I), what succeeds then (S), and what is timed (T), "" if nothing.

    ``protocol`` is ``direct`` or ``simulator``; ``success`` says whose the criteria are, as a condition's source.
    """

    key: str
    title: str
    protocol: str
    success: str
    immediate: str
    follow_through: str
    timing: str
    conditions: tuple[Condition, ...]


@cache
def actions() -> tuple[Action, ...]:
    """Return the eight actions, each with its conditions, in the publication's order."""
    told = tomllib.loads(files(__package__).joinpath("conditions.toml").read_text(encoding="utf-8"))
    every = [_condition(one) for one in told["condition"]]
    return tuple(
        Action(**one, conditions=tuple(each for each in every if each.action == one["key"])) for one in told["action"]
    )


@cache
def conditions() -> tuple[Condition, ...]:
    """Return the twenty-four conditions, by action."""
    return tuple(condition for action in actions() for condition in action.conditions)


def condition_named(name: str) -> Condition | None:
    """Return the condition of that :attr:`Condition.name`, or None."""
    return next((condition for condition in conditions() if condition.name == name), None)


def _condition(one: dict[str, Any]) -> Condition:
    return Condition(source=one["from"], **{key: value for key, value in one.items() if key != "from"})
