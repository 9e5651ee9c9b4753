"""What the embedding judge is worth: its area under the curve on labelled pairs, by pairs tuned on and held out."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.judging.embedding.behaviour import behaviour
from fullduplex.judging.embedding.interruption import meets
from fullduplex.judging.embedding.signals import SIGNALS, signals
from fullduplex.judging.embedding.vectors import Vectoriser

_HERE = Path(__file__).parent
PAIRS, WORTH, WEIGHTS = (_HERE / name for name in ("pairs.json", "worth.json", "weights.json"))
#: Every file whose change may change an answer.
_RULES = ("lexicon.toml", "words.py", "signals.py", "interruption.py", "behaviour.py", "vectors.py", "weights.json")
TUNED, HELD_OUT = 0, 1
_RESAMPLES, _SEED = 1000, 20260101

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Worth:
    """Held-out figures: area with its interval, of how many replies, of nearness alone; behaviours named rightly.

    ``paraphrases``: right replies in other words than the user's that are accepted. ``long``: replies of thirty words
    or so, as systems give, that are told rightly. Counts have all beside them.
    """

    auc: float
    low: float
    high: float
    n: int
    similarity: float
    right: int
    behaviours: int
    paraphrases: int
    of_paraphrases: int
    long: int
    of_long: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A reply with its label, its kind, and the scenario that it belongs to (the cluster)."""

    scenario: int
    context: str
    interruption: str
    reply: str
    good: bool
    kind: str

    @property
    def half(self) -> int:
        """Return :data:`TUNED` or :data:`HELD_OUT`: whole scenarios are held out, never single replies."""
        return self.scenario % 2


@cache
def pairs() -> tuple[Pair, ...]:
    """Return the labelled replies to interruptions."""
    found = _stored()["interruptions"]
    return tuple(
        Pair(number, one["context"], one["interruption"], said["reply"], said["label"] == "good", said["kind"])
        for number, one in enumerate(found)
        for said in one["replies"]
    )


def _stored() -> Any:
    return json.loads(PAIRS.read_text(encoding="utf-8"))


def rules_digest() -> str:
    """Return twelve digits that stand for the files by which answers are made."""
    return _digest(_RULES)


def pairs_digest() -> str:
    """Return twelve digits that stand for the pairs."""
    return _digest(("pairs.json",))


@cache
def _digest(names: tuple[str, ...]) -> str:
    whole = hashlib.sha256()
    for name in names:
        whole.update((_HERE / name).read_bytes().replace(b"\r\n", b"\n"))
    return whole.hexdigest()[:12]


def area(good: Floats, bad: Floats) -> float:
    """Return the share of good and bad in which the good one scores higher, ties one half."""
    return float(np.mean((good[:, None] > bad) + 0.5 * (good[:, None] == bad)))


def interval(scores: Floats, good: NDArray[np.bool_], clusters: NDArray[np.int_]) -> tuple[float, float]:
    """Return the 95 % percentile interval of :func:`area`, over whole scenarios drawn with replacement."""
    draw = np.random.default_rng(_SEED)
    rows = [np.flatnonzero(clusters == cluster) for cluster in np.unique(clusters)]
    areas = []
    for _ in range(_RESAMPLES):
        picked = np.concatenate([rows[i] for i in draw.integers(len(rows), size=len(rows))])
        areas.append(area(scores[picked][good[picked]], scores[picked][~good[picked]]))
    low, high = np.percentile(areas, [2.5, 97.5])
    return float(low), float(high)


def measured(scores: Sequence[float], half: int) -> dict[str, float | int]:
    """Return area, interval, and counts of one half, for scores in the order of :func:`pairs`."""
    here = np.array([pair.half == half for pair in pairs()])
    good = np.array([pair.good for pair in pairs()])[here]
    clusters = np.array([pair.scenario for pair in pairs()])[here]
    own = np.asarray(scores, np.float64)[here]
    low, high = interval(own, good, clusters)
    return {
        "auc": round(area(own[good], own[~good]), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "n": len(own),
        "scenarios": len(set(clusters.tolist())),
    }


def similarities(vectors: Vectoriser) -> list[float]:
    """Return the cosine of reply and interruption for each pair: nearness alone."""
    found = []
    for pair in pairs():
        rows = vectors([pair.reply, pair.interruption])
        found.append(float(rows[0] @ rows[1]))
    return found


def chances(vectors: Vectoriser, weights: Sequence[float]) -> list[float]:
    """Return the chance of each pair, by all signals."""
    return [meets(pair.context, pair.interruption, pair.reply, vectors, weights).value for pair in pairs()]


def by_kind(scores: Sequence[float], half: int, from_: float) -> dict[str, list[int]]:
    """Return for each kind of reply how many are told rightly at ``from_``, and how many there are."""
    right: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for pair, score in zip(pairs(), scores):
        if pair.half == half:
            whole[pair.kind] += 1
            right[pair.kind] += (score >= from_) == pair.good
    return {kind: [right[kind], whole[kind]] for kind in sorted(whole)}


def behaviours(vectors: Vectoriser, half: int) -> dict[str, list[int]]:
    """Return for each label of behaviour how many runs are named rightly, and how many there are."""
    right: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for one in _stored()["behaviours"][half::2]:
        for run in one["runs"]:
            found = behaviour(one["overlap"], one["before"], run["during"], run["after"], one["clean"], vectors)
            whole[run["label"]] += 1
            right[run["label"]] += found.label == run["label"]
    return {label: [right[label], whole[label]] for label in sorted(whole)}


def fit(vectors: Vectoriser, penalty: float = 10.0) -> dict[str, float]:
    """Return logistic weights fitted on the pairs for tuning, with ``penalty`` on the squares of standardised ones."""
    tuned = [pair for pair in pairs() if pair.half == TUNED]
    values = np.array([signals(pair.context, pair.interruption, pair.reply, vectors) for pair in tuned])
    good = np.array([float(pair.good) for pair in tuned])
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    rows = np.c_[np.ones(len(values)), (values - mean) / spread]
    weights = np.zeros(rows.shape[1])
    shrink = penalty * np.eye(len(weights))
    shrink[0, 0] = 1e-9
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chance - good) + shrink @ weights
        weights -= np.linalg.solve((rows * (chance * (1 - chance))[:, None]).T @ rows + shrink, slope)
    plain = weights[1:] / spread
    constant = float(weights[0] - plain @ mean)
    return {"constant": round(constant, 4), **{name: round(float(w), 4) for name, w in zip(SIGNALS, plain)}}


def stored_worth(model: str) -> Worth:
    """Return the held-out figures in ``worth.json`` for a similarity model."""
    found: Mapping[str, Any] = json.loads(WORTH.read_text(encoding="utf-8"))["models"][model]
    rules = found["rules"]["held out"]
    right, whole = (sum(counts[i] for counts in found["behaviours"]["held out"].values()) for i in (0, 1))
    similarity = found["similarity"]["held out"]["auc"]
    kinds: Mapping[str, list[int]] = found["kinds"]["held out"]
    long, of_long = (sum(counts[i] for kind, counts in kinds.items() if kind.startswith("long")) for i in (0, 1))
    other, of_other = kinds["paraphrase"]
    area_and_all = (rules["auc"], rules["low"], rules["high"], rules["n"], similarity)
    return Worth(*area_and_all, right, whole, other, of_other, long, of_long)
