"""An interaction as measures see it: the user's turns where they fell, what each calls for, and what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullduplex.model.spans import Span, seconds
from fullduplex.model.trials import Absent, Trial


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the user's: where it fell (None: it never did), what was said.

    ``talking``: whether the system was being heard when it began, ``since`` from when on; None where that is not known.
    """

    id: str
    span: Span | None
    text: str = ""
    talking: bool | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a trigger word calls for. ``span`` is the word's (None: it was never said).

    ``window``: the onsets that are right, in microseconds after the word's end, both included, None where any is.
    ``overlap``: ``required`` (begins while the user still talks), ``forbidden``, ``allowed``.
    """

    id: str
    turn: str
    span: Span | None
    word: str
    action: str
    window: tuple[int, int] | None
    overlap: str
    target: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A question that checks what the talk has established; ``span`` is the turn's (None: never asked)."""

    id: str
    turn: str
    span: Span | None
    type: str
    expected: str
    fact: str = ""
    kind: str = ""
    rests_on_assistant: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of the user's audio that an action is judged by; ``span`` is None where it was never said.

    ``kind``: ``wait`` (the system is to be silent), ``ignored`` (speech not meant for it), ``entry`` (a response may
    begin here, before the turn's end), ``backchannel`` (a brief token belongs here), ``target`` (where to break in).
    """

    kind: str
    turn: str
    span: Span | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is known of an interaction; times on the session clock in microseconds."""

    scenario: str
    category: str
    target: str
    turns: tuple[Turn, ...]
    expects: tuple[Expectation, ...]
    probes: tuple[Probe, ...]
    pauses: tuple[Span | None, ...]
    style: str = ""
    script: tuple[tuple[str, str], ...] = ()
    marks: tuple[Mark, ...] = ()
    setting: str = ""
    origin: str = ""

    def marked(self, kind: str) -> tuple[Mark, ...]:
        """Return the marks of that kind, in their order."""
        return tuple(mark for mark in self.marks if mark.kind == kind)

    def turn(self, name: str) -> Turn | None:
        """Return the turn with that id, or None."""
        return next((turn for turn in self.turns if turn.id == name), None)

    def after(self, name: str) -> Turn | None:
        """Return the turn that follows ``name`` and fell, or None."""
        names = [turn.id for turn in self.turns]
        later = self.turns[names.index(name) + 1 :] if name in names else ()
        return next((turn for turn in later if turn.span is not None), None)


def scene(trial: Trial) -> Scene | Absent:
    """Return the trial's interaction. Absent: ``failed``, ``no annotation`` (the item has no interaction.json)."""
    if trial.failed:
        return Absent("failed", trial.failed)
    told = trial.item.reference.get("interaction")
    if not isinstance(told, Mapping):
        return Absent("no annotation", "no interaction.json")
    return Scene(
        str(told["scenario"]),
        str(told.get("category", "")),
        str(told.get("target", "")),
        tuple(_turn(one) for one in told["turns"]),
        tuple(_expectation(one) for one in told["expects"]),
        tuple(_probe(one) for one in told["probes"]),
        tuple(_span(one) for one in told["pauses"]),
        str(told.get("style", "")),
        tuple((str(line.get("who", "")), str(line.get("text", ""))) for line in told.get("script", ())),
        tuple(
            Mark(str(one["kind"]), str(one["cue"]), _span(one), str(one.get("text", "")))
            for one in told.get("marks", ())
        ),
        str(told.get("setting", "")),
        str(told.get("origin", "")),
    )


def _turn(one: Mapping[str, Any]) -> Turn:
    stamp, premise = one.get("timestamp"), one.get("premise") or {}
    span = None if stamp is None else Span(seconds(stamp[0]), max(seconds(stamp[0]) + 1, seconds(stamp[1])))
    since = premise.get("since")
    return Turn(
        str(one["id"]), span, str(one.get("text", "")), premise.get("system_talking"),
        None if since is None else seconds(since),
    )  # fmt: skip


def _expectation(one: Mapping[str, Any]) -> Expectation:
    window = one.get("window")
    return Expectation(
        str(one.get("id", "")), str(one["cue"]), _span(one), str(one.get("word", "")), str(one["action"]),
        None if window is None else (seconds(window[0]), seconds(window[1])), str(one.get("overlap", "allowed")),
        str(one.get("target", "")),
    )  # fmt: skip


def _probe(one: Mapping[str, Any]) -> Probe:
    return Probe(
        str(one["id"]), str(one["cue"]), _span(one), str(one["type"]), str(one["expected"]), str(one.get("fact", "")),
        str(one.get("kind", "")), bool(one.get("rests_on_assistant")),
    )  # fmt: skip


def _span(one: Mapping[str, Any]) -> Span | None:
    start, end = one.get("start"), one.get("end")
    if start is None or end is None:
        return None
    return Span(seconds(start), max(seconds(start) + 1, seconds(end)))
