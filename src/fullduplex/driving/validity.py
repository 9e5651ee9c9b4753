"""Whether the user's side of a talk was what it was meant to be.

A simulated user can speak at the wrong time, say something else, or say nothing; a system's score must not
suffer for it. Only the user's side is judged here: what the system did is the measurement, and a talk is
never discarded for it. A talk that is not valid is held again, and each that was discarded is counted with its reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal

import numpy as np

from fullduplex.driving.content import ASSISTANT_SAYS, assistant_phrase, other_language
from fullduplex.driving.cues import AUDIBLE
from fullduplex.driving.onsets import onsets_due
from fullduplex.driving.playout import Samples, sample_at
from fullduplex.driving.talk import Talk, TurnTaken
from fullduplex.driving.wording import closest_beginning, contains, units, word_errors
from fullduplex.model.spans import SECOND, Span, in_seconds, ms
from fullduplex.model.speech import Word

#: What can be wrong with the user's side, by the record: ``never said``, a turn that was to be said did not begin;
#: ``unexpected``, one that was not to be said, or out of order; ``not due``, its condition was not met when it began;
#: ``late``, it began long after. By the user's channel: ``inaudible``, a turn's sound is not there; ``cut``, only its
#: beginning is; ``stray sound``, sound outside every turn. By a recogniser: ``no words``, ``wrong words``, ``stray
#: words``. By what was said: ``empty`` (nothing was), ``missing``, ``forbidden``, ``assistant's part``, ``other
#: language``.
Kind = Literal[
    "never said",
    "unexpected",
    "not due",
    "late",
    "inaudible",
    "cut",
    "stray sound",
    "no words",
    "wrong words",
    "stray words",
    "empty",
    "missing",
    "forbidden",
    "assistant's part",
    "other language",
]
#: A word this far from every turn belongs to none; recognisers place words this badly at times.
_NEAR = ms(500)
_WINDOW = ms(10)
#: A turn's whole microseconds may end so many samples before its sound does.
_ROUNDING = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with the user's side: what, in which turn (empty: in the whole talk), and how."""

    kind: Kind
    turn: str = ""
    detail: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the fault."""
        return {"kind": self.kind, "turn": self.turn, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Expected:
    """A turn that should have been said: its id, and its words where they are known (else the turn's own text)."""

    id: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """What a valid user's side is.

    A turn begins at most ``onset`` microseconds from the moment it was due. At least ``audible`` of its audible
    10-ms windows sound on the user's channel. Of a turn of at least ``words`` units the recogniser's words have
    an error rate of at most ``word_errors``; shorter ones (backchannels) are not compared, as recognisers drop
    them. At most ``stray`` words lie outside every turn. ``stops``: the user may fall silent within a turn.
    ``required`` phrases are said somewhere in the talk, ``forbidden`` ones and the ``assistant``'s nowhere.
    ``language`` (ISO 639-1), where given, is the user's. The limits are ours.
    """

    onset: int = ms(100)
    audible: float = 0.9
    words: int = 3
    word_errors: float = 0.3
    stray: int = 1
    stops: bool = False
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    assistant: tuple[str, ...] = ASSISTANT_SAYS
    language: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the check, times in decimal seconds."""
        told: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        lists = {name: list(told[name]) for name in ("required", "forbidden", "assistant")}
        return told | lists | {"onset": in_seconds(self.onset)}


def validity(
    talk: Talk,
    expected: Sequence[Expected] | None = None,
    *,
    heard: Sequence[Word] | None = None,
    check: Check = Check(),
) -> tuple[Fault, ...]:
    """Return what is wrong with the user's side of ``talk``; nothing, and it is valid.

    ``expected`` are the turns that should have been said, in order; without it, those that were. ``heard`` are the
    words recognised on the user's channel, on the session clock; without it, words are judged by the turns' texts
    alone. A turn without a text (a recording) has no words to compare.
    """
    said = [taken for taken in talk.turns if taken.span is not None]
    texts = [taken.turn.text for taken in said]
    faults = [Fault("never said", taken.turn.id) for taken in talk.turns if taken.span is None]
    if expected is not None:
        known = {fault.turn for fault in faults}
        faults += [fault for fault in _other_turns(said, expected) if fault.turn not in known]
        wanted = {turn.id: turn.text for turn in expected if turn.text}
        texts = [wanted.get(taken.turn.id, taken.turn.text) for taken in said]
    if not said:
        return (*faults, Fault("empty", detail="the user said nothing"))
    for taken, due in zip(said, onsets_due(talk, within=check.onset), strict=True):
        faults += (*_timing(taken, due, check), *_sounding(talk, taken, check))
    faults += _stray_sound(talk, said)
    if heard is not None:
        faults += _recognised(talk, said, texts, heard, check)
    return (*faults, *_content(said, texts, heard, check))


def _other_turns(said: Sequence[TurnTaken], expected: Sequence[Expected]) -> list[Fault]:
    """Return the turns that one has and the other lacks, in the longest common order."""
    have, want = [taken.turn.id for taken in said], [turn.id for turn in expected]
    faults: list[Fault] = []
    for what, a, b, c, d in SequenceMatcher(None, want, have, autojunk=False).get_opcodes():
        if what != "equal":
            faults += [Fault("never said", id) for id in want[a:b]]
            faults += [Fault("unexpected", id) for id in have[c:d]]
    return faults


def _timing(taken: TurnTaken, due: int | None, check: Check) -> list[Fault]:
    span = _span(taken)
    if due is None:
        return [Fault("not due", taken.turn.id, f"began at {in_seconds(span.start):.3f} s")]
    if abs(span.start - due) <= check.onset:
        return []
    kind: Kind = "late" if span.start > due else "not due"
    return [Fault(kind, taken.turn.id, f"due at {in_seconds(due):.3f} s, began at {in_seconds(span.start):.3f} s")]


def _sounding(talk: Talk, taken: TurnTaken, check: Check) -> list[Fault]:
    span, rate, meant = _span(taken), talk.user_rate, taken.turn.samples
    first, said = sample_at(span.start, rate), _said_of(talk, taken)
    faults: list[Fault] = []
    by_talk = span.end > talk.duration
    if said < len(meant) and (by_talk or not check.stops):
        why = "by the end of the talk" if by_talk else "by the user"
        faults.append(Fault("cut", taken.turn.id, f"after {said / rate:.3f} s of {len(meant) / rate:.3f} s, {why}"))
    wanted = _loud(meant[:said], rate)
    there = _loud(talk.user[first : first + said], rate)
    share = float((wanted & there).sum() / wanted.sum()) if wanted.any() else 0.0
    if share < check.audible:
        faults.append(Fault("inaudible", taken.turn.id, f"{share:.0%} of its sound is on the user's channel"))
    return faults


def _said_of(talk: Talk, taken: TurnTaken) -> int:
    """Return how many of a turn's samples there was time for before it, or the talk, ended."""
    rate, span = talk.user_rate, _span(taken)
    said = min(sample_at(span.end, rate), len(talk.user)) - sample_at(span.start, rate)
    return len(taken.turn.samples) if said + _ROUNDING >= len(taken.turn.samples) else said


def _loud(samples: Samples, rate: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which 10-ms windows of ``samples`` are audible."""
    size = max(1, _WINDOW * rate // SECOND)
    windows = np.pad(np.abs(samples), (0, -len(samples) % size)).reshape(-1, size)
    loud: np.ndarray[tuple[int], np.dtype[np.bool_]] = windows.max(axis=1, initial=0.0) > AUDIBLE
    return loud


def _stray_sound(talk: Talk, said: Sequence[TurnTaken]) -> list[Fault]:
    loud = np.abs(talk.user) > AUDIBLE
    for span in map(_span, said):
        loud[sample_at(span.start, talk.user_rate) : sample_at(span.end, talk.user_rate) + _ROUNDING] = False
    where = np.flatnonzero(loud)
    return [Fault("stray sound", detail=f"first at {where[0] / talk.user_rate:.3f} s")] if len(where) else []


def _recognised(
    talk: Talk, said: Sequence[TurnTaken], texts: Sequence[str], heard: Sequence[Word], check: Check
) -> list[Fault]:
    words, stray = _words_of(said, heard)
    faults: list[Fault] = []
    for taken, text, recognised in zip(said, texts, words, strict=True):
        meant, found = units(text), units(" ".join(recognised))
        if len(meant) < check.words:
            continue
        if not found:
            faults.append(Fault("no words", taken.turn.id))
            continue
        errors, length = word_errors(found, meant), len(meant)
        if _said_of(talk, taken) < len(taken.turn.samples):
            errors, length = closest_beginning(found, meant)
        if errors > check.word_errors * length:
            detail = f"{errors} errors in {length} words; heard {' '.join(found)!r}"
            faults.append(Fault("wrong words", taken.turn.id, detail))
    if len(stray) > check.stray:
        faults.append(Fault("stray words", detail=f"{len(stray)}: {' '.join(stray[:10])!r}"))
    return faults


def _words_of(said: Sequence[TurnTaken], heard: Sequence[Word]) -> tuple[list[list[str]], list[str]]:
    """Return the recognised words of each turn, the nearest to a word's middle, and those of none."""
    words: list[list[str]] = [[] for _ in said]
    stray: list[str] = []
    for word in heard:
        middle = (word.span.start + word.span.end) // 2
        away = [max(_span(t).start - middle, middle - _span(t).end, 0) for t in said]
        nearest = int(np.argmin(away))
        (words[nearest] if away[nearest] <= _NEAR else stray).append(word.text)
    return words, stray


def _content(
    said: Sequence[TurnTaken], texts: Sequence[str], heard: Sequence[Word] | None, check: Check
) -> list[Fault]:
    faults = [Fault("empty", t.turn.id) for t, text in zip(said, texts, strict=True) if text and not units(text)]
    recognised = "" if heard is None else " ".join(word.text for word in heard)
    for phrase in check.required:
        # Where the words are wrong, that is a fault of its own; a recogniser's slip is none of the content.
        if not any(contains(text, phrase) for text in (*texts, recognised)):
            faults.append(Fault("missing", detail=phrase))
    for taken, text in zip(said, texts, strict=True):
        faults += [Fault("forbidden", taken.turn.id, phrase) for phrase in check.forbidden if contains(text, phrase)]
        if (own := assistant_phrase(text, check.assistant)) is not None:
            faults.append(Fault("assistant's part", taken.turn.id, own))
        if (told := other_language(text, check.language)) is not None:
            faults.append(Fault("other language", taken.turn.id, told))
    named = {fault.detail for fault in faults if fault.kind == "forbidden"}
    return faults + [Fault("forbidden", "", p) for p in check.forbidden if p not in named and contains(recognised, p)]


def _span(taken: TurnTaken) -> Span:
    assert taken.span is not None
    return taken.span


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that the talk was held: its number from 1, and what was wrong with the user's side."""

    n: int
    faults: tuple[Fault, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the number and the faults."""
        return {"n": self.n, "faults": [fault.to_json() for fault in self.faults]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Held:
    """The talk that is kept, and every attempt in order; the last is the talk's own."""

    talk: Talk
    attempts: tuple[Attempt, ...] = field(default_factory=tuple)

    @property
    def valid(self) -> bool:
        """Return whether nothing is wrong with the user's side of the talk that is kept."""
        return not self.attempts[-1].faults

    @property
    def discarded(self) -> int:
        """Return how many talks were discarded for what the user did."""
        return len(self.attempts) - 1

    @property
    def reasons(self) -> dict[str, int]:
        """Return in how many of the discarded talks each kind of fault was found."""
        counts = Counter(kind for attempt in self.attempts[:-1] for kind in {fault.kind for fault in attempt.faults})
        return dict(sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        """Return the record without the talk."""
        attempts = [attempt.to_json() for attempt in self.attempts]
        return {"valid": self.valid, "discarded": self.discarded, "reasons": self.reasons, "attempts": attempts}


async def hold_valid(
    hold: Callable[[int], Awaitable[Talk]], check: Callable[[Talk], Sequence[Fault]], attempts: int = 3
) -> Held:
    """Return the first talk in which ``check`` finds nothing wrong, or the last of ``attempts``, which is not valid.

    ``hold`` is given the number of the attempt, from 1, to draw another user by. What it raises ends the attempts: a
    system that fails is no fault of the user's, and the talks discarded before it are told in a note on the error.
    """
    if attempts < 1:
        raise ValueError(f"at least one attempt is made, not {attempts}")
    made: list[Attempt] = []
    for n in range(1, attempts + 1):
        try:
            talk = await hold(n)
        except Exception as error:
            if made:
                error.add_note(f"after {len(made)} of the talks were discarded for what the user did")
            raise
        made.append(Attempt(n, tuple(check(talk))))
        if not made[-1].faults:
            break
    return Held(talk, tuple(made))
