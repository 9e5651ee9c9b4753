"""Sound in which nobody was found to speak, and words that nobody looked for: neither is silence, nor no output."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import median

from fullduplex.model.trials import Absent, Fact, Trial

#: A recording whose loudest sample is at least this, -40 dB of full scale, has sound in it. The limit is ours: above
#: the noise of a quiet room, below speech at any usual level.
AUDIBLE = 0.01
#: What a verdict says of a system that said nothing: that there was sound, or speech without words, is told instead.
SILENT = "silent"
NO_SPEECH = "no speech found, though there is sound"
NO_WORDS = "no words found, though there is speech"


@dataclass(slots=True)
class Unspoken:
    """Over items: the peaks (1 is full scale) of the system's recordings that have sound and no speech."""

    peaks: list[float] = field(default_factory=list)

    def add(self, trial: Trial) -> None:
        """Count an item, if there is sound in the system's recording and no speech was found in it."""
        if sounds_unspoken(trial):
            self.peaks.append(trial.system.peak or 0.0)

    def sentences(self) -> Iterator[str]:
        """Yield what a reader of verdicts has to know; nothing where all that sounded was speech."""
        if self.peaks:
            level = 20 * math.log10(median(self.peaks))
            n = len(self.peaks)
            yield (
                f"sound in {n} item{'s' * (n > 1)} in which no speech was found (median level of the loudest sample "
                f"{level:.1f} dBFS): listen before it passes for silence"
            )


def sounds_unspoken(trial: Trial) -> bool:
    """Return whether the system's recording reaches :data:`AUDIBLE`, and neither words nor speech were found in it."""
    system = trial.system
    return (
        not trial.failed
        and system.peak is not None
        and system.peak >= AUDIBLE
        and system.speech is not None
        and not system.speech
        and not system.words
    )


def as_heard(found: Fact | Absent, trial: Trial) -> Fact | Absent:
    """Return what a metric found with its reason put right where it rests on words that are not there.

    "silent" of a recording with sound or speech in it says so; "no output" of a talk that has a recording, whose words
    nobody looked for or told, is "no words". ``trial`` is as heard with the detector that people are shown.
    """
    system = trial.system
    if isinstance(found, Absent):
        has_sound = system.speech is not None or system.duration is not None
        if found.reason == "no output" and system.words is None and system.tokens is None and has_sound:
            return Absent("no words", "the system's sound is there, and its words were neither told nor recognised")
        return replace(found, detail=_heard(trial)) if found.detail == SILENT else found
    return replace(found, why=_heard(trial)) if found.why == SILENT else found


def _heard(trial: Trial) -> str:
    """Return what there is of a system of which a verdict by words says that it is silent."""
    if sounds_unspoken(trial):
        return NO_SPEECH
    return NO_WORDS if trial.system.speech and not trial.system.words else SILENT
