"""One number as others have printed it: data to stand beside a run, never in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullduplex.measures.metric import Better


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed number: whose, of what, from where, under which rule and clock, and where it breaks the rule.

    ``value`` is in ``unit``; ``part`` of ``n`` items where it is a share of counted items, ``n`` None where it is not
    printed. ``clock`` and ``revision`` (of the source) are "" where there is one alone. ``departure`` says where it
    breaks the rule that ``variant`` names, or what else to know of it.
    """

    system: str
    scenario: str
    metric: str
    value: float
    unit: str
    better: Better
    source: str
    variant: str
    title: str
    scenario_title: str
    rests_on: str = "voice activity"
    departure: str = ""
    clock: str = ""
    n: int | None = None
    part: int | None = None
    revision: str = ""

    def to_row(self) -> dict[str, Any]:
        """Return the number as a table's row; it has no interval."""
        return {
            "system": self.system,
            "scenario": self.scenario,
            "scenario_title": self.scenario_title,
            "metric": self.metric,
            "title": self.title,
            "rests_on": self.rests_on,
            "unit": self.unit,
            "better": self.better,
            "value": self.value,
            "low": None,
            "high": None,
            "n": self.n,
            "absent": {},
            "method": "as printed",
            "source": self.source,
            "variant": f"{self.variant}; clock: {self.clock}" if self.clock else self.variant,
            "departure": self.departure,
        }
