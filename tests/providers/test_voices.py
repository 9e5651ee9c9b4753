from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers.voices import AUDIBLE, LEVEL, PEAK, Spoken, as_spoken, check_latin, levelled
from fullduplex.providers.voices.opened import open_voice

RATE = 16_000
TEXTS = (
    "Well, I was thinking about the trip, you know.",
    "The museum is open until six, so you can decide in the morning.",
    "It has eighty-five seats, doesn't it? Dr. Smith paid $9.99 for each!",
    "Mm-hmm.",
    "Right.",
)


def tone(length: int, level: float = 0.1) -> Any:
    return (level * np.sin(np.arange(length * RATE // SECOND) * 0.3)).astype(np.float32)


def loudness(samples: Any, rate: int) -> float:
    frames = samples[: len(samples) // (rate // 100) * (rate // 100)].reshape(-1, rate // 100)
    power = (frames.astype(np.float64) ** 2).mean(axis=1)
    return float(10 * np.log10(power[power >= power.max() * 1e-3].mean()))


def sounding(spoken: Spoken) -> list[Span]:
    """The 10-ms frames within 35 dB of the loudest."""
    size = spoken.rate // 100
    frames = spoken.samples[: len(spoken.samples) // size * size].reshape(-1, size)
    power = (frames.astype(np.float64) ** 2).mean(axis=1)
    loud = np.flatnonzero(power > power.max() * 10**-3.5)
    return [Span(int(i) * ms(10), int(i + 1) * ms(10)) for i in loud]


def test_every_voice_comes_at_one_loudness() -> None:
    for level in (0.01, 0.1, 0.9):
        assert loudness(levelled(tone(seconds(1), level), RATE), RATE) == pytest.approx(LEVEL, abs=0.1)


def test_a_peaky_voice_stays_below_the_peak() -> None:
    clicks = np.zeros(RATE, np.float32)
    clicks[::160] = 0.5
    assert np.abs(levelled(clicks, RATE)).max() == pytest.approx(10 ** (PEAK / 20), rel=1e-3)


def test_silence_is_not_amplified() -> None:
    assert not levelled(np.zeros(RATE, np.float32), RATE).any()


def test_silence_around_speech_is_cut_and_words_move_with_it() -> None:
    silence = np.zeros(RATE // 2, np.float32)
    word = Word("hum", Span(ms(600), ms(900)))
    spoken = as_spoken("hum", np.concatenate([silence, tone(seconds(1)), silence]), RATE, [word], "synthesiser")
    assert abs(spoken.duration - seconds(1)) < ms(1)
    assert spoken.words is not None and abs(spoken.words[0].span.start - ms(100)) < ms(1)


def test_a_word_before_the_first_sound_is_not_lost() -> None:
    words = [Word("a", Span(0, ms(50))), Word("hum", Span(ms(120), ms(400)))]
    audio = np.concatenate([np.zeros(RATE // 10, np.float32), tone(seconds(1))])
    spoken = as_spoken("a hum", audio, RATE, words, "synthesiser")
    assert spoken.words is not None
    assert [w.text for w in spoken.words] == ["a", "hum"]
    assert spoken.words[0].span.start == 0 and spoken.words[0].span.end <= spoken.words[1].span.start


def test_samples_lie_on_the_grid_of_16_bits() -> None:
    samples = as_spoken("hum", tone(seconds(1)), RATE).samples * 32768
    assert np.array_equal(samples, np.rint(samples))


def test_what_cannot_be_heard_is_refused() -> None:
    with pytest.raises(InputError, match="speak"):
        as_spoken("...", np.zeros(RATE, np.float32), RATE)


@pytest.fixture(scope="module")
def hibari() -> Any:
    pytest.importorskip("hibari", reason="hibari-tts is not installed")
    from fullduplex.providers.voices.hibari import Hibari

    return Hibari


@pytest.fixture(scope="module")
def pico() -> Any:
    pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")
    from fullduplex.providers.voices.pico import Pico

    return Pico


@pytest.mark.parametrize("pitch", [1.0, 0.84])
@pytest.mark.parametrize("text", TEXTS)
def test_every_word_of_hibari_lies_where_it_sounds(hibari: Any, text: str, pitch: float) -> None:
    spoken = hibari(pitch=pitch).speak(text)
    loud = sounding(spoken)
    assert spoken.words_from == "synthesiser"
    for word in spoken.words:
        assert any(word.span & frame for frame in loud), word


@pytest.mark.parametrize("text", TEXTS)
def test_the_first_word_of_hibari_begins_with_the_sound(hibari: Any, text: str) -> None:
    spoken = hibari().speak(text)
    assert abs(spoken.words[0].span.start - sounding(spoken)[0].start) <= ms(60)
    assert abs(spoken.words[-1].span.end - sounding(spoken)[-1].end) <= ms(150)


@pytest.mark.parametrize("text", TEXTS)
def test_no_word_of_hibari_is_lost_and_none_overlaps(hibari: Any, text: str) -> None:
    words = hibari().speak(text).words
    assert "".join(w.text for w in words).replace("Dr", "Dr.") == text.replace(" ", "")
    assert all(a.span.end <= b.span.start for a, b in pairwise(words))


def test_silence_inside_an_utterance_lies_between_words(hibari: Any) -> None:
    spoken = hibari().speak("It is late. We should go home.")
    late, we = (next(w for w in spoken.words if w.text == text) for text in ("late.", "We"))
    quiet = Span(late.span.end, we.span.start)
    assert quiet.duration > ms(150)
    assert sum(f.duration for f in sounding(spoken) if f & quiet) < quiet.duration // 2


def test_a_lower_pitch_keeps_most_of_the_pace(hibari: Any) -> None:
    plain, low = (hibari(pitch=pitch).speak(TEXTS[1]).duration for pitch in (1.0, 0.84))
    assert plain < low < plain / 0.84


def test_equal_specs_say_equal_samples(hibari: Any, pico: Any) -> None:
    for made in (hibari, pico):
        first, second = made().speak(TEXTS[0]), made().speak(TEXTS[0])
        assert np.array_equal(first.samples, second.samples)
        assert made().spec == made().spec and made().spec.revision


@pytest.mark.parametrize("language", ["en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT"])
def test_pico_speaks_and_tells_no_word_times(pico: Any, language: str) -> None:
    spoken = pico(language).speak("Pardon, Mister Alpha.")
    assert spoken.words is None and spoken.words_from == ""
    assert spoken.duration > ms(500)
    assert loudness(spoken.samples, spoken.rate) == pytest.approx(LEVEL, abs=0.5)


def test_pico_refuses_a_language_that_it_has_not(pico: Any) -> None:
    with pytest.raises(InputError, match="en-US"):
        pico("xx-XX")


@pytest.mark.parametrize("text", ["", "...", " \n", "<>"])
def test_nothing_to_say_is_refused(hibari: Any, pico: Any, text: str) -> None:
    for made in (hibari, pico):
        with pytest.raises(InputError, match="speak"):
            made().speak(text)


@pytest.mark.parametrize("text", ["<speed level='500'>fast</speed>", "a\0b", "\x1b[31mred", "\u202eabc", "x" * 500])
def test_marks_and_control_characters_are_no_commands(pico: Any, text: str) -> None:
    assert pico().speak(text).duration > 0


def test_speech_begins_and_ends_with_an_audible_sample(hibari: Any, pico: Any) -> None:
    for made in (hibari, pico):
        samples = np.abs(made().speak(TEXTS[0]).samples)
        assert min(samples[0], samples[-1]) > 10 ** (AUDIBLE / 20)


@pytest.mark.parametrize("text", ["Привет, как дела", "今日はいい天気ですね", "see you at καφές", "مرحبا"])
def test_words_in_letters_that_a_voice_skips_are_refused(hibari: Any, pico: Any, text: str) -> None:
    for voice in (hibari, pico):
        with pytest.raises(InputError, match="expected Latin letters"):
            voice().speak(text)


def test_latin_letters_with_marks_ligatures_and_signs_are_latin() -> None:
    check_latin("Où est l'œuvre de Łukasz, ½ ªº № 5? naïve café\u0301 ˈhəlˈoʊ 😀")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hibari", {"speed": 0}),
        ("hibari", {"speed": -1}),
        ("hibari", {"speed": float("nan")}),
        ("hibari", {"speed": "abc"}),
        ("hibari", {"pitch": 1000}),
        ("hibari", {"seed": -1}),
        ("hibari", {"seed": "x"}),
        ("pico", {"speed": 0}),
        ("pico", {"speed": True}),
        ("pico", {"pitch": -3}),
        ("pico", {"pitch": "abc"}),
    ],
)
def test_an_option_that_a_voice_cannot_keep_is_refused(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{name}, {next(iter(options))}: found .*, expected"):
        open_voice(Spec(name, options))


def test_a_number_that_nobody_can_read_is_refused(hibari: Any) -> None:
    with pytest.raises(InputError, match="expected words that can be read"):
        hibari().speak("1" * 400)
