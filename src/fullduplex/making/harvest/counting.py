"""How many candidates there were, how many each filter kept, and why the others were dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Funnel:
    """The counts of one condition: ``kept`` after each named step, in order; ``reasons`` by step."""

    steps: tuple[str, ...]
    candidates: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)

    def keep(self, step: str) -> None:
        """Count one that a step kept."""
        self.kept[step] += 1

    def drop(self, step: str, reason: str, n: int = 1) -> None:
        """Count ``n`` that a step dropped."""
        self.reasons.setdefault(step, Counter())[reason] += n

    def add(self, other: Funnel) -> None:
        """Count all that another funnel counted in steps that this one has too."""
        self.candidates += other.candidates
        self.kept.update(other.kept)
        for step, reasons in other.reasons.items():
            self.reasons.setdefault(step, Counter()).update(reasons)

    def rows(self) -> tuple[tuple[str, int], ...]:
        """Return what is left: all candidates, then what each step kept."""
        return (("candidates", self.candidates), *((step, self.kept[step]) for step in self.steps))

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a file has them."""
        return {
            "candidates": self.candidates,
            "steps": [
                {
                    "filter": step,
                    "kept": self.kept[step],
                    "dropped": dict(self.reasons.get(step, Counter()).most_common()),
                }
                for step in self.steps
            ],
        }


def table_of(funnels: Sequence[tuple[str, Funnel]]) -> str:
    """Return the counts as text: for each condition its candidates, and what every filter left of them."""
    lines = list[str]()
    for condition, funnel in funnels:
        lines.append(condition)
        before = 0
        for step, left in funnel.rows():
            share = f"  {100 * left / before:5.1f} %" if before else ""
            lines.append(f"  {step:<42}{left:>9,}{share}")
            before = left
    return "\n".join(lines)
