"""What the measures of actions stand on: how much an utterance says, and when the user's own speech begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fullduplex.measures import exchange_ground
from fullduplex.measures.actions.limits import Limits
from fullduplex.measures.exchange_ground import Heard, spoken
from fullduplex.measures.floor import Utterance
from fullduplex.measures.interaction import Scene
from fullduplex.measures.judged_reply import WITHDRAWN, by_person, reply_key, rests_on, verdict_on
from fullduplex.measures.words import count_all
from fullduplex.model.spans import Span, in_seconds
from fullduplex.model.trials import Absent, Trial, Verdict

#: The verdict on an utterance that only its meaning decides.
SUBSTANTIVE = "substantive"
LABELS = ("substantive", "backchannel")
#: The user's first turn; the event, where there is one, is the next.
FIRST = "u0"
#: Sounds of listening that answer nothing, and words that acknowledge but can also answer. English; in other
#: languages only the first rule (length) and the judge tell a token from a short answer.
TOKENS = frozenset(
    {"mm", "mmm", "hm", "hmm", "mhm", "mhmm", "mmhm", "mmhmm", "uhhuh", "huh", "ah", "aha", "oh", "ooh", "uh", "um"}
)
ACKNOWLEDGES = frozenset(
    {"yes", "yeah", "yep", "yup", "no", "nope", "ok", "okay", "right", "alright", "sure", "exactly", "really",
     "indeed", "true", "good", "great", "nice", "fine", "wow"}
)  # fmt: skip
_PHRASES = frozenset(
    ("i see", "got it", "of course", "go on", "all right", "i know", "i understand", "makes sense", "thats right")
)
_LONGEST = 60

#: What length and words say of an utterance: ``meaning`` where only what it means tells.
Weight = Literal["substantive", "brief", "meaning"]


@dataclass(frozen=True, slots=True)
class Substance:
    """Whether an utterance is a response with content, why, and the judge's verdict that this rests on, if any."""

    substantive: bool
    why: str
    verdict: str = ""


def weight(u: Utterance, limits: Limits) -> Weight:
    """Return what length and words alone say of an utterance.

    ``substantive``: it lasts at least ``substantive_from`` (from its first sound to its last), or has more than
    ``brief_words`` words. ``brief``: it is shorter, and every word is one of :data:`TOKENS`; also a sound without a
    word, and any shorter sound where nobody listened for words. Else ``meaning``: "Twelve." and "Yes." may answer.
    """
    if u.span.duration >= limits.substantive_from:
        return "substantive"
    if u.words is None:
        return "brief"
    if count_all(word.text for word in u.words) > limits.brief_words:
        return "substantive"
    return "brief" if all(word in TOKENS for word in _plain(u)) else "meaning"


def is_brief(u: Utterance, limits: Limits, *, at_most: int) -> bool:
    """Return whether an utterance is a brief token: shorter than ``substantive_from``, of at most so many words.

    Where nobody listened for words, its length decides.
    """
    if u.span.duration >= limits.substantive_from:
        return False
    return u.words is None or count_all(word.text for word in u.words) <= at_most


def substance(trial: Trial, u: Utterance, limits: Limits) -> Substance | Absent:
    """Return whether ``u`` is substantive: by :func:`weight`, else as it was judged (``substantive:@ONSET-END``).

    What nobody judged, or a judge without an answer that can be read, is substantive if one of its words is none of
    acknowledgement (:data:`ACKNOWLEDGES`): the fallback, which takes "Tuesday." for an answer and "Yes." for none.
    Absent: ``withdrawn`` (a person took the verdict away).
    """
    by_rule = weight(u, limits)
    if by_rule != "meaning":
        return Substance(by_rule == "substantive", "by length" if by_rule == "substantive" else "a brief token")
    verdict = verdict_on(trial, SUBSTANTIVE, reply_key(u.span.start, u.words))
    if isinstance(verdict, Absent) and verdict.reason == WITHDRAWN:
        return verdict  # no rule stands in for it
    if verdict is None:
        return _by_words(u, "nobody judged it")
    if isinstance(verdict, Absent):
        return _by_words(u, f"the judge gave no readable answer ({verdict.reason})")
    label = str(verdict.value).strip().lower()
    if label not in LABELS:
        odd = f"{verdict.value!r} is none of {', '.join(LABELS)}"
        return _by_words(u, f"the judge gave no readable answer ({odd})")
    return Substance(label == LABELS[0], said_by(verdict), rests_on(verdict, SUBSTANTIVE))


