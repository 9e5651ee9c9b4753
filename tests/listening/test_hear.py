"""Every voice of a recording is heard at the rate that it is meant to have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from fullduplex.errors import InputError
from fullduplex.listening.detectors import Samples, Segments
from fullduplex.listening.detectors.energy import Energy
from fullduplex.listening.hear import hear_speech, recognise_tracks
from fullduplex.listening.recognisers import Heard
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token


def burst(rate: int) -> Samples:
    """Return 1 s of silence, 1 s of tone, 1 s of silence."""
    time = np.arange(rate) / rate
    tone = np.sin(2 * np.pi * 300 * time) * 0.3
    return np.concatenate([np.zeros(rate), tone, np.zeros(rate)]).astype(np.float32)


class Asked:
    """A recogniser that says who asked it what."""

    spec = Spec("asked")
    languages = ("en", "fr")

    def recognise(self, samples: Samples, rate: int, language: str = "en") -> Heard:
        return Heard((Token(f"{language}{rate}", 0.0, len(samples) / rate),))


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_a_voice_is_heard_at_the_same_time_at_every_rate(rate: int) -> None:
    (segment,) = hear_speech({"system": (burst(rate), rate)}, Energy())["system"]
    assert segment == pytest.approx((1.0, 2.0), abs=0.011)


def test_an_assumed_rate_stretches_time_as_the_released_scripts_did() -> None:
    (segment,) = hear_speech({"system": (burst(24_000), 24_000)}, Energy(), assume_rate=16_000)["system"]
    assert segment == pytest.approx((1.5, 3.0), abs=0.011)


def test_voices_keep_their_names() -> None:
    heard = hear_speech({"user": (np.zeros(100, np.float32), 16_000), "system": (burst(16_000), 16_000)}, Energy())
    assert heard["user"] == ()
    assert len(heard["system"]) == 1


def test_the_detector_gets_all_voices_at_once() -> None:
    class Counts:
        spec, rate, calls = Spec("counts"), 16_000, 0

        def detect(self, batch: Sequence[Samples]) -> list[Segments]:
            self.calls += 1
            return [() for _ in batch]

    detector = Counts()
    hear_speech({"a": (burst(8_000), 8_000), "b": (burst(8_000), 8_000)}, detector)
    assert detector.calls == 1


def test_words_come_from_each_voice_in_its_language() -> None:
    heard = recognise_tracks({"user": (burst(8_000), 8_000)}, Asked(), "fr")
    assert heard["user"].tokens == (Token("fr8000", 0.0, 3.0),)


def test_two_channels_are_not_one_voice() -> None:
    two = np.zeros((100, 2), np.float32)
    with pytest.raises(InputError, match="one voice"):
        hear_speech({"user": (two, 16_000)}, Energy())
    with pytest.raises(InputError, match="one voice"):
        recognise_tracks({"user": (two, 16_000)}, Asked())
