"""Conditions on what the system did since the user's last words.

They answer like every cue (:mod:`fullduplex.driving.cues`): with the moment at which they were met, or
None while they are not. The cues themselves are conditions too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data.files import brief, member, text, time
from fullduplex.driving.cues import AUDIBLE, BREATH, Due, Ear, after_word, due_from_json
from fullduplex.driving.playout import Samples
from fullduplex.driving.wording import holds, units
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, Span, Timeline, in_seconds, seconds

#: Conditions within conditions are read to this depth.
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class replied:  # noqa: N801  a condition reads as a phrase, as the cues do
    """Met when the system is first heard after the user's last words."""

    def __call__(self, ear: Ear) -> int | None:
        """Return the reply's onset."""
        return ear.reply_began

    def to_json(self) -> dict[str, Any]:
        """Return the name alone."""
        return {"when": "replied"}


@dataclass(frozen=True, slots=True)
class unanswered:  # noqa: N801
    """Met ``length`` after the user's last words if nothing of the system was heard since."""

    length: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the moment at which the wait was over."""
        due = ear.spoke_until + self.length
        return due if ear.now >= due and (ear.reply_began is None or ear.reply_began >= due) else None

    def to_json(self) -> dict[str, Any]:
        """Return the length."""
        return {"when": "unanswered", "length": in_seconds(self.length)}


@dataclass(frozen=True, slots=True)
class silent:  # noqa: N801
    """Met once neither side has been heard for ``length``, whether or not the system had replied."""

    length: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the moment at which the silence was long enough."""
        due = max(ear.spoke_until, ear.system_until or 0) + self.length
        return due if ear.now >= due else None

    def to_json(self) -> dict[str, Any]:
        """Return the length."""
        return {"when": "silent", "length": in_seconds(self.length)}


@dataclass(frozen=True, slots=True)
class spoke_for:  # noqa: N801
    """Met once the system's latest stretch of speech has lasted ``length`` since the user's last words.

    Silences shorter than :data:`~fullduplex.driving.cues.BREATH` lie within a stretch.
    """

    length: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the moment at which the stretch was that long."""
        if ear.system_since is None or ear.system_until is None:
            return None
        due = max(ear.system_since, ear.spoke_until) + self.length
        return due if ear.system_until >= due else None

    def to_json(self) -> dict[str, Any]:
        """Return the length."""
        return {"when": "spoke_for", "length": in_seconds(self.length)}


@dataclass(frozen=True, slots=True)
class overlapped:  # noqa: N801
    """Met at the end of the user's words if the system sounded for at least ``length`` while they were said.

    What sounded is counted with its silences shorter than :data:`~fullduplex.driving.cues.BREATH`.
    """

    length: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the end of the user's words."""
        if ear.spoke_until <= ear.spoke_from or ear.now < ear.spoke_until:
            return None
        heard = sounding(ear.sound(ear.spoke_from, ear.spoke_until), ear.rate)
        return ear.spoke_until if heard and heard.duration >= self.length else None

    def to_json(self) -> dict[str, Any]:
        """Return the length."""
        return {"when": "overlapped", "length": in_seconds(self.length)}


