"""How a system's voice answers: whether it whispers when asked to, and is quieter with a user who whispers.

Numbers of the sound of a reply are those of ``PARTS/TURN/FEATURE`` in the system's acoustics, ``replies/u0/hnr``.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullduplex.measures.exchange_ground import spoken
from fullduplex.measures.interaction import scene
from fullduplex.measures.judged_reply import TO_HEAR
from fullduplex.measures.prosody import WHISPER_HNR, WHISPER_VOICED
from fullduplex.measures.replies import Limits, asked, reply_to_turn
from fullduplex.measures.tasks import NO_REPLY, asking, content
from fullduplex.model.spans import Span, Timeline, in_seconds, ms
from fullduplex.model.trials import Absent, Fact, Trial

#: Under which the sound of replies is measured.
PARTS = "replies"
#: Ours: a level that people hear as clearly lower, half the sound pressure. The page names no number.
QUIETER_BY = 6.0
#: How the level of speech is told, the better measure first.
LEVELS = ("loudness_lufs", "mean_intensity")
WHISPERED = "whispered"
#: Ours: below so much of a reply's sound the words that were recognised do not stand for it; a sound shorter than this
#: may be a breath.
WORDED_UNDER, SOUND_AT_LEAST = 0.2, ms(300)


def whispers(
    trial: Trial, limits: Limits, *, hnr_under: float = WHISPER_HNR, voiced_under: float = WHISPER_VOICED
) -> Fact | Absent:
    """Return 1 if the reply to the request is whispered by its sound, else 0; no reply is none.

    Whispered: a harmonics-to-noise ratio below ``hnr_under`` dB, and below ``voiced_under`` of the frames voiced, both
    exclusive. A sibilant reply in a normal voice can pass and a creaky one too, so that a pass is for a person to
    hear, who can amend it; so is a reply of which the recogniser caught hardly a word (:func:`words_missed`).
    Absent: ``not measured`` (no speech, too little of it, or the sound was not listened to), ``failed``,
    ``no annotation``, ``never asked``, ``no output``, ``censored``.
    Source: the InteractionBench page, after OmniACBench; it names no settings, these are Praat's.
    """
    there = _replied(trial, limits)
    if not (isinstance(there, Fact) and there.value):
        return there
    slip = words_missed(trial, limits)
    missed = f"; {TO_HEAR}: {slip.why}" if isinstance(slip, Fact) and slip.value else ""
    hnr, voiced = _measured(trial, "hnr"), _measured(trial, "voiced_fraction")
    if hnr is None or voiced is None:
        return Absent("not measured", f"no speech in the reply, or too little of it{missed}")
    on = hnr < hnr_under and voiced < voiced_under
    verdict = f"whispered by its sound, {TO_HEAR}" if on else "not whispered"
    return Fact(1 if on else 0, there.at, f"{verdict}: HNR {hnr:.1f} dB, voiced {voiced:.2f}{'' if on else missed}")


def words_missed(
    trial: Trial, limits: Limits, *, worded_under: float = WORDED_UNDER, sound_at_least: int = SOUND_AT_LEAST
) -> Fact | Absent:
    """Return 1 if the reply sounded and hardly a word of it was recognised, else 0; no reply is none that was missed.

    Sounded: the detector heard ``sound_at_least`` (µs, included) of speech from the end of the turn that asks to the
    user's next. Hardly: words that lie there sound for less than ``worded_under`` of it (exclusive).
    Absent: ``not measured`` (nobody listened for speech), ``no words`` (nobody listened for words), ``failed``,
    ``no annotation``, ``never asked``, ``no output``.
    Source: own. The page sends recognisers' slips on whispers to a person; the thresholds are ours.
    """
    told = scene(trial)
    if isinstance(told, Absent):
        return told
    found = asked(trial, asking(told), limits, sounds=True)
    if isinstance(found, Absent):
        return found
    if trial.system.speech is None:
        return Absent("not measured", "the system's speech was not listened for")
    if trial.system.words is None:
        return Absent("no words", "the system's words are not known")
    last = max([found.end, *(u.span.end for u in found.said)])
    until = last if found.before is None else min(last, found.before)
    if until <= found.end:
        return Fact(0, why=NO_REPLY)
    reply = Span(found.end, until)
    sound = trial.system.speech.within(reply)
    words = Timeline(word.span for word in spoken(trial.system.words)).within(reply)
    if sound.duration < sound_at_least:
        return Fact(0, why=f"{in_seconds(sound.duration):.2f} s of sound: too short to tell")
    share = (words & sound).duration / sound.duration
    number = sum((word.span.start + word.span.end) // 2 in reply for word in spoken(trial.system.words))
    heard_words = f"{number or 'no'} word{'s' * (number != 1)} recognised"
    why = f"{in_seconds(sound.duration):.2f} s of sound, {heard_words}" + (f" in {share:.0%} of it" if number else "")
    return Fact(1 if share < worded_under else 0, next(iter(sound)).start, why)


def understands(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the reply suits a user who speaks very softly or very loudly, else 0; no reply does not.

    As a judge says (verdict ``understood``). Absent: as :func:`~fullduplex.measures.tasks.content`.
    """
    return content(trial, limits)


