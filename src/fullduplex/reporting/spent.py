"""What a run's talks used and cost, all attempts together, as their records tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.driving.prices import dollars
from fullduplex.errors import InputError, printable
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, TWIN, read_told


@dataclass(slots=True)
class Spent:
    """Sums over the attempts of a run's talks.

    ``attempts``: those in which something was said; ``counted``: those whose system counted; ``tokens`` by kind;
    ``charged`` seconds where the system tells them. ``cost`` in US dollars over ``priced`` attempts; ``unpriced``:
    attempts that had a price and whose cost is not known. ``sources``: whose prices these are. ``refusals`` and
    ``waited``: how often a server had no room, and how many seconds were waited for it.
    """

    attempts: int = 0
    counted: int = 0
    seconds: float = 0.0
    tokens: Counter[str] = field(default_factory=Counter)
    charged: float = 0.0
    cost: float = 0.0
    priced: int = 0
    unpriced: int = 0
    sources: dict[str, None] = field(default_factory=dict)
    refusals: int = 0
    waited: float = 0.0

    def sentences(self) -> Iterator[str]:
        """Yield what a reader has to know, one sentence each; nothing of systems that count and cost nothing."""
        if self.tokens:
            each = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in sorted(self.tokens.items()))
            if self.attempts == 1:
                yield f"tokens that the system counted in 1 attempt: {each}"
            else:
                yield f"tokens that the system counted in {self.counted} of {self.attempts} attempts: {each}"
        if self.charged:
            yield f"seconds that the system says it charges: {self.charged:.0f}, of {self.seconds:.0f} s of talk"
        if self.priced:
            whose = "; ".join(printable(source, 200) for source in self.sources)
            if self.priced == 1:
                yield f"cost: {dollars(self.cost)} for 1 attempt (prices: {whose})"
            else:
                yield f"cost: {dollars(self.cost)} for {self.priced} attempts, failed ones with them (prices: {whose})"
        if self.unpriced == 1:
            yield "of 1 attempt the cost is not known: it used what has no price or was not counted"
        elif self.unpriced:
            yield f"of {self.unpriced} attempts the cost is not known: they used what has no price or was not counted"
        if self.refusals == 1:
            yield f"the server had no room once, and was waited for: {self.waited:.0f} s"
        elif self.refusals:
            yield f"the server had no room {self.refusals} times, and was waited for: {self.waited:.0f} s"

    def to_json(self) -> dict[str, Any]:
        """Return the sums as a JSON object."""
        return {
            "attempts": self.attempts,
            "counted": self.counted,
            "seconds": round(self.seconds, 6),
            "tokens": dict(sorted(self.tokens.items())),
            "charged_seconds": self.charged,
            "cost": round(self.cost, 9) if self.priced else None,
            "priced": self.priced,
            "cost_not_known": self.unpriced,
            "refusals": self.refusals,
            "waited": round(self.waited, 3),
        }


def spent(run: Run) -> Spent:
    """Return the sums over every talk of ``run``, clean twins and failed attempts with them."""
    found = Spent()
    for item in run.items():
        for folder in (item, item / TWIN):
            told = _told(folder)
            for attempt in told.get("attempts", ()):
                _take(found, attempt)
            prices = told.get("prices")
            if isinstance(prices, Mapping) and prices.get("source"):
                found.sources[str(prices["source"])] = None
    return found


def _take(found: Spent, attempt: Mapping[str, Any]) -> None:
    waited = attempt.get("waited")
    if isinstance(waited, Mapping):
        found.refusals += int(_number(waited.get("refusals")))
        found.waited += _number(waited.get("seconds"))
    usage = attempt.get("usage")
    if not isinstance(usage, Mapping):
        return
    found.attempts += 1
    found.seconds += _number(usage.get("seconds"))
    found.charged += _number(usage.get("charged_seconds"))
    tokens = usage.get("tokens")
    if isinstance(tokens, Mapping):
        found.counted += 1
        found.tokens.update({printable(str(kind), 60): int(_number(n)) for kind, n in tokens.items()})
    if "cost" in attempt:
        known = isinstance(attempt["cost"], int | float)
        found.cost += _number(attempt["cost"])
        found.priced, found.unpriced = found.priced + known, found.unpriced + (not known)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else 0.0


def _told(folder: Path) -> Mapping[str, Any]:
    if not (folder / DONE).is_file():
        return {}
    try:
        return read_told(folder)
    except InputError:
        return {}  # counted where the talks are


__all__ = ["Spent", "spent"]
