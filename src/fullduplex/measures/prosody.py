"""How a system spoke before an event, after it, and in the clean twin: from what was measured of its sound."""

from __future__ import annotations

from fullduplex.measures.overlap import event_of
from fullduplex.model.spans import SECOND, Span, Timeline, in_seconds
from fullduplex.model.speech import Track
from fullduplex.model.trials import Absent, Fact, Trial

#: A whisper by its sound: noisier than this in dB, and voiced for less than this share of its frames.
WHISPER_HNR, WHISPER_VOICED = 6.0, 0.4


def feature(trial: Trial, part: str, name: str, parts: str) -> Fact | Absent:
    """Return a number that was measured of the sound of ``part``: ``before``, ``after`` or ``clean``.

    ``parts`` is the name under which it was measured. Absent: ``failed``, ``no clean twin``, ``not measured``
    (no speech there, or too little of it, or the sound was not listened to).
    """
    if trial.failed:
        return Absent("failed", trial.failed)
    if part == "clean" and trial.twin is None:
        return Absent("no clean twin")
    value = trial.system.acoustics.get(f"{parts}/{part}/{name}")
    return Absent("not measured", "no speech there, or too little of it") if value is None else Fact(value)


def of_item(trial: Trial, name: str, parts: str) -> Fact | Absent:
    """Return a number that was measured of the whole item. Absent: ``failed``, ``not measured``."""
    if trial.failed:
        return Absent("failed", trial.failed)
    value = trial.system.acoustics.get(f"{parts}/whole/{name}")
    return Absent("not measured") if value is None else Fact(value)


def words_per_minute(trial: Trial, part: str) -> Fact | Absent:
    """Return words by minute of speech: pauses do not count.

    Words whose middle lies in the part, over the time in which speech is heard there.
    Absent: ``failed``, ``no annotation``, ``no clean twin``, ``no words``, ``no speech track``, ``silent``.
    Source: own. The released script divides by the time from the first word to the last, pauses included.
    """
    if trial.failed:
        return Absent("failed", trial.failed)
    track, window = trial.system, _window(trial, part)
    if part == "clean":
        if trial.twin is None:
            return Absent("no clean twin")
        track = trial.twin.system
    if window is None:
        return Absent("no annotation")
    return _rate(track, window)


def change(trial: Trial, name: str, parts: str, since: str = "clean") -> Fact | Absent:
    """Return the feature after the event less ``since``. Absent as :func:`feature`."""
    after, before = feature(trial, "after", name, parts), feature(trial, since, name, parts)
    if isinstance(after, Absent):
        return after
    if isinstance(before, Absent):
        return before
    return Fact(after.value - before.value, why=f"{before.value:.1f} to {after.value:.1f}")


def whispers(trial: Trial, part: str, parts: str) -> Fact | Absent:
    """Return 1 if the speech of ``part`` sounds whispered: HNR below 6 dB and fewer than 0.4 of its frames voiced.

    A normally voiced but sibilant reply can pass. Absent as :func:`feature`.
    """
    voiced = feature(trial, part, "voiced_fraction", parts)
    hnr = feature(trial, part, "hnr", parts)
    if isinstance(voiced, Absent):
        return voiced
    if isinstance(hnr, Absent):
        return hnr
    on = hnr.value < WHISPER_HNR and voiced.value < WHISPER_VOICED
    return Fact(1 if on else 0, why=f"HNR {hnr.value:.1f} dB, voiced {voiced.value:.2f}")


def _window(trial: Trial, part: str) -> Span | None:
    event = event_of(trial)
    if part == "clean":
        return Span(0, 1 << 60)
    if event is None:
        return None
    return Span(0, max(1, event.span.start)) if part == "before" else Span(event.span.end, 1 << 60)


def _rate(track: Track, window: Span) -> Fact | Absent:
    if track.words is None:
        return Absent("no words")
    if track.speech is None:
        return Absent("no speech track")
    spoken = (track.speech & Timeline([window])).duration
    count = sum(1 for word in track.words if (word.span.start + word.span.end) // 2 in window)
    if not spoken:
        return Absent("silent")
    return Fact(count / (spoken / SECOND / 60), why=f"{count} words in {in_seconds(spoken):.1f} s of speech")
