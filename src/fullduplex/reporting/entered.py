"""Into which numbers a judge's verdict entered: a rule decides many items that a judge could have been asked about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fullduplex.runs.measured import Kind, Measured


@dataclass(slots=True)
class Entered:
    """What judges decided of a variant's numbers.

    ``verdicts``: by scenario and metric, the kinds of verdict that some value rests on. ``given``: how many
    verdicts of each kind there are; a person's corrections are none.
    """

    verdicts: dict[tuple[str, str], set[Kind]] = field(default_factory=dict)
    given: Counter[Kind] = field(default_factory=Counter)

    def kinds(self, scenario: str, metric: str) -> list[Kind]:
        """Return what a metric's values rest on, in the order of the names."""
        return sorted(self.verdicts.get((scenario, metric), ()))


def entered(measured: Measured, variant: str) -> Entered:
    """Return into which numbers of ``variant`` a judge's verdict entered: those of which a fact names one."""
    made = Entered()
    items: dict[int, None] = {}
    for column in measured.columns.values():
        if column.variant != variant:
            continue
        there = made.verdicts.setdefault((column.scenario.name, column.metric.name), set())
        for item, verdict in zip(column.items, column.verdicts, strict=True):
            said = measured.said.get(item)
            if said is None:
                continue
            items[item] = None
            if verdict:
                names = verdict.split(", ")
                there |= {kind for kind in said if kind[0] in names}
    for item in items:
        made.given.update(measured.said[item])
    return made
