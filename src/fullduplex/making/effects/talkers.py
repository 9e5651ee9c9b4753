"""The people in a babble, where no recordings of people are given: the embedded voice at several pitches."""

from __future__ import annotations

import numpy as np

from fullduplex.data.audio import resample
from fullduplex.making.effects.sound import Samples
from fullduplex.once import once_per_process
from fullduplex.providers.voices import Spoken

#: What is said in the background; nothing of it asks for anything.
SENTENCES = (
    "The bakery on the corner sells out of rye bread before nine.",
    "They painted the old boat green and gave it a new name.",
    "My cousin walked the whole coast last summer with a borrowed tent.",
    "Rain fell on the tin roof for most of the afternoon.",
    "The second half was slower, but the music was better.",
    "He keeps a jar of buttons that nobody has ever counted.",
    "We took the early ferry and had breakfast on the deck.",
    "There were more geese than people in the park that day.",
)
_LOWEST, _HIGHEST = 0.8, 1.2
#: In a larger crowd pitches recur, and with them the sentences in another order.
_PITCHES = 8


def talk(number: int, among: int, rate: int) -> Samples:
    """Return what talker ``number`` of ``among`` says, at ``rate``: every sentence, each talker from another one on."""
    pitch = float(np.linspace(_LOWEST, _HIGHEST, min(among, _PITCHES))[number % _PITCHES])
    spoken = [_said(sentence, pitch) for sentence in SENTENCES]
    order = [(number + number // _PITCHES + step) % len(spoken) for step in range(len(spoken))]
    return resample(np.concatenate([spoken[at].samples for at in order]), spoken[0].rate, rate)


@once_per_process
def _said(sentence: str, pitch: float) -> Spoken:
    from fullduplex.providers.voices.hibari import Hibari

    return Hibari(pitch=pitch).speak(sentence)
