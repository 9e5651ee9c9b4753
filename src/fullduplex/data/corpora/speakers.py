"""Which two of a transcript's speakers are the sides, and which channel of a recording is whose.

The two are those who were asked for, or the only two. The channel is told, in this order: by who was asked for first;
by the transcript's own channels; by the speakers' names (A and B, 1 and 2, agent and caller …); by the sound, where one
channel is clearly louder while one speaker speaks alone. Where none of them tells it, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fullduplex.data.corpora.conversation import Recording
from fullduplex.data.corpora.gathered import Gathered, Speaker
from fullduplex.data.corpora.spoken import composed
from fullduplex.data.corpora.two_channel import ROLES
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import SECOND, Span, Timeline, ms

#: How the order of two sides is known; ``FILE`` is only the order in which they first speak, and tells no channel.
ASKED, CHANNELS, NAMES, FILE = "asked", "channels", "names", "file"
#: A channel is a speaker's where it is so much louder, in dB, in at least this share of at least so many stretches.
LOUDER_BY, SHARE, STRETCHES = 6.0, 0.8, 3
#: A transcript may go on so long after its recording ends: times are rounded, and encoders cut.
_BEYOND = SECOND
_AT_MOST, _LONGEST, _SHORTEST = 30, 3 * SECOND, ms(300)


def two_of(transcript: Gathered, asked: Sequence[str]) -> tuple[Speaker, Speaker, str]:
    """Return the two sides of a transcript, and how their order is known.

    Raises :class:`InputError` where who was asked for is not there, or there are not two.
    """
    talking = transcript.talking
    if len(talking) < 2 and len(transcript.speakers) == 2:
        # One who is named and says nothing is there.
        talking = sorted(transcript.speakers.values(), key=lambda one: one.begins)
    listed = ", ".join(printable(one.name or "(no name)", 40) for one in talking[:8]) or "nobody"
    if asked:
        chosen = [_named(talking, name) for name in asked]
        missing = next((name for name, one in zip(asked, chosen, strict=True) if one is None), None)
        if missing is not None:
            raise InputError(transcript.path, "speakers", found=listed, expected=f"{printable(missing, 40)} among them")
        first, second = (one for one in chosen if one is not None)
        return first, second, ASKED
    if len(talking) != 2:
        raise InputError(
            transcript.path, "speakers", found=listed, expected="two people",
            do="choose two with --speakers, the first channel's first" if len(talking) > 2 else "",
        )  # fmt: skip
    first, second = talking
    for how, key in ((CHANNELS, _channel), (NAMES, None)):
        if key is not None:
            one, other = key(first), key(second)
            if one is not None and other is not None and one != other:
                return (first, second, how) if one < other else (second, first, how)
        elif order := by_role(first.name, second.name):
            return (first, second, how) if order < 0 else (second, first, how)
    return first, second, FILE


def _named(talking: Sequence[Speaker], name: str) -> Speaker | None:
    name = composed(name).strip()
    exact = [one for one in talking if one.name == name]
    alike = [one for one in talking if one.name.casefold() == name.casefold()]
    return exact[0] if exact else alike[0] if len(alike) == 1 else None


def _channel(speaker: Speaker) -> int | None:
    return next(iter(speaker.channels)) if len(speaker.channels) == 1 else None


def by_role(first: str, second: str) -> int:
    """Return -1 where the first name is that of side A and the second that of side B, 1 the other way round, else 0.

    A word of the names is a pair of roles, alone or after what both begin with: ``spreker1 [v]`` and ``spreker2 [m]``.
    """
    parts = [[part for part in re.split(r"[\W_]+", name.casefold()) if part] for name in (first, second)]
    if len(parts[0]) != len(parts[1]):
        return 0
    for one, other in zip(*parts, strict=True):
        if one == other:
            continue
        common = next(
            (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )
        for pair in ((one, other), (one[common:], other[common:])):
            if pair in ROLES:
                return -1
            if pair[::-1] in ROLES:
                return 1
    return 0


def by_sound(first: Speaker, second: Speaker, recordings: tuple[Recording, Recording], around: Timeline) -> int:
    """Return -1 where the first speaker is on the first recording, 1 where on the second, 0 where the sound tells not.

    Heard are up to 30 stretches of each, up to 3 s long, while nobody else speaks, those who are neither side
    (``around``) among them. Both speakers have to say the same.
    """
    votes = list[int]()
    for speaker, other in ((first, second), (second, first)):
        alone = [span for span in speaker.heard - other.heard - around if span.duration >= _SHORTEST]
        step = max(1, len(alone) // _AT_MOST)
        loud = [_louder(recordings, Span(s.start, min(s.end, s.start + _LONGEST))) for s in alone[::step][:_AT_MOST]]
        told = [one for one in loud if one]
        lead = sum(told)
        if len(told) < STRETCHES or abs(lead) < (2 * SHARE - 1) * len(told):
            return 0
        votes.append(1 if lead > 0 else -1)
    # The first is heard in the first (-1) and the second in the second (1), or the other way round.
    return votes[0] if votes[0] == -votes[1] else 0


def _louder(recordings: tuple[Recording, Recording], span: Span) -> int:
    """Return -1 where the first recording is louder in a stretch, 1 where the second is, 0 where neither is clearly."""
    levels = [_level(one, span) for one in recordings]
    if max(levels) <= 0:
        return 0
    apart = 20 * float(np.log10((levels[0] + 1e-9) / (levels[1] + 1e-9)))
    return -1 if apart >= LOUDER_BY else 1 if apart <= -LOUDER_BY else 0


def _level(recording: Recording, span: Span) -> float:
    import soundfile

    try:
        with soundfile.SoundFile(recording.file) as file:
            start = span.start * file.samplerate // SECOND
            if start >= file.frames:
                return 0.0
            file.seek(start)
            samples = file.read(span.duration * file.samplerate // SECOND, dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, RuntimeError):
        # What only FFmpeg reads cannot be sought in; then the sound says nothing.
        return 0.0
    if not len(samples) or recording.channel >= samples.shape[1]:
        return 0.0
    heard = samples[:, recording.channel].astype(np.float64)
    return float(np.sqrt(np.mean(np.square(heard - heard.mean()))))


def refuse_channels(transcript: Gathered, first: Speaker, second: Speaker, sound: Path) -> InputError:
    """Return the error that says that nothing tells which channel is whose."""
    names = f"{printable(first.name, 40)},{printable(second.name, 40)}"
    return InputError(
        transcript.path, "speakers", found=f"{names.replace(',', ' and ')}, and nothing that tells whose the channels "
        f"of {printable(sound.name, 60)} are", expected="names, channels or sound that tell it",
        do=f"say it with --speakers {names}, the first channel's first",
    )  # fmt: skip


def within_recording(transcript: Path, ends: int, lasts: int, sound: Path) -> None:
    """Raise :class:`InputError` where something is said after the recording's end: it is of something else, or cut."""
    if ends > lasts + _BEYOND:
        raise InputError(
            transcript, found=f"speech up to {ends / 1e6:g} s, and {lasts / 1e6:g} s of sound "
            f"({printable(sound.name, 60)})", expected="times within the recording",
            do="look whether they are seconds, and of this recording",
        )  # fmt: skip
