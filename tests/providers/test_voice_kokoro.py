"""Kokoro says what it is told, and knows where each word of it sounds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.providers import weights
from fullduplex.providers.voices import Spoken
from fullduplex.providers.voices.durations import FRAME, one_more_output, placed_words
from fullduplex.providers.voices.kokoro import LONGEST, Kokoro, _sayable, _session, voices

# Words after silence that begin with a clear sound: a weak first vowel is heard late at any threshold.
TEXT = "The museum is open. So you can decide. Dogs don't bark at eighty-five."
FRENCH = "Les enfants jouent. Donc vous venez ?"


def made(voice: str) -> Kokoro:
    pytest.importorskip("hibari", reason="hibari-tts is not installed")
    if voice.startswith("ff"):
        pytest.importorskip("espeakng_loader", reason="espeakng-loader is not installed")
    try:
        return Kokoro(voice)
    except PluginError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=["af_heart", "bm_george", "ff_siwis"])
def spoken(request: pytest.FixtureRequest) -> tuple[str, Spoken]:
    text = FRENCH if request.param == "ff_siwis" else TEXT
    return text, made(request.param).speak(text)


def sounding(spoken: Spoken) -> list[Span]:
    """The 10-ms frames within 35 dB of the loudest."""
    size = spoken.rate // 100
    frames = spoken.samples[: len(spoken.samples) // size * size].reshape(-1, size)
    power = (frames.astype(np.float64) ** 2).mean(axis=1)
    loud = np.flatnonzero(power > power.max() * 10**-3.5)
    return [Span(int(i) * ms(10), int(i + 1) * ms(10)) for i in loud]


@pytest.mark.weights
def test_no_word_is_lost_and_none_overlaps(spoken: tuple[str, Spoken]) -> None:
    text, said = spoken
    assert said.words is not None and said.words_from == "synthesiser"
    assert "".join(w.text for w in said.words) == text.replace(" ", "")
    assert all(a.span.end <= b.span.start for a, b in pairwise(said.words))


@pytest.mark.weights
def test_a_word_begins_within_60_ms_of_each_sound_after_silence(spoken: tuple[str, Spoken]) -> None:
    said = spoken[1]
    frames = sounding(said)
    onsets = [frames[0].start] + [b.start for a, b in pairwise(frames) if b.start - a.end >= ms(150)]
    assert len(onsets) >= 2  # the second sentence at least
    for onset in onsets:
        assert min(abs(word.span.start - onset) for word in said.words or ()) <= ms(60), onset


@pytest.mark.weights
def test_every_word_lies_where_it_sounds(spoken: tuple[str, Spoken]) -> None:
    loud = sounding(spoken[1])
    assert all(any(word.span & frame for frame in loud) for word in spoken[1].words or ())


@pytest.mark.weights
def test_the_durations_sum_to_the_length_of_the_audio() -> None:
    voice = made("am_michael")
    folder = weights.path("kokoro", weights.default_cache({}))
    style = np.fromfile(folder / f"{voice.voice}.bin", "<f4").reshape(-1, 256)[9:10]
    feed = {
        "tokens": np.asarray([[0, *range(43, 53), 0]], np.int64),
        "style": style,
        "speed": np.asarray([1.0], np.float32),
    }
    samples, frames = _session(folder).run(None, feed)
    assert frames.size == 12
    assert int(frames.sum()) * FRAME == samples.size * SECOND // 24_000


@pytest.mark.weights
def test_equal_specs_say_equal_samples_and_a_faster_one_is_shorter() -> None:
    first, second, fast = (made("af_sky"), made("af_sky"), Kokoro("af_sky", 1.5) if made("af_sky") else None)
    said = first.speak("All right then.")
    assert first.spec == second.spec and np.array_equal(said.samples, second.speak("All right then.").samples)
    assert fast is not None and fast.spec != first.spec
    assert fast.speak("All right then.").duration < 0.85 * said.duration


@pytest.mark.weights
@pytest.mark.parametrize("text", ["", "...", " \n"])
def test_nothing_to_say_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="speak"):
        made("af_heart").speak(text)


def test_there_are_28_english_voices_and_a_french_one() -> None:
    names = voices()
    assert len(names) == 29 and [name for name in names if name[0] == "f"] == ["ff_siwis"]


@pytest.mark.parametrize("voice", ["zz_top", "../../af_heart", ""])
def test_another_voice_is_refused_with_the_known_ones(voice: str) -> None:
    with pytest.raises(InputError, match="af_heart"):
        Kokoro(voice)


@pytest.mark.parametrize("speed", [0, 2.1, True, "fast"])
def test_a_speed_that_nobody_speaks_at_is_refused(speed: float) -> None:
    with pytest.raises(InputError, match=r"0\.5 to 2"):
        Kokoro(speed=speed)


def test_without_weights_the_way_to_get_them_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="fullduplex models fetch kokoro"):
        Kokoro(cache=tmp_path)


def test_a_sentence_too_long_for_the_network_is_cut_between_words() -> None:
    alphabet = {" ": 16, "a": 43, ".": 4}
    words = [("word", "a" * 99)] * 12
    pieces = list(_sayable(iter([words]), alphabet))
    assert sum(map(len, pieces)) == 12
    assert all(sum(len(p) + 1 for _, p in piece) - 1 <= LONGEST for piece in pieces)


def test_what_makes_no_sound_is_no_sentence() -> None:
    assert not list(_sayable(iter([[("...", "…")], [("❓", "❓")]]), {"…": 10, "a": 43}))


def test_a_word_sounds_75_ms_before_its_place_in_the_durations() -> None:
    tokens = [("ab", "ab"), ("b,", "b,")]
    #                pad  a  b  _  b  ,  pad
    frames = np.asarray([8, 2, 2, 1, 4, 3, 5])
    words = list(placed_words(tokens, frames, 0, {"a": 1, "b": 2, " ": 3, ",": 4}))
    assert [(w.text, w.span) for w in words] == [
        ("ab", Span(ms(200 - 75), ms(300 - 75))),
        ("b,", Span(ms(325 - 75), ms(425 - 75))),
    ]


def test_one_more_output_is_a_message_of_nothing_else() -> None:
    assert one_more_output(b"/x") == b"\x3a\x06\x62\x04\x0a\x02/x"
