"""Cards: what each scenario of a benchmark is about, and which systems do best at it. Pure data, for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.benchmarks.boards import Card, Column, board_of
from fullduplex.reporting.cells import BY_CONSTRUCTION, Cell, cell_of, mark_best, ratio_of
from fullduplex.reporting.rows import Row
from fullduplex.reporting.seats import Ground, Seat
from fullduplex.runs.measured import Measured
from fullduplex.runs.run import Run


def grounds(pairs: Sequence[tuple[Run, Measured]], rows: Mapping[str, Sequence[Row]]) -> list[Ground]:
    """Return what cards and tables are made of, for each variant of ``rows``; nothing for a benchmark without cards."""
    about = pairs[0][0].about
    board = board_of(str(about["benchmark"]["name"]))
    if board is None:
        return []
    seats = [Seat.of(run, measured) for run, measured in pairs]
    return [Ground(board, seats, its, variant, int(about.get("seed", 0))) for variant, its in rows.items()]


def cards(ground: Ground) -> list[dict[str, Any]]:
    """Return a card for each scenario of the variant that has one and was measured, in the order of the board.

    A card is ``variant``, ``key``, ``scenario`` (its name), ``title``, ``dimension`` (its title), ``happens``,
    ``success``, ``listen``, ``metric`` (1 on the items that are examples of success), ``counts`` (what n counts) and
    ``ranks``, best first: for each system ``place``, ``tied``, ``system``, ``marks`` and ``cell`` (see
    :mod:`.cells`). Figures that print alike share a place; without a value, and for a pass by construction, it is None.
    """
    titles = {one.key: one.title for one in ground.board.dimensions}
    made = []
    for card in ground.board.cards.values():
        scenario = ground.scenario(card.key)
        found = [(seat, _of(ground, seat, card)) for seat in ground.seats]
        if scenario is None or all(its is None for _, its in found):
            continue
        mark_best([its for _, its in found], "higher")
        made.append(
            {
                "variant": ground.variant,
                "key": card.key,
                "scenario": scenario.name,
                "title": card.title,
                "dimension": titles.get(scenario.dimension, scenario.dimension),
                "happens": card.happens,
                "success": card.success,
                "listen": card.listen,
                "metric": card.metric,
                "counts": "probes" if card.whole else "items",
                "ranks": _ranked(found),
            }
        )
    return made


def _of(ground: Ground, seat: Seat, card: Card) -> Cell | None:
    if card.whole:
        return ratio_of(ground, seat, card.key, card.part, card.whole)
    return cell_of(ground, seat, Column(card.title, card.metric, (card.key,)))


def _ranked(found: list[tuple[Seat, Cell | None]]) -> list[dict[str, Any]]:
    def ranks(its: Cell | None) -> bool:
        return its is not None and its["value"] is not None and its["note"] != BY_CONSTRUCTION

    def order(one: tuple[Seat, Cell | None]) -> tuple[int, float]:
        its = one[1]
        if its is None or its["value"] is None:
            return (2, 0.0)
        return (0 if ranks(its) else 1, -float(its["value"]))

    figures = [its["text"] for _, its in found if its is not None and ranks(its)]
    made: list[dict[str, Any]] = []
    for seat, its in sorted(found, key=order):
        placed = its is not None and ranks(its)
        text = its["text"] if its is not None else ""
        made.append(
            {
                # The first among those that print alike: as many are before it as have a place already.
                "place": 1 + sum(one["cell"]["text"] != text for one in made) if placed else None,
                "tied": placed and figures.count(text) > 1,
                "system": seat.system,
                "marks": seat.marks,
                "cell": its,
            }
        )
    return made
