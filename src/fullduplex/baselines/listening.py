"""A system's responses held against a panel of listeners: how near their times lie, and whether they come where people
respond, against chance and against people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from fullduplex.data.fdb_json import read_reference
from fullduplex.errors import InputError
from fullduplex.measures.clusters import Floats
from fullduplex.measures.conversation import UNIT_ENDS_AFTER
from fullduplex.measures.listeners import (
    Placement,
    counts_behind,
    covered,
    divergence_from,
    placement,
    support,
    wasserstein_from,
)
from fullduplex.model.spans import Timeline
from fullduplex.model.speech import Track
from fullduplex.model.trials import Absent
from fullduplex.runs.items import SEEN, read_item, trial_or_failure
from fullduplex.runs.run import Run, driven_item

#: The task whose items are stimuli that a panel has heard.
TASK = "backchannel"


@dataclass(frozen=True, slots=True)
class Listening:
    """How a run's responses lie to a panel's, over ``stimuli`` items that the panel has heard.

    ``divergence``: the mean Jensen-Shannon divergence in **bits**; ``wasserstein``: the mean distance in **seconds**;
    both over the stimuli with a response (``responded``), None where there is none. ``support`` and ``covered`` count
    windows of 200 ms, each beside its chance (:class:`~fullduplex.measures.listeners.Placement`). ``absent``: the items
    that are not among ``stimuli``, by reason.
    """

    stimuli: int
    responded: int
    divergence: float | None
    wasserstein: float | None
    support: Placement
    covered: Placement
    absent: Mapping[str, int]


def listening_of(run: Run, reference: Path, *, listeners: int, seed: int = 0) -> Listening:
    """Return how the system of ``run`` responds where the panel of ``reference`` does.

    ``reference``: distributions by item (``icc_gt_distribution.json``, or a harvest's ``backchannel_reference.json``);
    ``listeners``: how many people stand behind one of them (about 59 in Full-Duplex-Bench's, 1 in a harvest's), for
    the file has lost it. A response is a stretch of the system's speech without a silence over 0.2 s; it counts at its
    onset. Absent, by reason: ``failed``, ``no output``, ``not in the reference``, and what keeps the reference from
    being counted. Raises :class:`InputError` where no item is left.
    """
    if listeners < 1:
        raise InputError("listeners", found=str(listeners), expected="1 or more")
    known = read_reference(reference)
    onsets, likely = dict[str, list[int]](), dict[str, Floats]()
    divergences, distances = list[float](), list[float]()
    absent = Counter[str]()
    for played in responses_of(run):
        key, name, said = played.key, played.item, played.said
        shares = known.get(name, known.get(name.rpartition("/")[2]))
        counts = Absent("not in the reference") if shares is None else counts_behind(shares)
        if isinstance(said, Absent):
            absent[said.reason] += 1
        elif isinstance(counts, Absent):
            absent[counts.reason] += 1
        else:
            q = np.asarray(shares, dtype=np.float64)
            onsets[key], likely[key] = [one.start for one in said], counts / listeners
            for found, into in (
                (divergence_from(onsets[key], q), divergences), (wasserstein_from(onsets[key], q), distances),
            ):  # fmt: skip
                if not isinstance(found, Absent):
                    into.append(found)
    if not likely:
        why = ", ".join(f"{n} {reason}" for reason, n in absent.items()) or f"none of the task {TASK}"
        raise InputError(run.path, found=f"no item that the panel has heard ({why})", expected="one at least")
    return Listening(
        len(likely), len(divergences), fmean(divergences) if divergences else None,
        fmean(distances) if distances else None, placement(onsets, likely, support, seed=seed),
        placement(onsets, likely, covered, seed=seed), dict(absent),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Played:
    """One time that an item was played to a system.

    ``key`` names it in the run, ``set`` and ``item`` the item, which its repeats share; ``lasts``: how long the user's
    sound is in µs, None where it is not known. ``said``: the stretches in which the system spoke; absent: ``failed``,
    ``no output``.
    """

    key: str
    set: str
    item: str
    lasts: int | None
    said: Timeline | Absent


def responses_of(run: Run) -> Iterator[Played]:
    """Yield each backchannel item of a run, each time that it was played."""
    for folder in run.items():
        item = read_item(folder)
        if item["task"] != TASK:
            continue
        trial = trial_or_failure(folder, SEEN)
        said = Absent("failed") if trial.failed else _said(trial.system)
        key = str(folder.relative_to(run.path))
        yield Played(key, str(item["set"]), _driven(str(item["id"]), folder), trial.user.duration, said)


def _driven(name: str, folder: Path) -> str:
    """Return the id of the item that was driven, whose repeats have it with their number behind it."""
    return driven_item(name) if folder.parent.parent.name != "trials" else name


def _said(track: Track) -> Timeline | Absent:
    """Return the stretches that a side speaks in, as its detector heard it, else its words. Absent: ``no output``."""
    if track.speech is not None:
        return track.speech.bridge(UNIT_ENDS_AFTER)
    return (
        Absent("no output")
        if track.words is None
        else Timeline(word.span for word in track.words).bridge(UNIT_ENDS_AFTER)
    )
