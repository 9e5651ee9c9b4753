"""How good a place is, where more are found than are wanted: clarity, and how well it represents its task.

The paper on French benchmarks ranks candidates "for clarity and task representation" and gives no formula. This one is
ours: score = (clarity + representation) / 2, each the mean of the terms below that can be told, each term from 0 to 1.

Clarity: ``separation``, how far the user's speech lies above the same channel where the user is silent, in dB, over
30 dB (needs the recording); ``whole``, the share of the user's words that were not broken off (needs words); ``known``,
whether all that is said in it, by both, is written down.

Representation, by task (a term reaches 1 at the value named):

* ``pause_handling``: 2 s of speech before the first pause; 2 s after the last; one pause and no more (1 / n).
* ``smooth_turn_taking``: the gap's place in its range, 1 at 0 and 0 at the range's end; 8 s of the shorter turn.
* ``backchannel``: one backchannel every 5 s; the share of them that are known tokens.
* ``user_interruption``: 1 s of overlap; 3 s of the partner's turn before it; five words, or 2 s, of interruption.
* ``user_backchannel``: 3 s of the partner's turn before it; 3 s after it.
* ``talking_to_other``: 1 s of overlap; 3 s of the partner's turn before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.audio import Samples
from fullduplex.making.harvest.fdb.floor import WORDS, Party
from fullduplex.making.harvest.fdb.places import Place
from fullduplex.making.harvest.fdb.rules import ASIDE, INTERRUPT, LISTEN, PAUSE, TURN, FdbRules
from fullduplex.measures.words import count_words
from fullduplex.model.spans import SECOND, Span, Timeline, ms, seconds

FRAME = ms(20)
#: So many decibels between speech and what is under it are all that is asked for.
_FULL = 30.0
#: Beside what is cut out, so much of the channel tells how it sounds when the user is silent.
_BESIDE = seconds(2)
#: Nothing is quieter than this, in full scale squared.
_FLOOR = 1e-10


@dataclass(frozen=True, slots=True)
class Score:
    """What a place is worth, 0 to 1, with the terms that it is made of; 1e-4 is the unit."""

    clarity: Mapping[str, float]
    representation: Mapping[str, float]

    @property
    def value(self) -> float:
        """Return (clarity + representation) / 2."""
        return round((_mean(self.clarity) + _mean(self.representation)) / 2, 4)

    def to_json(self) -> dict[str, Any]:
        """Return the score with its terms."""
        return {"value": self.value, "clarity": dict(self.clarity), "representation": dict(self.representation)}


def _mean(terms: Mapping[str, float]) -> float:
    return fmean(terms.values()) if terms else 0.0


def score_of(place: Place, rules: FdbRules, powers: NDArray[np.float64] | None = None) -> Score:
    """Return the score of a place; ``powers`` of the user's channel as :func:`powers_of` gives them, None without."""
    clear = {
        "separation": None if powers is None else separation(place, powers),
        "whole": _whole(place),
        "known": _known(place),
    }
    told = {name: round(value, 4) for name, value in clear.items() if value is not None}
    return Score(told, {name: round(value, 4) for name, value in _represents(place, rules).items()})


def powers_of(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Return the mean square of each whole frame of 20 ms."""
    size = max(1, FRAME * rate // SECOND)
    whole = samples[: len(samples) // size * size].reshape(-1, size)
    found: NDArray[np.float64] = np.einsum("ij,ij->i", whole, whole, dtype=np.float64) / size
    return found


def separation(place: Place, powers: NDArray[np.float64]) -> float | None:
    """Return how far the user's speech lies above the channel without it, over 30 dB, 0 to 1; None where untold."""
    span = Span(max(0, place.heard.start - _BESIDE), place.heard.end + _BESIDE)
    said = Timeline(one.span for one in place.user.between(span))
    loud, quiet = _power(powers, said.within(place.heard)), _power(powers, said.gaps(span))
    if loud is None or quiet is None:
        return None
    decibels = 10 * np.log10(max(loud, _FLOOR) / max(quiet, _FLOOR))
    return float(min(1.0, max(0.0, decibels / _FULL)))


def _power(powers: NDArray[np.float64], spans: Timeline) -> float | None:
    parts = [powers[-(-one.start // FRAME) : one.end // FRAME] for one in spans]
    frames = np.concatenate(parts) if parts else np.zeros(0)
    return float(frames.mean()) if len(frames) else None


def _whole(place: Place) -> float | None:
    if place.user.told_by != WORDS:
        return None
    inside = [n for n, word in enumerate(place.user.words) if word.span & place.heard]
    return 1 - sum(n in place.user.side.cut_off for n in inside) / len(inside) if inside else None


def _known(place: Place) -> float | None:
    """Return the share of the speech that a detector heard, on both sides, that words or lines tell; None without."""
    parties = [one for one in (place.user, place.partner) if one.side.speech is not None and _told(one)]
    heard = sum(one.side.speech.within(place.heard).duration for one in parties if one.side.speech is not None)
    told = sum(
        (one.side.speech & Timeline(said.span for said in one.between(place.heard))).within(place.heard).duration
        for one in parties
        if one.side.speech is not None
    )
    return told / heard if heard else None


def _told(party: Party) -> bool:
    return party.side.words is not None or bool(party.side.utterances)


def _up_to(value: float, full: float) -> float:
    return min(1.0, max(0.0, value / full))


def _represents(place: Place, rules: FdbRules) -> dict[str, float]:
    span = place.turn.span
    if place.task == PAUSE:
        return {
            "before": _up_to(place.events[0].start - span.start, seconds(2)),
            "after": _up_to(span.end - place.events[-1].end, seconds(2)),
            "one pause": 1 / len(place.events),
        }
    if place.task == LISTEN:
        known = [one.token is True for one in place.partner.between(span)]
        dense = _up_to(len(place.events) * seconds(5), max(span.duration, 1))
        return {"one every 5 s": dense, "known tokens": fmean(known) if known else 0.0}
    other = place.partner_turn
    assert other is not None
    if place.task == TURN:
        limit = seconds(1) if rules.gap.open else max(rules.gap.most, 1)
        shorter = min(span.duration, other.span.duration)
        return {"gap": 1 - _up_to(other.span.start - span.end, limit), "shorter turn": _up_to(shorter, seconds(8))}
    shared = span & other.span
    held = {"partner before": _up_to(span.start - other.span.start, seconds(3))}
    over = {"overlap": _up_to(shared.duration if shared else 0, seconds(1))}
    if place.task == INTERRUPT:
        text = place.turn.text
        said = _up_to(span.duration, seconds(2)) if text is None else _up_to(count_words(text), 5)
        return over | held | {"said": said}
    if place.task == ASIDE:
        return over | held
    return held | {"partner after": _up_to(other.span.end - span.end, seconds(3))}
