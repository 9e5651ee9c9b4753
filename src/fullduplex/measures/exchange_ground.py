"""What the timing measures of interactions stand on: their thresholds, and a turn of the user's with what was said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from fullduplex.measures.floor import JOINED_WITHIN, Utterance, utterances
from fullduplex.measures.interaction import Expectation, Scene, Turn, scene
from fullduplex.measures.words import count_all, count_words
from fullduplex.model.spans import Span, in_seconds, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Absent, Trial


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of the timing measures; times in microseconds, those of words are counts. The defaults are ours.

    ``joined_within``: silences of at most this long lie inside an utterance.

    ``candidate_within``, ``candidate_words``: an utterance during the monologue that is at most so long, in time and
    in words, may be a backchannel; a longer one takes the floor. ``backchannel_within``, ``backchannel_words``: without
    a judge, what is longer takes the floor too. ``response_after``: what begins later than this after the monologue's
    end is the response to it; negative: so long before.

    ``pause_lead``: a word that begins so long before a pause, or later, and before it ends, has jumped in.
    ``pause_words``: utterances of at most so many words that end before the user resumes are allowed; 0: none is.

    ``early``, ``within``: a reply may begin at most so long before the turn's end, and at most so long after it.

    ``goes_on``: a system still speaking so long after a backchannel's onset, and when it is over, went on through it.

    ``premise_within``: a system heard at most so long before an interruption began was interrupted.
    ``yields_within``: it may speak at most so long after the interruption's end and has yielded.
    ``reply_lead``: a reply begins at most so long before the interruption's end. ``reply_words``, ``reply_over``:
    it has more words than this, or lasts longer than this.

    ``window``: where the recording ends sooner than this after the user, an answer could not be heard.
    """

    joined_within: int = JOINED_WITHIN
    candidate_within: int = seconds(3)
    candidate_words: int = 10
    backchannel_within: int = seconds(1.5)
    backchannel_words: int = 3
    response_after: int = -ms(50)
    pause_lead: int = ms(100)
    pause_words: int = 0
    early: int = ms(50)
    within: int = ms(2500)
    goes_on: int = seconds(2)
    premise_within: int = seconds(1)
    yields_within: int = seconds(1)
    reply_lead: int = seconds(1)
    reply_words: int = 0
    reply_over: int = 0
    window: int = seconds(2)


