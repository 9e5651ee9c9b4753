"""What the system said to a turn or to a trigger word, and when it began: what measures of spoken tasks stand on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from fullduplex.measures.exchange_ground import Limits as Timing
from fullduplex.measures.exchange_ground import heard, spoken
from fullduplex.measures.floor import JOINED_WITHIN, Utterance, utterances
from fullduplex.measures.interaction import Expectation, Scene, Turn
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Absent, Trial

#: What an utterance is cut by, and so what its onset is: the detector's speech, or the recogniser's words.
By = Literal["speech", "words"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of measures of replies; times in microseconds.

    ``joined_within``: silences of at most this long lie inside an utterance. ``overlap_tolerance``: a reply that must
    not overlap may begin at most so long before the user's last word ends. ``lead``: an utterance that begins at most
    so long before a turn's end belongs to the reply to it as a whole; of what began earlier, only the words that are
    heard after the end do. ``greeting``: speech that began before the user's turn may run at most so long into it
    before it counts as speech during it. ``window``: where nothing was said and the recording ends sooner than this
    after the turn, a reply could not be heard.
    """

    joined_within: int = JOINED_WITHIN
    overlap_tolerance: int = ms(50)
    lead: int = seconds(1)
    greeting: int = seconds(1)
    window: int = seconds(2)


#: As the page has it: its segments of voice activity are merged over silences of 0.6 s.
PAGE = Limits(joined_within=ms(600))


@dataclass(frozen=True, slots=True)
class Reply:
    """What the system said in answer. ``onset`` is when it began, ``text`` its words, "" where none was recognised."""

    onset: int
    words: tuple[Word, ...] | None

    @property
    def text(self) -> str:
        """Return the words as text."""
        return " ".join(word.text for word in self.words or ())


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn of the user's that fell, and what the system said.

    ``span`` is the turn's, ``end`` the end of its last word, ``before`` the start of the user's next turn (None: there
    is none), ``until`` the recording's end (None: not known); ``said`` every utterance of the system with a word in it,
    in order of time. Where no words are known, every sound counts.
    """

    scene: Scene
    turn: Turn
    span: Span
    end: int
    before: int | None
    until: int | None
    said: tuple[Utterance, ...]

    def ends_before(self, time: int) -> bool:
        """Return whether nothing is heard any more at ``time``: the recording is over, and no other turn came."""
        return self.before is None and self.until is not None and self.until < time


def asked(trial: Trial, name: str, limits: Limits, *, by: By = "speech", sounds: bool = False) -> Asked | Absent:
    """Return the user's turn ``name`` and what the system said.

    Sound in which no word was recognised (a breath, a click) is nothing said, where words are known; ``sounds``: it is.
    A word of rough times belongs to the nearest speech (:func:`~fullduplex.measures.exchange_ground.heard`).
    Absent: ``failed``, ``no annotation`` (no interaction, or none with such a turn), ``never asked`` (the talk ended
    before it), ``no output`` (neither words nor sound of the system are known), ``no words`` (``by="words"`` without).
    """
    found = heard(trial, name, replace(Timing(), joined_within=limits.joined_within), by=by)
    if isinstance(found, Absent):
        deaf = found.reason == "no output" and by == "words" and trial.system.speech is not None
        return Absent("no words", "the system's words are not known") if deaf else found
    triggers = [one.span.end for one in found.scene.expects if one.turn == name and one.span is not None]
    said = tuple(Utterance(u.span, None) for u in found.said) if sounds else tuple(filter(_has_words, found.said))
    end = max([found.end, *triggers])
    return Asked(found.scene, found.turn, found.span, end, found.before, found.heard_until, said)


def said_anything(trial: Trial, limits: Limits) -> bool | Absent:
    """Return whether the system said anything in the whole recording. Absent: ``no output``."""
    said = utterances(trial.system, joined_within=limits.joined_within)
    if said is None:
        return Absent("no output", "neither words nor audio of the system")
    return bool(spoken(trial.system.words)) if trial.system.words is not None else bool(said)


def reply_to_turn(found: Asked, limits: Limits) -> Reply | None:
    """Return all that was said in answer to a turn, None where nothing was.

    Every utterance that begins at most ``lead`` before the turn's last word ends (and not before the turn), and of
    those that began earlier the words that are heard after that end; up to the start of the user's next turn. So a
    system that never stops talking is judged by what it says once it was asked.
    """
    words: list[Word] = []
    onset: int | None = None
    for u in found.said:
        if found.before is not None and u.span.start >= found.before:
            break
        whole = u.span.start >= max(found.span.start, found.end - limits.lead) and u.span.end > found.end
        if whole:
            kept = [w for w in spoken(u.words) if found.before is None or w.span.start < found.before]
        else:
            kept = [
                w for w in spoken(u.words)
                if w.span.end > found.end and (found.before is None or w.span.start < found.before)
            ]  # fmt: skip
        if u.words is None and u.span.end > found.end:
            onset = u.span.start if onset is None else onset
        if kept:
            onset = (u.span.start if whole else kept[0].span.start) if onset is None else onset
            words += kept
    if onset is None:
        return None
    known = any(u.words is not None for u in found.said)
    return Reply(onset, tuple(words) if known else None)


def reply_to_word(found: Asked, trigger: Expectation) -> Reply | None:
    """Return the reply to a trigger word, None where there is none.

    The first utterance that begins at the word's start or later, and before the user's next turn. One that began
    before the word is no reply to it, however long it goes on; one that begins within the word is a reply that came
    early. Later utterances are no part of it.
    """
    if trigger.span is None:
        return None
    for u in found.said:
        if u.span.start >= trigger.span.start and (found.before is None or u.span.start < found.before):
            return Reply(u.span.start, u.words)
    return None


def speech_before(found: Asked, trigger: Expectation, limits: Limits) -> Utterance | None:
    """Return the first utterance that was heard during the turn before its trigger word began, None where none was.

    It begins at the turn's start or later, and before the word's start. An utterance that began before the turn counts
    only where it is still heard ``greeting`` after the turn's start: the system had not been asked for anything yet.
    """
    if trigger.span is None:
        return None
    for u in found.said:
        if found.span.start <= u.span.start < trigger.span.start:
            return u
        greets_until = found.span.start + limits.greeting
        if u.span.start < found.span.start and u.span.end > min(greets_until, trigger.span.start):
            return u
    return None


def _has_words(u: Utterance) -> bool:
    return u.words is None or bool(spoken(u.words))
