"""What one talk may cost and how it is let in: keys, prices, an allowance, a pace, and patience with a full server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fullduplex.driving.prices import Prices
from fullduplex.driving.talk import Talk
from fullduplex.driving.usage import Usage, usage_of
from fullduplex.judging.limits import Pace, backoff
from fullduplex.model.spans import in_seconds
from fullduplex.once import once_per_process
from fullduplex.systems.refusals import Refusal

#: Why a talk is not held that would cost more than is allowed.
COST_CAP = "cost cap"
#: How the sentence on a talk begins that was not held.
NOT_HELD = "not held: "
#: So long, in seconds, a talk waits altogether for a server that has no room.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds for one talk; small and picklable.

    ``keys`` by the names of their variables, shown nowhere. ``prices``: what a talk costs, None where nobody knows.
    ``allowance``: the US dollars that this talk may cost with all its attempts, None for any; ``bound``: what an
    attempt costs at most, as far as that is known. ``per_minute``: how many talks this process begins in a minute at
    most.
    """

    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    prices: Prices | None = None
    allowance: float | None = None
    bound: float = 0.0
    per_minute: float | None = None

    def allows(self, spent: float) -> bool:
        """Return whether another attempt fits, after so much was spent on this talk."""
        return self.allowance is None or spent + self.bound <= self.allowance

    async def pace(self) -> None:
        """Wait until this process may begin another talk."""
        if self.per_minute is not None:
            await asyncio.sleep(max(0.0, _pace(self.per_minute).slot(time.monotonic()) - time.monotonic()))


@once_per_process
def _pace(per_minute: float) -> Pace:
    return Pace(per_minute)


@dataclass(slots=True)
class Spending:
    """What the attempts at one talk have cost in this call.

    ``spent`` in US dollars; ``dearest``: of one attempt, and ``rate`` of a second of talk; ``unknown``: attempts whose
    cost is not known, ``why`` of the last.
    """

    spent: float = 0.0
    dearest: float = 0.0
    rate: float = 0.0
    unknown: int = 0
    why: str = ""

    def take(self, talk: Talk | None, prices: Prices | None) -> dict[str, Any]:
        """Take an attempt into account, and return what its record says: ``usage``, and ``cost`` where it is known."""
        if talk is None:
            return {}
        usage = usage_of(talk.notes, in_seconds(talk.duration))
        told: dict[str, Any] = {"usage": usage.to_json()}
        if prices is None:
            return told
        cost = prices.cost(usage)
        told["cost"] = None if cost is None else round(cost, 9)
        if cost is None:
            self.unknown, self.why = self.unknown + 1, _why(prices, usage)
            return told
        self.spent += cost
        self.dearest = max(self.dearest, cost)
        self.rate = max(self.rate, cost / max(1.0, usage.seconds))
        return told


def _why(prices: Prices, usage: Usage) -> str:
    lacking = prices.without_price(usage)
    return f"no price is known of {', '.join(lacking)}" if lacking else "the system did not count its tokens"


class Patience:
    """How long to wait for a server that has no room: as long as it asks, else longer each time."""

    def __init__(self, seed: int, name: str) -> None:
        self._draws = np.random.default_rng([seed, *name.encode()])
        self.refusals, self.waited = 0, 0.0

    def pause(self, refusal: Refusal) -> float | None:
        """Return for how many seconds to wait now, None where that would be for too long altogether."""
        pause = backoff(self.refusals + 1, self._draws, refusal.after)
        if self.waited + pause > PATIENCE:
            return None
        self.refusals, self.waited = self.refusals + 1, self.waited + pause
        return pause

    def told(self) -> dict[str, Any]:
        """Return what the record of an attempt says of the wait before it, and forget it."""
        if not self.refusals:
            return {}
        told = {"waited": {"refusals": self.refusals, "seconds": round(self.waited, 3)}}
        self.refusals, self.waited = 0, 0.0
        return told


def spent_on(attempts: Iterable[Any]) -> float:
    """Return what attempts of a record cost altogether, in US dollars, as far as they tell."""
    costs = [attempt.get("cost") for attempt in attempts if isinstance(attempt, dict)]
    return sum(float(cost) for cost in costs if isinstance(cost, int | float) and not isinstance(cost, bool))


__all__ = ["COST_CAP", "NOT_HELD", "PATIENCE", "Limits", "Patience", "Spending", "spent_on"]