#: The thresholds of the InteractionBench page. Silences of 0.6 s are inside an utterance there (its voice activity
#: segments are merged so); a response to a monologue begins more than 0.4 s after it; only replies to an interruption
#: from 0.2 s before its end, of more than three words or more than 1 s, are judged. ``goes_on``, ``yields_within``
#: and ``window`` are ours: the page tells none.
PAGE = Limits(
    joined_within=ms(600), response_after=ms(400), reply_lead=ms(200), reply_words=3, reply_over=seconds(1)
)  # fmt: skip
#: The page's lenient pause rule: utterances of at most four words, such as "Go on".
LENIENT_PAUSE_WORDS = 4
#: The early starts that the page compares: its own rule first.
EARLY_STARTS = (ms(50), ms(150), ms(300))


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn of the user's that fell, and what was heard of the system.

    ``end`` is when the turn's last word ended (:func:`turn_end`), ``said`` every utterance of the system, also those
    before the turn; ``before`` is when the user's next turn began, ``heard_until`` the recording's end; None where
    there is none, or it is not known.
    """

    scene: Scene
    turn: Turn
    span: Span
    end: int
    said: tuple[Utterance, ...]
    before: int | None
    heard_until: int | None

    @property
    def worded(self) -> tuple[Utterance, ...]:
        """Return the utterances that begin before the user's next turn and have a word in them.

        A breath or a click is no reply. Where nobody listened for words, every sound counts.
        """
        return tuple(
            u
            for u in self.said
            if (self.before is None or u.span.start < self.before) and (u.words is None or spoken(u.words))
        )

    def cut_before(self, time: int) -> bool:
        """Return whether the recording ends before ``time``."""
        return self.heard_until is not None and self.heard_until < time


def heard(
    trial: Trial, name: str, limits: Limits, *, by: Literal["speech", "words"] = "speech", unasked: str = "never asked"
) -> Heard | Absent:
    """Return the user's turn ``name`` and what the system said.

    A recognised word that lies in no utterance, for its times are rough, belongs to the nearest one that is no farther
    than ``joined_within``; one that is farther from all speech was not said.
    Absent: ``failed``, ``no annotation`` (no interaction, or none with such a turn), ``unasked`` (the turn never
    fell), ``no output`` (neither the system's words nor its sound are known).
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    turn = found.turn(name)
    if turn is None:
        return Absent("no annotation", f"the interaction has no turn {name}")
    if turn.span is None:
        return Absent(unasked, f"{name} never fell due")
    said = utterances(trial.system, joined_within=limits.joined_within, by=by)
    if said is None:
        return Absent("no output", "neither words nor audio of the system")
    said = _with_strays(said, trial.system.words or (), limits.joined_within)
    later = found.after(name)
    before = None if later is None or later.span is None else later.span.start
    return Heard(found, turn, turn.span, turn_end(trial, found, turn, turn.span), said, before, trial.system.duration)


def turn_end(trial: Trial, told: Scene, turn: Turn, span: Span) -> int:
    """Return when the user's last word in ``turn`` ended, never later than its audio did.

    The trigger word's end where it is the turn's last word: the item's maker placed it. Else the later of two: the end
    of the last word that was recognised in the turn (a word is in it if its middle is), and of the speech that was
    detected in it: a recogniser ends words up to 0.2 s too soon. Where there is neither, the end of its audio.
    Source: the page measures from the last recognised word, its end refined by voice activity.
    """
    words = [w for w in trial.user.words or () if count_words(w.text) and (w.span.start + w.span.end) // 2 in span]
    placed = _trigger_at_the_end(told, turn, words)
    if placed is not None:
        return min(placed.end, span.end)
    sounds = list(trial.user.speech.within(span)) if trial.user.speech is not None else []
    ends = [*(word.span.end for word in words), *(sound.end for sound in sounds)]
    return min(max(ends, default=span.end), span.end)


def is_backchannel_turn(turn: Turn) -> bool:
    """Return whether the turn is a backchannel of the user's, by its id: ``b0``, ``b1``, ..."""
    return turn.id.startswith("b") and turn.id[1:].isdigit()


def at_most(utterance: Utterance, long: int, words: int) -> bool:
    """Return whether an utterance lasts at most ``long`` and has at most ``words`` words; unheard words are none."""
    short = utterance.span.duration <= long
    return short and (utterance.words is None or count_all(word.text for word in utterance.words) <= words)


def spoken(words: Iterable[Word] | None) -> tuple[Word, ...]:
    """Return the words that have a letter or a digit: recognisers also return marks alone."""
    return tuple(word for word in words or () if count_words(word.text))


def too_soon(found: Heard, after: int) -> Absent | None:
    """Return Absent ``censored`` where the recording ends sooner than ``after`` after the turn's end."""
    if found.cut_before(found.end + after):
        return Absent("censored", f"the recording ends less than {in_seconds(after):g} s after the turn")
    return None


def told(time: int) -> str:
    """Return a length of time, or a lag, for people: ``180 ms``, ``2.51 s``, without its sign."""
    size = abs(time)
    return f"{size / ms(1):.0f} ms" if size < seconds(1) else f"{in_seconds(size):.2f} s"


def _with_strays(said: tuple[Utterance, ...], words: Iterable[Word], within: int) -> tuple[Utterance, ...]:
    strays: dict[int, list[Word]] = {}
    for word in words:
        middle = (word.span.start + word.span.end) // 2
        gaps = [max(u.span.start - middle, middle - u.span.end + 1, 0) for u in said]
        nearest = min(range(len(gaps)), key=gaps.__getitem__, default=None)
        if nearest is not None and 0 < gaps[nearest] <= within:
            strays.setdefault(nearest, []).append(word)
    return tuple(
        replace(u, words=tuple(sorted((*(u.words or ()), *strays[n]), key=lambda w: w.span))) if n in strays else u
        for n, u in enumerate(said)
    )


def _trigger_at_the_end(told: Scene, turn: Turn, words: Iterable[Word]) -> Span | None:
    last = _plain(turn.text.split())
    triggers: list[tuple[Span, Expectation]] = [
        (one.span, one) for one in told.expects if one.turn == turn.id and one.span is not None
    ]
    if not last or not triggers:
        return None
    span, trigger = max(triggers, key=lambda one: one[0])
    # The same word may stand earlier in the turn too: then something is heard after it.
    if _plain(trigger.word.split()) != last or any(word.span.start >= span.end for word in words):
        return None
    return span


def _plain(words: list[str]) -> str:
    """Return the last of ``words`` that is one, in lower case and without its marks; "" where there is none."""
    kept = ["".join(c for c in word if c.isalnum()).casefold() for word in words]
    return next((word for word in reversed(kept) if word), "")