def adapts(trial: Trial, limits: Limits, *, quieter_by: float = QUIETER_BY) -> Fact | Absent:
    """Return 1 if the reply to a whispered request is quieter than the system's usual voice, else 0; no reply is not.

    Quieter: ``quieter_by`` dB at least (included) below ``reference["usual_level"]``, a mapping of ``loudness_lufs``
    (LUFS) or ``mean_intensity`` (dB) to the level of the system's own replies to requests in a normal voice; the first
    of the two that both have is compared.
    Absent: ``not whispered`` (the request was not), ``no usual level``, ``not measured``, and as :func:`whispers`.
    Source: the page has the measure and no number for it: 6 dB is ours.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    if found.style != WHISPERED:
        return Absent("not whispered", f"the request was {found.style or 'in a normal voice'}")
    there = _replied(trial, limits)
    if not (isinstance(there, Fact) and there.value):
        return there
    usual = trial.item.reference.get("usual_level")
    if not isinstance(usual, Mapping) or not any(name in usual for name in LEVELS):
        return Absent("no usual level", "the system's level in normal talk is not known")
    for name in LEVELS:
        level = _measured(trial, name)
        if level is not None and name in usual:
            lower = float(usual[name]) - level
            unit = "LU" if name == "loudness_lufs" else "dB"
            told = f"{abs(lower):.1f} {unit} {'below' if lower >= 0 else 'above'} its usual level"
            return Fact(1 if lower >= quieter_by else 0, there.at, told)
    return Absent("not measured", "the level of the reply is not known")


def level(trial: Trial, name: str, limits: Limits) -> Fact | Absent:
    """Return the level of the reply to the first turn: ``loudness_lufs`` or ``mean_intensity``.

    What a run takes the median of, over replies to requests in a normal voice, to know the usual level.
    Absent: ``no reply``, and as :func:`whispers`.
    """
    there = _replied(trial, limits)
    if isinstance(there, Absent):
        return there
    if not there.value:
        return Absent(NO_REPLY)
    found = _measured(trial, name)
    return Absent("not measured") if found is None else Fact(found, there.at)


def _replied(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system was heard after the turn that asks, else 0.

    Words do not matter here: recognisers often hear none in a whisper.
    """
    told = scene(trial)
    if isinstance(told, Absent):
        return told
    found = asked(trial, asking(told), limits, sounds=True)
    if isinstance(found, Absent):
        return found
    said = reply_to_turn(found, limits)
    if said is not None:
        return Fact(1, said.onset, "replied")
    if found.ends_before(found.end + limits.window):
        return Absent("censored", "the recording ends too soon after the request")
    return Fact(0, why=NO_REPLY)


def _measured(trial: Trial, feature: str) -> float | None:
    told = scene(trial)
    return None if isinstance(told, Absent) else trial.system.acoustics.get(f"{PARTS}/{asking(told)}/{feature}")
