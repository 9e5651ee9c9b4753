"""What the page tells of a benchmark that reports several dimensions apart: its cards, and each dimension's table.

A benchmark that has them keeps ``cards.toml`` in its folder; its scenarios name their card there
(:attr:`~fullduplex.benchmarks.declare.Scenario.card`) and their dimension. Everything here is read, nothing measured.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

#: How a column's number comes about: see :class:`Column`.
Statistic = Literal["estimate", "median", "pooled", "ratio", "sum", "rho"]


@dataclass(frozen=True, slots=True)
class Card:
    """What is told of one scenario.

    ``happens``, ``success`` and ``listen``: what the user does, what a system does that succeeds, what to listen for.
    ``metric`` ranks the systems; where ``part`` and ``whole`` are given, their sums' ratio does, and ``metric`` only
    tells which items are examples of success (its value is 1).
    """

    key: str
    title: str
    happens: str
    success: str
    listen: str
    metric: str = "passed"
    part: str = ""
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a dimension's table, over the items of the scenarios whose card is in ``cards``.

    ``statistic``: ``estimate`` is the metric's own, over one scenario; ``median`` and ``pooled`` (the mean) are over
    the items of all; ``ratio`` is the sum of ``metric`` over that of ``whole``; ``sum`` adds up; ``rho`` is the rank
    correlation of ``metric`` with ``whole`` over the items. ``unit`` and ``better`` "" are the metric's.
    """

    title: str
    metric: str
    cards: tuple[str, ...]
    statistic: Statistic = "estimate"
    whole: str = ""
    unit: str = ""
    better: str = ""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One table: never added to another. ``score`` is the title of the column that sorts its rows, "" for none."""

    key: str
    title: str
    text: str = ""
    columns: tuple[Column, ...] = ()
    score: str = ""


@dataclass(frozen=True, slots=True)
class Probes:
    """The table by type of probe: family metrics ``PART:TYPE`` and ``WHOLE:TYPE`` of a card's scenario, and titles."""

    card: str
    part: str
    whole: str
    types: Mapping[str, str]
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Failures:
    """The table that splits what failed: ``answered`` and ``passed`` tell it by item, the ``counts`` in numbers.

    ``counts``: for each of the columns but the first, the metric that counts it on the card ``counted``.
    """

    title: str
    text: str
    cards: tuple[str, ...]
    answered: str
    counted: str
    counts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Related:
    """Two dimensions whose scores are correlated by rank, with and without the system called ``without``."""

    first: str
    second: str
    without: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Board:
    """A benchmark's cards and tables.

    ``restraint``: cards that a system passes that never hears inside a turn. ``actions``: title and text of each table
    of actions, by its key, of a benchmark whose scenarios are conditions of actions (I, S and T, see
    :mod:`fullduplex.reporting.actions`); a dimension of such a one has no columns of its own.
    """

    cards: Mapping[str, Card]
    dimensions: tuple[Dimension, ...]
    restraint: tuple[str, ...] = ()
    probes: Probes | None = None
    failures: Failures | None = None
    related: Related | None = None
    actions: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def board_of(benchmark: str) -> Board | None:
    """Return the board of ``benchmark``, None for one that has none."""
    if not benchmark.isidentifier():
        return None
    there = files("fullduplex.benchmarks").joinpath(benchmark, "cards.toml")
    return read_board(tomllib.loads(there.read_text(encoding="utf-8"))) if there.is_file() else None


def read_board(told: Mapping[str, Any]) -> Board:
    """Return the board that ``told``, a parsed cards.toml, describes; raises ValueError where it names no card."""
    cards = {key: Card(key, **_plain(one)) for key, one in told["cards"].items()}
    dimensions = tuple(
        Dimension(**{**_plain(one), "columns": tuple(Column(**_plain(column)) for column in one.get("columns", ()))})
        for one in told["dimensions"]
    )
    board = Board(
        cards,
        dimensions,
        tuple(told.get("restraint", ())),
        Probes(**told["probes"]) if "probes" in told else None,
        Failures(**_plain(told["failures"])) if "failures" in told else None,
        Related(**told["related"]) if "related" in told else None,
        {key: (str(one["title"]), str(one["text"])) for key, one in told.get("actions", {}).items()},
    )
    named = {card for one in dimensions for column in one.columns for card in column.cards} | set(board.restraint)
    unknown = sorted(named - set(cards))
    if unknown:
        raise ValueError(f"cards.toml names {unknown[0]!r}, which is none of its cards")
    for one in dimensions:
        if one.score and one.score not in {column.title for column in one.columns}:
            raise ValueError(f"cards.toml sorts {one.key!r} by {one.score!r}, which is none of its columns")
    return board


def _plain(one: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
