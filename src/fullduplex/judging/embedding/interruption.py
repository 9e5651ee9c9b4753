"""How well a reply meets an interruption, as a chance between 0 and 1, with the signals that decided."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fullduplex.judging.embedding.signals import SIGNALS, signals
from fullduplex.judging.embedding.vectors import Vectoriser
from fullduplex.judging.embedding.words import tokens

#: The rating at which a chance counts: at least .1 is 1, and so on; below it 0.
RATINGS_FROM = (0.1, 0.25, 0.4, 0.6, 0.8)
#: At least so likely is ``yes`` to *addressed*: right replies and wrong ones of the tuned pairs are told equally well.
ADDRESSED_FROM = 0.4
_WEIGHTS = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Chance:
    """How likely a reply is a good one, and the signals that moved it most, each with what it added (log odds)."""

    value: float
    because: tuple[tuple[str, float], ...] = ()


def meets(context: str, interruption: str, reply: str, vectors: Vectoriser, weights: Sequence[float]) -> Chance:
    """Return how likely ``reply`` is one that meets ``interruption``; of no words 0.

    The logistic function of a weighted sum of the signals; ``weights`` are the constant and one for each signal.
    """
    if not tokens(reply):
        return Chance(0.0, (("no words", -math.inf),))
    values = signals(context, interruption, reply, vectors)
    parts = [weight * value for weight, value in zip(weights[1:], values)]
    odds = max(-30.0, min(30.0, weights[0] + sum(parts)))
    strongest = sorted(zip(SIGNALS, parts), key=lambda part: -abs(part[1]))[:3]
    return Chance(1 / (1 + math.exp(-odds)), tuple((name, part) for name, part in strongest if abs(part) >= 0.2))


def rating(chance: float) -> int:
    """Return 0 to 5: how many of :data:`RATINGS_FROM` the chance reaches."""
    return sum(chance >= bound for bound in RATINGS_FROM)


@cache
def fitted(model: str) -> tuple[float, ...]:
    """Return the weights for a similarity model, fitted on the pairs for tuning alone."""
    found = json.loads(_WEIGHTS.read_text(encoding="utf-8"))[model]
    return (found["constant"], *(found[name] for name in SIGNALS))