def heard(trial: Trial, name: str, limits: Limits, *, unasked: str = "never asked") -> Heard | Absent:
    """Return the user's turn ``name`` and what the system said: as :func:`exchange_ground.heard`."""
    return exchange_ground.heard(
        trial, name, exchange_ground.Limits(joined_within=limits.joined_within), unasked=unasked
    )


def turn_start(trial: Trial, span: Span) -> int:
    """Return when the user's first sound in ``span`` began: of speech or of a word, else where its audio begins."""
    sounds = list(trial.user.speech.within(span)) if trial.user.speech is not None else []
    words = [word.span for word in spoken(trial.user.words) if (word.span.start + word.span.end) // 2 in span]
    return max(span.start, min((one.start for one in (*sounds, *words)), default=span.start))


def event_turn(found: Scene) -> str:
    """Return the id of the turn that is the event, the user's second; "" where there is none."""
    return next((turn.id for turn in found.turns if turn.id != FIRST), "")


def too_soon(at: Heard, time: int) -> Absent | None:
    """Return Absent ``censored`` where the recording ends before ``time``."""
    if not at.cut_before(time):
        return None
    ends = in_seconds(at.heard_until or 0)
    return Absent("censored", f"the recording ends too soon, at {ends:.2f} s; it takes until {in_seconds(time):.2f} s")


def quoted(u: Utterance) -> str:
    """Return an utterance for people: ``"Twelve." at 6.20-6.61 s``, ``a sound at ...`` where it has no words."""
    text = " ".join(word.text for word in u.words or ())
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
    what = f'"{shown}"' if text else "a sound"
    return f"{what} at {in_seconds(u.span.start):.2f}-{in_seconds(u.span.end):.2f} s"


def listed(said: Iterable[Utterance]) -> str:
    """Return utterances :func:`quoted`, three at most, or "nothing"."""
    every = [quoted(u) for u in said]
    more = f" and {len(every) - 3} more" if len(every) > 3 else ""
    return ", ".join(every[:3]) + more if every else "nothing"


def said_by(verdict: Verdict) -> str:
    """Return a verdict for people: who says so, what, and why."""
    who = verdict.by if by_person(verdict) else "judged"
    return f"{who}: {verdict.value}" + (f", {verdict.reason}" if verdict.reason else "")


def acknowledges(u: Utterance) -> bool:
    """Return whether ``u`` has words, and none but :data:`TOKENS` and what acknowledges: "mhm", "oh yeah", "I see".

    English: of another language it is False, since nothing is known of its words.
    """
    words = _plain(u)
    return bool(words) and _acknowledges(words)


def _by_words(u: Utterance, unjudged: str) -> Substance:
    answers = not _acknowledges(_plain(u))
    told = "has a word that is no acknowledgement" if answers else "holds nothing but acknowledgement"
    return Substance(answers, f"{unjudged}; by rule: {told}")


def _plain(u: Utterance) -> list[str]:
    words = ("".join(c for c in part if c.isalnum()).casefold() for w in u.words or () for part in w.text.split())
    return [word for word in words if word]


def _acknowledges(words: list[str]) -> bool:
    rest = [word for word in words if word not in TOKENS]
    return " ".join(rest) in _PHRASES or all(word in ACKNOWLEDGES for word in rest)
