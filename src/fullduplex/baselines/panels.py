"""A panel of listeners as numbers: what it did, how far it agrees, each of it and each system against the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fullduplex import __version__
from fullduplex.baselines.listening import TASK, responses_of
from fullduplex.data.panels import PanelFile
from fullduplex.errors import InputError
from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES
from fullduplex.measures.listeners import (
    MEASURES,
    OPPORTUNITY_FROM,
    Panel,
    Tally,
    agreement_beyond_chance,
    agreement_with_the_others,
    divergence_from,
    held_against_the_rest,
    likelihood,
    normalised,
    opportunities,
    pooled,
)
from fullduplex.measures.listeners.panel import By
from fullduplex.measures.metric import Estimate
from fullduplex.measures.timing import WINDOW
from fullduplex.model.spans import in_seconds, seconds
from fullduplex.model.trials import Absent
from fullduplex.runs.run import Run
from fullduplex.stages import Progress

SCHEMA = 1
#: A response that lasts as long is a turn, not a backchannel (the released scripts of Full-Duplex-Bench).
LONG = seconds(1)


@dataclass(frozen=True, slots=True)
class Responder:
    """How a run's system responded to the stimuli of a panel.

    ``onsets``: by stimulus the onsets (µs) of each time that it was played; ``late``: responses past the end of the
    sound, which count nowhere; ``long``: of the others, those that last 1 s or more.
    """

    name: str
    run: str
    onsets: Mapping[str, list[list[int]]]
    late: int
    long: int
    absent: Mapping[str, int]


def panels_of(file: PanelFile) -> Iterator[Panel]:
    """Yield the panel of each stimulus, one at a time."""
    for heard in file:
        yield Panel(heard.stimulus, heard.duration, heard.listeners)


def responder(run: Run, file: PanelFile) -> Responder:
    """Return how the system of ``run`` responded to the stimuli of a panel, the run's backchannel items of their names.

    Absent: ``failed``, ``no output``, ``not of the panel``, ``not in the run``, ``heard less than the panel`` (the
    user's sound is a window shorter than the stimulus, or more). Raises :class:`InputError` where no stimulus is left,
    and where items of two sets have a stimulus' name.
    """
    lengths = {heard.stimulus: heard.duration for heard in file}
    onsets, absent = dict[str, list[list[int]]](), dict[str, int]()
    late = long = 0
    named = dict[str, str]()
    for played in responses_of(run):
        item, said = played.item, played.said
        name = item if item in lengths else item.rpartition("/")[2]
        if name in lengths and named.setdefault(name, played.set) != played.set:
            found = f"{named[name]}/{name} and {played.set}/{name}"
            raise InputError(run.path, f"stimulus {name}", found=found, expected="items of one set")
        why = "not of the panel" if name not in lengths else said.reason if isinstance(said, Absent) else ""
        if not why and played.lasts is not None and played.lasts <= lengths[name] - WINDOW:
            why = "heard less than the panel"
        if why or isinstance(said, Absent):
            absent[why] = absent.get(why, 0) + 1
            continue
        inside = [span for span in said if span.start < lengths[name]]
        late += len(said) - len(inside)
        long += sum(span.duration >= LONG for span in inside)
        onsets.setdefault(name, []).append([span.start for span in inside])
    if not onsets:
        why = ", ".join(f"{n} {reason}" for reason, n in absent.items()) or f"none of the task {TASK}"
        raise InputError(run.path, found=f"no item that the panel has heard ({why})", expected="one at least")
    lacking = len(set(lengths) - set(named))
    absent |= {"not in the run": lacking} if lacking else {}
    return Responder(run.system, run.path.name, onsets, late, long, absent)


def distributions(file: PanelFile, by: By = "onset") -> tuple[dict[str, list[float]], dict[str, dict[str, Any]]]:
    """Return by stimulus Q, as ``fdb-1.0`` reads it, and the likelihood with how many listeners it is a share of.

    A stimulus to which nobody responded has a likelihood and no Q.
    """
    q, likely = dict[str, list[float]](), dict[str, dict[str, Any]]()
    for panel in panels_of(file):
        shares = likelihood(panel, by=by)
        if isinstance(shares, Absent):
            continue
        likely[panel.stimulus] = {"listeners": len(panel.listeners), "likelihood": shares.tolist()}
        distribution = normalised(shares)
        if not isinstance(distribution, Absent):
            q[panel.stimulus] = distribution.tolist()
    return q, likely


def panel_statistics(
    file: PanelFile, responders: Sequence[Responder] = (), *, by: By = "onset", seed: int = 0,
    resamples: int = RESAMPLES, progress: Progress | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return everything that is counted of a panel, and of the systems that heard its stimuli, as one JSON object.

    Every interval draws stimuli again. ``people``: each listener left out against the rest, with as many responses
    turned to random times beside it; ``systems``: the same of each system, and its place among people.
    """
    stimuli, silent = list[dict[str, Any]](), list[float]()
    for panel in panels_of(file):
        stimuli.append(_stimulus(panel, by))
        shares = likelihood(panel, by=by)
        if not isinstance(shares, Absent) and shares.any():
            found = divergence_from([], shares, silence="uniform")
            silent += [] if isinstance(found, Absent) else [found]
    pairs = sum(one["listeners"] for one in stimuli)
    others = {str(n): one.onsets for n, one in enumerate(responders)}
    held = held_against_the_rest(_told_of(file, progress), others, pairs=pairs, by=by, seed=seed)
    pool = partial(pooled, seed=seed, resamples=resamples)
    return {
        "schema": SCHEMA,
        "fullduplex": __version__,
        "panel": file.path.name,
        "seed": seed,
        "resamples": resamples,
        "window": in_seconds(WINDOW),
        "by": by,
        "opportunity_from": OPPORTUNITY_FROM,
        "turns": held.turns,
        "totals": {
            "stimuli": len(stimuli),
            "listeners": len({name for panel in panels_of(file) for name in panel.listeners}),
            "heard": pairs,
            "responded": sum(one["responded"] for one in stimuli),
            "responses": sum(one["responses"] for one in stimuli),
            "seconds": round(sum(one["seconds"] for one in stimuli), 6),
        },
        "stimuli": stimuli,
        "agreement": [
            {
                "key": "with_the_others",
                "title": "Correlation of a listener with the share of the others",
                "of": "listeners",
                **_told(agreement_with_the_others(panels_of(file), by=by, seed=seed, resamples=resamples)),
            },
            {
                "key": "alpha",
                "title": "Krippendorff's alpha over windows",
                "of": "windows",
                **_told(agreement_beyond_chance(panels_of(file), by=by, seed=seed, resamples=resamples)),
            },
        ],
        "people": _rows(held.people, pool, place=False),
        "silent_as_uniform": sum(silent) / len(silent) if silent else None,
        "systems": [
            {
                "name": one.name,
                "run": one.run,
                "stimuli": len(one.onsets),
                "played": sum(map(len, one.onsets.values())),
                "responses": sum(len(said) for several in one.onsets.values() for said in several),
                "late": one.late,
                "long": one.long,
                "absent": dict(one.absent),
                "measures": _rows(held.others[str(n)], pool, place=True),
            }
            for n, one in enumerate(responders)
        ],
        "remarks": list(file.remarks),
    }


def _told_of(file: PanelFile, progress: Progress | None) -> Iterator[Panel]:
    for n, panel in enumerate(panels_of(file)):
        yield panel
        if progress is not None:
            progress("stimuli", n + 1, len(file))


def _stimulus(panel: Panel, by: By) -> dict[str, Any]:
    shares = likelihood(panel, by=by)
    peak: Floats = np.zeros(1) if isinstance(shares, Absent) else shares
    counts = [len(said) for said in panel.listeners.values()]
    top = int(peak.argmax())
    return {
        "stimulus": panel.stimulus,
        "seconds": in_seconds(panel.duration),
        "listeners": len(counts),
        "responded": sum(n > 0 for n in counts),
        "responses": sum(counts),
        "opportunities": len(opportunities(peak)),
        "peak": float(peak[top]),
        "peak_at": in_seconds(top * WINDOW) if peak[top] else None,
    }


def _rows(tally: Tally, pool: Callable[..., Estimate], *, place: bool) -> list[dict[str, Any]]:
    rows = []
    for one in MEASURES:
        scale = 100.0 if one.unit == "%" else 1.0
        row: dict[str, Any] = {
            "key": one.key, "title": one.title, "unit": one.unit, "better": one.better,
            **_told(pool(tally.own, one.key, tally.absent.get(one.key)), scale),
            "chance": None if one.key == "rate" else _told(pool(tally.chance, one.key), scale),
        }  # fmt: skip
        if not place:
            # How many listeners, responses or opportunities it is a mean over.
            row["of"] = round(sum(each.get(one.key, (0.0, 0.0))[1] for each in tally.own), 6)
        else:
            row["place"] = _told(pool(tally.place, one.key), 100.0)
        rows.append(row)
    return rows


def _told(found: Estimate, scale: float = 1.0) -> dict[str, Any]:
    value, low, high = (None if each is None else scale * each for each in (found.value, found.low, found.high))
    return {"value": value, "low": low, "high": high, "n": found.n, "absent": found.absent, "method": found.method}
