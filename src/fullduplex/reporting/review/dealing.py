"""In which order a rater hears what, and on which side a system stands: drawn, and the same whenever they return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fullduplex.model.spec import digest


def _chance(*words: object) -> float:
    """Return a number from 0 to 1 that is drawn for these words, the same each time."""
    return float(np.random.default_rng(int(digest(list(words)), 16)).random())


def order(keys: Sequence[str], rater: str, form: str, seed: int) -> list[int]:
    """Return the places of ``keys`` in the order drawn for ``rater``.

    Each item has a place of its own in the draw: an item that is added later moves no other one.
    """
    drawn = [_chance("order", seed, form, rater, key) for key in keys]
    return sorted(range(len(keys)), key=lambda place: (drawn[place], keys[place]))


def drawn_of_each(sets: Mapping[str, str], count: int | None, form: str, seed: int) -> set[str]:
    """Return the keys of ``sets`` (key -> set) that are drawn: ``count`` of each set, all where it is None or more."""
    by_set: dict[str, list[str]] = {}
    for key, name in sets.items():
        by_set.setdefault(name, []).append(key)
    return {
        key
        for keys in by_set.values()
        for key in sorted(keys, key=lambda one: (_chance("sample", seed, form, one), one))[:count]
    }


def sides(key: str, rater: str, form: str, seed: int) -> tuple[int, int]:
    """Return which of two clips is ``A`` and which is ``B`` for ``rater``: (0, 1) or (1, 0), each half of the time."""
    return (0, 1) if _chance("sides", seed, form, rater, key) < 0.5 else (1, 0)


def deal(
    drawn: Sequence[int],
    mine: set[int],
    others: Mapping[int, int],
    waiting: Mapping[int, int],
    *,
    raters: int | None,
    per_rater: int | None,
    strata: Sequence[str] | None = None,
) -> list[int]:
    """Return what a rater is given, in the order ``drawn`` for them.

    ``mine`` is what they answered before, which they always have again. Of the rest they are not given what has
    ``raters`` other raters already (``others`` counts them). With ``per_rater``, they are given that many in all,
    first of what has the fewest answers, counting as answers those that other raters who are at work have
    ``waiting`` for them. With ``strata`` (of each place its stratum) they are also given about as many of
    each stratum, and nothing that has ``raters`` with those who have it waiting.
    """
    fresh = [place for place in drawn if place not in mine and (raters is None or others.get(place, 0) < raters)]
    if per_rater is not None:
        counts = {place: others.get(place, 0) + waiting.get(place, 0) for place in fresh}
        if strata is not None:
            fresh = [place for place in fresh if raters is None or counts[place] < raters]
            fresh = _spread(fresh, strata, counts, mine)
        fresh.sort(key=lambda place: counts[place])  # equal ones stay as drawn
        fresh = fresh[: max(0, per_rater - len(mine))]
    given = mine.union(fresh)
    return [place for place in drawn if place in given]


def _spread(places: Sequence[int], strata: Sequence[str], counts: Mapping[int, int], mine: set[int]) -> list[int]:
    """Return ``places`` so that their beginning has about as many of each stratum, counting ``mine``."""
    had = Counter(strata[place] for place in mine)
    turn = dict[int, int]()
    for place in sorted(places, key=lambda one: counts[one]):
        turn[place] = had[strata[place]]
        had[strata[place]] += 1
    return sorted(places, key=lambda place: turn[place])
