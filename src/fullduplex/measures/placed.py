"""Where the turns of a script fell in a recording that does not say: told by the words of the user's channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fullduplex.measures.aligned import HEARD, Aligned, Fell
from fullduplex.model.spans import Span, Timeline, in_seconds, ms
from fullduplex.model.speech import Word

#: Silences shorter than this do not end a stretch of speech: the same as while driving.
BREATH = ms(500)


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be placed: ``turn``, ``trigger`` or ``pause``, its id, and why."""

    what: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Placed:
    """An interaction with its turns, triggers, pauses and probes on the session clock, and what failed.

    ``told`` has the shape of ``interactions.on_the_clock``: what could not be placed has ``start`` and ``end`` None,
    and ``placing`` says why, a sentence for each.
    ``exact`` counts the triggers that were heard as they are written, ``by_neighbours`` those that a recogniser
    wrote differently where the words around them were heard right (a slip of grammar is often mended by it).
    """

    told: dict[str, Any]
    failures: tuple[Failure, ...]
    exact: int
    by_neighbours: int


def placed_by_words(
    told: Mapping[str, Any],
    user_words: Sequence[Word],
    system: Timeline | None = None,
    user: Timeline | None = None,
    *,
    heard: float = HEARD,
) -> Placed:
    """Return ``told`` (an interaction.json's content) with every time taken from the words of the user's channel.

    Its turns are those listed, else the lines of its script that have a cue. The scripted words of all turns, in
    order, are aligned with the heard ones by least edits (letter case, punctuation and digits for number words do
    not count). A turn is found where at least the share ``heard`` of its words was matched, and lies from its first
    to its last aligned word. Turns without a text share the words that are left between their neighbours, divided at
    the longest silences of at least :data:`~fullduplex.measures.aligned.APART`. A trigger is the occurrence of its
    word in the turn that the script means (``occurrence``, counted from 1, or ``position``, 0 to 1 of the turn):
    where the heard word is aligned to it, else the same word heard nearest to it in the turn, else whatever was heard
    in its place between two words heard right. The *n* pauses of a turn are the *n* longest silences between its
    words, where the shortest is at least :data:`~fullduplex.measures.aligned.STANDS_OUT` times the longest other one.
    ``user``, the speech that a detector heard of the same side, sets the edges of each pause: those of its silence
    that shares the most time with the pause. ``system``, the speech of the other side, tells each turn's premise:
    talking when it began, and since when.

    English number words only. Source: own; every time is as good as the recogniser's.
    """
    scripted = _turns(told)
    aligned = Aligned([str(turn.get("text", "")) for turn in scripted], user_words)
    failures: list[Failure] = []
    turns, found = [], dict[str, Fell]()
    for turn, place in zip(scripted, aligned.turns(heard), strict=True):
        name = str(turn["id"])
        if isinstance(place, str):
            failures.append(Failure("turn", name, place))
            turns.append({**turn, "timestamp": None})
            continue
        found[name] = place
        start, end = aligned.words[place.first].span.start, aligned.end(place)
        turns.append({**turn, "timestamp": [in_seconds(start), in_seconds(end)], **_premise(system, start)})
    expects, exact, near = [], 0, 0
    for one in told["expects"]:
        span, how = aligned.trigger(one, found.get(str(one["cue"])))
        exact, near = exact + (how == "exact"), near + (how == "neighbours")
        if span is None:
            failures.append(Failure("trigger", str(one.get("id", "")), how))
        expects.append({**one, **_placed(span)})
    pauses = []
    silences = {cue: aligned.silences(its, _count(told["pauses"], cue)) for cue, its in found.items()}
    for n, one in enumerate(told["pauses"]):
        its = silences.get(str(one["cue"]))
        span = _silence(user, its.pop(0)) if its else None
        if span is None:
            why = "its turn was not heard" if its is None else "no silence of its turn stands out"
            failures.append(Failure("pause", str(n), why))
        pauses.append({**one, **_placed(span)})
    spans = {turn["id"]: turn["timestamp"] for turn in turns}
    probes = [
        {**one, "asked": fell is not None, "start": fell and fell[0], "end": fell and fell[1]}
        for one in told["probes"]
        for fell in (spans.get(one["cue"]),)
    ]
    made = {**told, "turns": turns, "expects": expects, "pauses": pauses, "probes": probes, "unplaced": False}
    made["placing"] = [f"{one.what} {one.id}: {one.reason}" for one in failures]
    return Placed(made, tuple(failures), exact, near)


def _turns(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    lines = [line for line in told.get("script", ()) if line.get("who") == "user" and line.get("cue")]
    return list(told["turns"]) or [{"id": line["cue"], "text": line.get("text", "")} for line in lines]


def _silence(user: Timeline | None, pause: Span) -> Span:
    """Return the detector's silence that shares the most time with ``pause``, else the pause as it is."""
    shared = [(both.duration, gap) for gap in _gaps(user) if (both := gap & pause) is not None]
    return max(shared, key=lambda each: each[0])[1] if shared else pause


def _gaps(speech: Timeline | None) -> list[Span]:
    return [Span(one.end, other.start) for one, other in pairwise(speech or ())]


def _count(pauses: Sequence[Mapping[str, Any]], cue: str) -> int:
    return sum(str(one["cue"]) == cue for one in pauses)


def _premise(system: Timeline | None, at: int) -> dict[str, Any]:
    if system is None:
        return {}
    stretch = next((span for span in system.bridge(BREATH - 1) if span.start < at < span.end), None)
    since = None if stretch is None else in_seconds(stretch.start)
    return {"premise": {"system_talking": stretch is not None, "since": since}}


def _placed(span: Span | None) -> dict[str, float | None]:
    return (
        {"start": None, "end": None} if span is None else {"start": in_seconds(span.start), "end": in_seconds(span.end)}
    )
