"""The list: what it reads and refuses, and what every effect keeps: length, onsets, seeds, full scale."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.making import effects as fx
from fullduplex.making.effects.sound import speech, speech_level
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.once import once_per_process
from fullduplex.providers.voices.hibari import Hibari

Samples = NDArray[np.float32]
RATE = 16_000
REAL = Path(__file__).parents[3] / "shared" / "data" / "vocal_phenomena" / "mfa"

EVERY: tuple[fx.Effect, ...] = (
    fx.Noise(10.0),
    fx.Noise(10.0, "pink"),
    fx.Noise(15.0, "speech", drift=3.0),
    fx.Babble(5.0, voices=3),
    fx.Babble(5.0, voices=3, audio=("other.wav",)),
    fx.Reverb(t60=ms(500)),
    fx.Reverb(response="room.wav"),
    fx.FarField(1.0),
    fx.Telephone("mulaw"),
    fx.Telephone("alaw", band=(200.0, 3_600.0)),
    fx.Telephone("opus"),
    fx.Telephone("opus", bitrate=12_000, band=(300.0, 3_400.0)),
    fx.FrameLoss(0.1, 0.3),
    fx.FrameLoss(0.1, 0.3, loss_bad=0.5, loss_good=0.01, concealment="silence"),
    fx.Background("other.wav", repeat=True),
    fx.Background("other.wav", low_pass=None, reflections=()),
    fx.OtherDirected("other.wav", at=seconds(0.5)),
    fx.Sounds("cough", rate=90.0),
    fx.Sounds("tic", at=(seconds(0.1), seconds(0.6)), over_speech=True, spread=6.0),
    fx.Sounds("knock", audio=("room.wav",), rate=90.0),
    fx.Clipping(-12.0, 12.0),
    fx.Gain(-6.0),
)
CHANGING = [effect for effect in EVERY if not isinstance(effect, fx.Echo) and not effect.adds]
KEEPING = [effect for effect in CHANGING if effect.kind not in ("reverb", "far_field", "frame_loss")]
ADDING = [effect for effect in EVERY if not isinstance(effect, fx.Echo) and effect.adds]


@once_per_process
def spoken(rate: int, text: str = "Please call me on Sunday.", pitch: float = 1.0) -> Samples:
    said = Hibari(pitch=pitch).speak(text)
    return audio.resample(said.samples, said.rate, rate)


def user(rate: int = RATE) -> Samples:
    """Return a second of silence, a sentence, and a second of silence."""
    return np.pad(spoken(rate), rate)


def loader(rate: int = RATE) -> Any:
    other = spoken(rate, "I would like to know whether the train to the coast still runs.", 0.85)
    random = np.random.default_rng(5)
    room = (random.standard_normal(rate // 4) * np.exp(-np.arange(rate // 4) / (rate / 20)) * 0.02).astype(np.float32)
    room[rate // 100] = 0.9
    return {"other.wav": other, "room.wav": room, "silent.wav": np.zeros(rate, np.float32)}.__getitem__


def affected(*effects: fx.Effect, samples: Samples | None = None, rate: int = RATE, seed: int = 1) -> fx.Affected:
    return fx.affected(effects, user(rate) if samples is None else samples, rate, seed=seed, load=loader(rate))


def names(effects: Any) -> list[str]:
    return [f"{place}-{effect.kind}" for place, effect in enumerate(effects)]


def onset(samples: Samples) -> int:
    """Return the first sample within 40 dB of the peak."""
    loud = np.abs(samples)
    return int(np.flatnonzero(loud >= loud.max() / 100)[0])


def lag(before: Samples, after: Samples) -> int:
    """Return by how many samples ``after`` is late, where it is most like ``before``."""
    size = 1 << (2 * len(before)).bit_length()
    alike = np.fft.irfft(np.fft.rfft(after, size) * np.conj(np.fft.rfft(before, size)), size)
    late = int(np.argmax(alike))
    return late - size if late > size // 2 else late


# What every effect keeps


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("effect", CHANGING, ids=names(CHANGING))
def test_speech_is_most_like_itself_where_it_was(effect: Any, rate: int) -> None:
    before, after = user(rate), affected(effect, rate=rate).samples
    assert abs(lag(before, after)) <= 1


@pytest.mark.parametrize("effect", CHANGING, ids=names(CHANGING))
@pytest.mark.parametrize("name", ["mfa_um.flac", "mfa_breathy.flac"])
def test_a_person_is_most_like_themselves_where_they_were(name: str, effect: Any) -> None:
    if not (REAL / name).exists():
        pytest.skip("the recordings of vocal phenomena are not here")
    before, rate = audio.read(REAL / name)
    assert abs(lag(before[: 6 * rate], affected(effect, samples=before[: 6 * rate], rate=rate).samples)) <= 1


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("effect", CHANGING, ids=names(CHANGING))
def test_an_impulse_is_most_like_itself_where_it_was(effect: Any, rate: int) -> None:
    click = np.zeros(rate, np.float32)
    click[rate // 2] = 0.5
    assert abs(lag(click, affected(effect, samples=click, rate=rate).samples)) <= 1


# Reverberation lifts the peak that an onset is measured from, and a lost frame may hold the onset: both are tested
# sample by sample instead.
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("effect", KEEPING, ids=names(KEEPING))
def test_speech_begins_where_it_began(effect: Any, rate: int) -> None:
    before, after = user(rate), affected(effect, rate=rate).samples
    assert abs(onset(after) - onset(before)) < rate / 1000


@pytest.mark.parametrize("effect", [fx.Reverb(t60=ms(500)), fx.FarField(3.0), fx.FarField(0.3, t60=seconds(1))])
def test_a_room_leaves_the_direct_sound_where_it_was(effect: Any) -> None:
    before, after = user(), affected(effect).samples
    first = int(np.flatnonzero(before)[0])
    assert not after[:first].any()
    until = first + RATE // 1000  # no reflection comes sooner
    gain = 0.3 / effect.distance if isinstance(effect, fx.FarField) else 1.0
    assert after[first:until] == pytest.approx(before[first:until] * gain, abs=1e-6)


@pytest.mark.parametrize("effect", ADDING, ids=names(ADDING))
def test_what_is_added_leaves_the_speech_as_it_is(effect: Any) -> None:
    before = user() * np.float32(0.2)
    made = effect.make(before, RATE, random=np.random.default_rng(3), load=loader())
    after = fx.apply(effect, before, RATE, random=np.random.default_rng(3), load=loader())
    assert after - made.samples == pytest.approx(before, abs=1e-6)
    assert np.any(made.samples)


@pytest.mark.parametrize("effect", EVERY, ids=names(EVERY))
def test_length_is_kept_and_nothing_is_infinite_or_beyond_full_scale(effect: fx.Effect) -> None:
    for samples in (user(), user()[: RATE + 777], np.zeros(RATE, np.float32), np.ones(RATE, np.float32)):
        made = affected(effect, samples=samples).samples
        assert made.dtype == np.dtype(np.float32) and len(made) == len(samples)
        assert np.isfinite(made).all() and np.abs(made).max() <= 1


@pytest.mark.parametrize(
    "effect", [fx.Noise(10.0, "pink"), fx.Telephone("opus"), fx.Telephone(), fx.FrameLoss(0.1, 0.1)]
)
@pytest.mark.parametrize("length", [0, 1, 7])
def test_hardly_any_audio_is_audio_too(effect: fx.Effect, length: int) -> None:
    assert len(affected(effect, samples=np.full(length, 0.1, np.float32)).samples) == length


@pytest.mark.parametrize("effect", EVERY, ids=names(EVERY))
def test_one_seed_gives_the_same_bytes(effect: fx.Effect) -> None:
    assert affected(effect, seed=7).samples.tobytes() == affected(effect, seed=7).samples.tobytes()


@pytest.mark.parametrize("effect", [e for e in EVERY if "seed" in e.members], ids=lambda effect: effect.kind)
def test_another_seed_gives_other_audio(effect: Any) -> None:
    if isinstance(effect, fx.Reverb) and effect.response:
        return
    first = affected(effect, seed=7).samples.tobytes()
    assert affected(effect, seed=8).samples.tobytes() != first
    assert affected(replace(effect, seed=1), seed=7).samples.tobytes() != first


# The list


def test_one_more_effect_changes_no_draw_of_the_others() -> None:
    quiet = user() * np.float32(0.2)
    alone = affected(fx.Noise(10.0), samples=quiet).samples - quiet
    cough = fx.Sounds("cough", at=(0,))
    coughs = affected(cough, samples=quiet).samples - quiet
    both = affected(cough, fx.Noise(10.0), samples=quiet).samples - quiet
    assert both == pytest.approx(alone + coughs, abs=1e-6)


def test_two_equal_noises_are_not_the_same_noise() -> None:
    quiet = user() * np.float32(0.1)
    one = affected(fx.Noise(10.0), samples=quiet).samples - quiet
    two = affected(fx.Noise(10.0), fx.Noise(10.0), samples=quiet).samples - quiet - one
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.02


def test_a_second_noise_is_as_loud_as_if_it_were_alone() -> None:
    quiet = user() * np.float32(0.1)
    first = affected(fx.Noise(0.0), samples=quiet).samples
    both = affected(fx.Noise(0.0), fx.Noise(0.0, "pink"), samples=quiet).samples
    ratio = speech_level(quiet, RATE) / np.sqrt(np.mean((both - first).astype(np.float64) ** 2))
    assert 20 * np.log10(ratio) == pytest.approx(0.0, abs=0.05)


def test_noise_is_measured_against_the_speech_as_earlier_effects_left_it() -> None:
    noisy = affected(fx.Sounds("cough", at=(0,)), fx.Gain(-20.0), fx.Noise(10.0)).samples
    noise = noisy[-RATE // 2 :].astype(np.float64)
    ratio = speech_level(user(), RATE) * 0.1 / np.sqrt(np.mean(noise**2))
    assert 20 * np.log10(ratio) == pytest.approx(10.0, abs=0.2)


def test_too_loud_a_whole_is_scaled_and_says_so() -> None:
    made = affected(fx.Gain(20.0))
    assert np.abs(made.samples).max() == pytest.approx(32767 / 32768, rel=1e-6)
    assert made.samples == pytest.approx(user() * 10 * made.scaled, abs=1e-5)
    assert made.scaled < 1 and "to stay within full scale" in made.notes[-1]


def test_what_is_not_too_loud_is_not_scaled() -> None:
    made = affected(fx.Gain(-1.0))
    assert (made.scaled, made.notes) == (1.0, ())


def test_gain_drives_clipping() -> None:
    made = affected(fx.Gain(30.0), fx.Clipping(-6.0))
    assert np.abs(made.samples).max() == pytest.approx(10 ** (-6 / 20), rel=1e-6)
    assert np.mean(np.abs(made.samples) > 0.5) > 0.1
    assert "were cut off" in made.notes[0] and not made.notes[0].startswith("clipping: 0 ")


def test_no_effects_change_nothing() -> None:
    assert np.array_equal(affected().samples, user())


def test_live_effects_are_handed_back() -> None:
    echo = fx.Echo(ms(200), -20.0)
    made = affected(echo, fx.Gain(-6.0))
    assert made.live == (echo,)
    assert np.array_equal(made.samples, affected(fx.Gain(-6.0)).samples)
    assert fx.split([echo, fx.Gain(-6.0)]) == ((fx.Gain(-6.0),), (echo,))


def test_events_come_in_order_of_time() -> None:
    made = affected(fx.Background("other.wav", at=seconds(1)), fx.Sounds("cough", at=(0,)))
    assert [event.kind for event in made.events] == ["cough", "background"]


@pytest.mark.parametrize(
    "samples", [np.full(10, np.nan, np.float32), np.full(10, np.inf, np.float32), np.zeros((10, 2), np.float32)]
)
def test_audio_that_is_none_is_refused(samples: Samples) -> None:
    with pytest.raises(InputError, match="user audio"):
        affected(fx.Gain(1.0), samples=samples)


@pytest.mark.parametrize(("rate", "seed"), [(0, 1), (500_000, 1), (RATE, -1)])
def test_an_absurd_rate_or_seed_is_refused(rate: int, seed: int) -> None:
    with pytest.raises(InputError):
        fx.affected((fx.Gain(1.0),), np.zeros(8, np.float32), rate, seed=seed, load=loader())


# JSON

WRITTEN: tuple[fx.Effect, ...] = (*EVERY, fx.Echo(ms(200), -20.0), fx.Echo(ms(200), -20.0, t60=ms(300), seed=4))


@pytest.mark.parametrize("effect", WRITTEN, ids=names(WRITTEN))
def test_what_is_written_is_read(effect: fx.Effect) -> None:
    text = json.dumps([effect.to_json()], allow_nan=False)
    assert fx.effects_from_json(json.loads(text), Path("item.json")) == (effect,)


def test_every_kind_is_tested() -> None:
    assert {effect.kind for effect in WRITTEN} == set(fx.KINDS)


def test_the_reference_names_every_kind_and_its_members() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "effects.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE)
    told = {kind: set(re.findall(r"`(\w+)`", members)) for kind, members in rows}
    assert told == {name: set(kind.members) - {"seed"} for name, kind in fx.KINDS.items()}
    example = json.loads(re.findall(r"```json\n(.*?)```", page, re.DOTALL)[0])
    assert len(fx.effects_from_json(example, Path("effects.md"))) == 4


def test_times_are_seconds_in_json() -> None:
    assert fx.Echo(ms(250), -20.0).to_json()["delay"] == 0.25
    assert fx.effect_from_json({"kind": "noise", "snr": 10, "seed": 3}, Path("i"), "e") == fx.Noise(10.0, seed=3)


def test_ten_and_ten_point_nothing_are_the_same_effect() -> None:
    assert affected(fx.Noise(10)).samples.tobytes() == affected(fx.Noise(10.0)).samples.tobytes()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"kind": "nois", "snr": 1}, r"item.json, effects\[0\].kind: found 'nois', expected one of noise, babble"),
        ({"snr": 1}, r"effects\[0\]: found an object with snr, expected an object with the 'kind' of an effect"),
        ({"kind": ["noise"]}, "with the 'kind'"),
        (7, "found 7"),
        ({"kind": "noise"}, "expected a noise with 'snr'"),
        ({"kind": "noise", "snr": "loud"}, r"effects\[0\].snr: found 'loud'"),
        ({"kind": "noise", "snr": 10, "color": "pink"}, r"effects\[0\].color: found an unknown member"),
        ({"kind": "noise", "snr": 10, "../../x\n<script>": 1}, "unknown member"),
        ({"kind": "noise", "snr": 10, "colour": "purple"}, "one of white, pink, speech"),
        ({"kind": "noise", "snr": 1e9}, "-60 to 120 dB"),
        ({"kind": "noise", "snr": True}, "found True"),
        ({"kind": "noise", "snr": 10**400}, "snr"),
        ({"kind": "noise", "snr": 1, "seed": -1}, "seed"),
        ({"kind": "noise", "snr": 1, "seed": 1.5}, "a whole number"),
        ({"kind": "babble", "snr": 1, "voices": 0}, "1 to 64"),
        ({"kind": "babble", "snr": 1, "audio": "x"}, "a list"),
        ({"kind": "reverb"}, r"effects\[0\]: found neither, expected either t60 or response"),
        ({"kind": "reverb", "t60": 0.5, "response": "a.wav"}, "found both"),
        ({"kind": "reverb", "t60": 0}, "0.02 to 20 s"),
        ({"kind": "far_field", "distance": 0}, "0.3 to 30 m"),
        ({"kind": "telephone", "codec": "mp3"}, "mulaw, alaw, opus"),
        ({"kind": "telephone", "bitrate": 8000}, "G.711 has 64,000"),
        ({"kind": "telephone", "codec": "opus", "bitrate": 1}, "6000 to 510000"),
        ({"kind": "telephone", "band": [3400, 300]}, "the lowest frequency, then the highest"),
        ({"kind": "telephone", "band": [300]}, "two frequencies"),
        ({"kind": "telephone", "band": [5000, 6000]}, "begins below 4000 Hz"),
        ({"kind": "frame_loss", "p_good_to_bad": 2, "p_bad_to_good": 1}, "0 to 1"),
        ({"kind": "frame_loss", "p_good_to_bad": 0, "p_bad_to_good": 0}, "a channel that can change"),
        ({"kind": "frame_loss", "p_good_to_bad": 0.1, "p_bad_to_good": 1, "frame": 0}, "0.001 to 0.2 s"),
        ({"kind": "echo", "delay": -1, "gain": -20}, "0 to 2 s"),
        ({"kind": "background", "audio": ""}, "the name of a recording"),
        ({"kind": "background", "audio": "a", "reflections": [[0.1]]}, r"reflections\[0\]: .*a delay in seconds"),
        ({"kind": "background", "audio": "a", "repeat": 1}, "true or false"),
        ({"kind": "other_directed", "audio": "a", "at": -1}, "other_directed|at"),
        ({"kind": "sounds", "sound": "yodel", "rate": 1}, "one of cough"),
        ({"kind": "sounds", "sound": "<script>", "audio": ["a"], "rate": 1}, "one word"),
        ({"kind": "sounds", "sound": "cough"}, "either at or rate"),
        ({"kind": "clipping", "level": 3}, "-60 to 0 dB of full scale"),
        ({"kind": "gain", "level": None}, "level"),
    ],
)
def test_what_is_no_effect_is_refused_in_one_sentence(value: object, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        fx.effects_from_json([value], Path("item.json"))
    assert str(caught.value).startswith("item.json, effects[0]")
    assert "\n" not in str(caught.value)


def test_a_list_is_a_list() -> None:
    with pytest.raises(InputError, match="a list of effects"):
        fx.effects_from_json({"kind": "gain"}, Path("item.json"))


def test_python_refuses_what_json_refuses() -> None:
    with pytest.raises(InputError, match="noise, snr: found nan"):
        fx.Noise(float("nan"))
    with pytest.raises(TypeError, match="whole microseconds"):
        fx.Echo(0.2, -20.0)  # type: ignore[arg-type]


# Recordings


def test_recordings_are_read_inside_their_folder_only(tmp_path: Path) -> None:
    inside = tmp_path / "item"
    inside.mkdir()
    for folder in (tmp_path, inside):
        audio.write(folder / "a.wav", np.full((48_000, 2), 0.25, np.float32), 48_000)
    load = fx.loads_from(inside, RATE)
    assert load("a.wav").shape == (RATE,)
    for name in ("../a.wav", str(tmp_path / "a.wav"), "x/../../a.wav", "a\x00b", "x" * 5_000):
        with pytest.raises(InputError, match=r"inside this folder|can be read") as caught:
            load(name)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "effect",
    [
        fx.Background("silent.wav"),
        fx.OtherDirected("silent.wav"),
        fx.Reverb(response="silent.wav"),
        fx.Babble(3.0, audio=("silent.wav",)),
        fx.Sounds("knock", audio=("silent.wav",), at=(0,)),
    ],
)
def test_a_silent_recording_is_refused(effect: fx.Effect) -> None:
    with pytest.raises(InputError, match=r"silent.wav.*silence"):
        affected(effect)


def test_a_place_past_the_end_is_refused() -> None:
    for effect in (fx.Background("other.wav", at=seconds(60)), fx.Sounds("cough", at=(seconds(60),))):
        with pytest.raises(InputError, match="a time within the audio"):
            affected(effect)


@pytest.mark.parametrize("name", ["mfa_laughter.flac", "mfa_breaths.flac", "mfa_uhuh.flac"])
def test_real_sounds_take_the_place_of_made_ones(name: str) -> None:
    if not (REAL / name).exists():
        pytest.skip("the recordings of vocal phenomena are not here")
    quiet = np.pad(user() * np.float32(0.3), (0, 30 * RATE))
    effect = fx.Sounds("laughter", audio=(name,), rate=3.0)
    made = fx.affected([effect], quiet, RATE, seed=2, load=fx.loads_from(REAL, RATE))
    words = speech(quiet, RATE)
    assert made.events and all(event.source == f"effect sounds, {name}" for event in made.events)
    assert not any(words.within(event.span) for event in made.events)
    assert np.array_equal(made.samples[RATE:][:8_000], quiet[RATE:][:8_000])


# Sounds


def test_drawn_sounds_keep_out_of_the_users_words_and_of_each_other() -> None:
    long = np.concatenate([user(), np.zeros(3 * RATE, np.float32)] * 4)
    words = speech(long, RATE)
    for seed in range(5):
        events = affected(fx.Sounds("tic", rate=30.0), samples=long, seed=seed).events
        spans = [event.span for event in events]
        assert not any(words.within(Span(span.start - ms(99), span.end + ms(99))) for span in spans)
        assert all(one.end + ms(99) < two.start for one, two in pairwise(spans))


def test_sounds_come_at_their_rate() -> None:
    minute = np.zeros(60 * RATE, np.float32)
    many = [len(affected(fx.Sounds("click", rate=6.0), samples=minute, seed=seed).events) for seed in range(40)]
    assert np.mean(many) == pytest.approx(6.0, abs=1.2)  # three standard errors of a Poisson mean


def test_a_stated_sound_in_the_users_words_is_refused_unless_asked_for() -> None:
    with pytest.raises(InputError, match=r"at\[0\]: found 2 s, where the user speaks.*; or give over_speech"):
        affected(fx.Sounds("cough", at=(seconds(2),)))
    made = affected(fx.Sounds("cough", at=(seconds(2),), over_speech=True))
    assert [event.span.start for event in made.events] == [seconds(2)]


def test_sounds_that_find_no_silence_are_counted() -> None:
    made = affected(fx.Sounds("cough", rate=120.0), samples=spoken(RATE))
    assert made.events == () and "found no silence that is long enough" in made.notes[0]


def test_a_sound_is_where_its_event_is() -> None:
    silence = np.zeros(5 * RATE, np.float32)
    for kind in ("cough", "throat", "sniff", "click", "burst"):
        made = affected(fx.Sounds(kind, at=(seconds(2),)), samples=silence)
        (event,) = made.events
        heard = np.flatnonzero(np.abs(made.samples) > 0) / RATE
        assert (event.kind, event.source) == (kind, "effect sounds, synthesised")
        assert event.span.start / 1e6 <= heard[0] < event.span.start / 1e6 + 0.001
        assert event.span.end / 1e6 - 0.05 < heard[-1] <= event.span.end / 1e6