@dataclass(frozen=True, slots=True)
class said:  # noqa: N801
    """Met when the system is known to have said one of ``phrases`` (with ``every``: all of them) since the last turn.

    Known is what the system reported, at the moment its report came, or what a recogniser made of its
    sound, at the moment it was done. Phrases are compared as :func:`~fullduplex.driving.wording.units`.
    """

    phrases: tuple[str, ...]
    every: bool = False

    def __call__(self, ear: Ear) -> int | None:
        """Return the moment of the report that completed the phrase."""
        known = [(unit, at) for word, at in ear.words for unit in units(word)]
        words = [unit for unit, _ in known]
        ends = [holds(words, units(phrase)) for phrase in self.phrases]
        met = [known[end][1] for end in ends if end is not None]
        if self.every:
            return max(met) if len(met) == len(self.phrases) else None
        return min(met, default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the phrases."""
        return {"when": "said", "phrases": list(self.phrases), "every": self.every}


@dataclass(frozen=True, slots=True)
class all_of:  # noqa: N801
    """Met when the last of ``conditions`` is, all of them being met."""

    conditions: tuple[Due, ...]

    def __call__(self, ear: Ear) -> int | None:
        """Return the latest of their moments."""
        met = [at for condition in self.conditions if (at := condition(ear)) is not None]
        return max(met) if len(met) == len(self.conditions) else None

    def to_json(self) -> dict[str, Any]:
        """Return the conditions."""
        return {"when": "all_of", "conditions": [condition.to_json() for condition in self.conditions]}


@dataclass(frozen=True, slots=True)
class any_of:  # noqa: N801
    """Met when the first of ``conditions`` is."""

    conditions: tuple[Due, ...]

    def __call__(self, ear: Ear) -> int | None:
        """Return the earliest of their moments."""
        return min((at for condition in self.conditions if (at := condition(ear)) is not None), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the conditions."""
        return {"when": "any_of", "conditions": [condition.to_json() for condition in self.conditions]}


@dataclass(frozen=True, slots=True)
class not_before:  # noqa: N801
    """Met when ``condition`` is, but not before ``time`` on the session clock."""

    time: int
    condition: Due

    def __call__(self, ear: Ear) -> int | None:
        """Return the later of the two moments."""
        met = self.condition(ear)
        return None if met is None or ear.now < self.time else max(met, self.time)

    def to_json(self) -> dict[str, Any]:
        """Return the moment and the condition."""
        return {"when": "not_before", "time": in_seconds(self.time), "condition": self.condition.to_json()}


def sounding(samples: Samples, rate: int) -> Timeline:
    """Return when ``samples`` sound, from their beginning; silences shorter than BREATH lie within."""
    loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
    if not len(loud):
        return Timeline()
    gaps = np.flatnonzero(np.diff(loud) * SECOND >= BREATH * rate)
    firsts = np.concatenate([loud[:1], loud[gaps + 1]]) * SECOND // rate
    ends = (np.concatenate([loud[gaps], loud[-1:]]) + 1) * SECOND // rate
    return Timeline(Span(int(a), max(int(a) + 1, int(b))) for a, b in zip(firsts, ends, strict=True))


def needs_words(condition: Due) -> bool:
    """Return whether ``condition`` turns on what the system said."""
    if isinstance(condition, all_of | any_of):
        return any(map(needs_words, condition.conditions))
    if isinstance(condition, not_before):
        return needs_words(condition.condition)
    return isinstance(condition, said | after_word)


_LENGTHS: dict[str, Any] = {
    "unanswered": unanswered,
    "silent": silent,
    "spoke_for": spoke_for,
    "overlapped": overlapped,
}
_CUES = ("at", "after_reply", "into_reply", "after_word")
_MEMBERS = {
    "replied": set[str](),
    "said": {"phrases", "every"},
    "all_of": {"conditions"},
    "any_of": {"conditions"},
    "not_before": {"time", "condition"},
} | {name: {"length"} for name in _LENGTHS}


def condition_from_json(value: Any, path: Path, where: str, *, depth: int = 0) -> Due:
    """Return the condition that ``value`` states, as ``to_json`` of any condition or cue wrote it.

    Times are decimal seconds. Raises :class:`InputError` naming ``where`` in ``path`` for anything else.
    """
    kind = value.get("when") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in (*_MEMBERS, *_CUES):
        choices = ", ".join((*_MEMBERS, *_CUES))
        found = brief(value if kind is None else kind)
        raise InputError(path, where, found=found, expected=f'an object whose "when" is one of {choices}')
    if depth > DEEPEST:
        raise InputError(path, where, found=f"more than {DEEPEST} conditions within each other", expected="fewer")
    if kind in _CUES:
        return due_from_json(value, path, where)
    unknown = set(value) - {"when"} - _MEMBERS[kind]
    if unknown:
        expected = ", ".join(sorted(_MEMBERS[kind])) or 'nothing but "when"'
        raise InputError(path, where, found=brief(min(unknown)), expected=expected)
    if kind == "replied":
        return replied()
    if kind == "said":
        return _said(value, path, where)
    if kind == "not_before":
        inner = condition_from_json(member(value, "condition", path, where), path, where, depth=depth + 1)
        return not_before(_length(value, "time", path, where), inner)
    if kind in _LENGTHS:
        made: Due = _LENGTHS[kind](_length(value, "length", path, where))
        return made
    parts = member(value, "conditions", path, where)
    if not isinstance(parts, list) or not parts:
        raise InputError(path, f"{where}, conditions", found=brief(parts), expected="a list of conditions, not empty")
    read = tuple(
        condition_from_json(part, path, f"{where}, condition {n}", depth=depth + 1) for n, part in enumerate(parts, 1)
    )
    return all_of(read) if kind == "all_of" else any_of(read)


def _length(value: Any, key: str, path: Path, where: str) -> int:
    found = time(member(value, key, path, where), path, f"{where}, {key}")
    if found < 0:
        raise InputError(path, f"{where}, {key}", found=found, expected="seconds, not below 0")
    return seconds(found)


def _said(value: Any, path: Path, where: str) -> said:
    phrases = member(value, "phrases", path, where)
    if not isinstance(phrases, list) or not phrases:
        raise InputError(path, f"{where}, phrases", found=brief(phrases), expected="a list of texts, not empty")
    read = tuple(text(phrase, path, f"{where}, phrases") for phrase in phrases)
    for phrase in read:
        if not units(phrase):
            raise InputError(path, f"{where}, phrases", found=repr(phrase), expected="words")
    every = value.get("every", False)
    if not isinstance(every, bool):
        raise InputError(path, f"{where}, every", found=brief(every), expected="true or false")
    return said(read, every)
