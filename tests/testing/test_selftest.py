"""The self-test itself: that planted answers lie where it says, and that its figures are right."""

from __future__ import annotations

import importlib.util
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.errors import InputError, PluginError
from fullduplex.listening.detectors import Segments
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers import weights
from fullduplex.providers.voices import Spoken, Voice
from fullduplex.testing.selftest import SelfTest, selftest
from fullduplex.testing.selftest.clips import RATE, Clip, RealTask, cut_clips, read_clips, truth
from fullduplex.testing.selftest.gates import clean, noisy
from fullduplex.testing.selftest.hold import TalkTask, hold, listen_to_talks, recordings, talks_of
from fullduplex.testing.selftest.plan import planned
from fullduplex.testing.selftest.recognise import paired
from fullduplex.testing.selftest.score import Errors, matched
from fullduplex.testing.selftest.sound import mu_law, noise, under


@dataclass(frozen=True)
class Hum:
    """A voice of one tone, whose words share its length."""

    pitch: float

    @property
    def spec(self) -> Spec:
        return Spec("hum", {"pitch": self.pitch})

    def speak(self, text: str) -> Spoken:
        parts = text.split()
        length = ms(250) + ms(170) * len(parts)
        time = np.arange(length * 16_000 // seconds(1)) / 16_000
        swell = np.minimum(1, np.minimum(time, time[-1] - time + 1 / 16_000) / 0.02 + 0.02)
        samples = (0.3 * swell * np.sin(2 * np.pi * self.pitch * time)).astype(np.float32)
        step = length // len(parts)
        words = tuple(Word(word, Span(k * step, (k + 1) * step)) for k, word in enumerate(parts))
        return Spoken(samples, 16_000, words, "synthesiser")


VOICES: Mapping[str, Voice] = {"low": Hum(150.0), "mid": Hum(320.0), "high": Hum(700.0)}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SelfTest]:
    out = tmp_path_factory.mktemp("selftest")
    return out, selftest(out, cache=out, detectors=("energy",), voices=VOICES, quick=True)


def test_every_sound_is_heard_where_it_was_planted(result: tuple[Path, SelfTest]) -> None:
    _, found = result
    assert not found.driver.absent
    assert found.driver.size_at(1.0) == 0


def test_a_system_stops_and_answers_after_the_planted_delay(result: tuple[Path, SelfTest]) -> None:
    folder = result[0] / "clips"
    plans = talks_of(folder, 12, 0)
    plan = next(plan for plan in plans if plan.kind == "interruption")
    user = plan.events[0].span
    stop, answer = (next(use for use in plan.planted if use.why == why) for why in ("stop", "answer"))
    recording = hold(plan, folder).recording
    loud = np.flatnonzero(np.abs(recording) > 0) * seconds(1) / RATE
    assert stop.delay is not None and answer.delay is not None
    assert user.start + stop.delay - ms(1) <= loud[loud < user.end].max() <= user.start + stop.delay
    assert abs(loud[loud > user.start + stop.delay + ms(1)].min() - (user.end + answer.delay)) <= 100


def test_the_files_that_it_writes_hold_its_figures(result: tuple[Path, SelfTest]) -> None:
    out, found = result
    told = json.loads((out / "selftest.json").read_text())
    assert told["planted"]["sounds"] == found.planted["sounds"] > 30
    assert told["driver"]["n"] == 2 * found.planted["sounds"]
    assert "## Onsets" in (out / "selftest.md").read_text()
    page = (out / "selftest.html").read_text()
    assert page.count("<svg") >= 16
    assert "<script" not in page and "http://" not in page and "https://" not in page


def test_the_same_seed_gives_the_same_numbers_in_any_order_of_work(
    result: tuple[Path, SelfTest], tmp_path: Path
) -> None:
    def backwards(function: object, tasks: list[object]) -> list[object]:
        return [function(task) for task in reversed(tasks)]  # type: ignore[operator]

    again = selftest(
        tmp_path,
        cache=tmp_path,
        detectors=("energy",),
        voices=VOICES,
        quick=True,
        run_tasks=backwards,  # type: ignore[arg-type]
    )
    assert again.to_json() == result[1].to_json()


def test_a_quick_run_says_what_it_is_too_small_for(result: tuple[Path, SelfTest]) -> None:
    states = {gate.name: gate.state for gate in result[1].gates}
    assert states["planted sounds, at least"] == "too few"
    assert states["uses of one utterance, at most"] == "kept"
    assert "smaller on purpose" in result[1].to_markdown()


def test_another_seed_plants_other_times(result: tuple[Path, SelfTest]) -> None:
    folder = result[0] / "clips"
    assert [t.length for t in talks_of(folder, 12, 0)] != [t.length for t in talks_of(folder, 12, 1)]


def test_no_utterance_is_used_more_than_fifteen_times_and_levels_span_twenty_db(tmp_path: Path) -> None:
    clips = []
    for voice, hum in VOICES.items():
        for role, count in (("nod", 16), ("sentence", 32), ("user", 3)):
            for k in range(count):
                spoken = hum.speak("la " * (2 if role == "nod" else 9))
                samples = audio.resample(spoken.samples, spoken.rate, RATE)
                name = f"{voice}-{role}-{k}.flac"
                audio.write(tmp_path / name, samples, RATE)
                found = truth(samples)
                assert found is not None
                clips.append(Clip(name, role, f"{role} {k}", voice, len(samples), *found, None))
    plans = planned(tmp_path, clips, 140, 3)
    uses = [use for plan in plans for use in plan.planted]
    assert len(uses) >= 500
    assert max(Counter(use.clip.file for use in uses).values()) <= 15
    assert max(plan.level for plan in plans) - min(plan.level for plan in plans) == 20
    assert {plan.voice for plan in plans} == set(VOICES)
    for plan in plans:
        assert all(a.span.end < b.span.start for a, b in zip(plan.planted, plan.planted[1:], strict=False))


def test_a_detector_that_is_late_is_measured_as_late_as_it_is(
    result: tuple[Path, SelfTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = result[0] / "clips"
    plan = talks_of(folder, 12, 0)[0]
    spans = [use.span for use in plan.planted]

    class Late:
        rate, spec = 16_000, Spec("late")

        def detect(self, batch: list[object]) -> list[Segments]:
            return [tuple((s.start / 1e6 + 0.04, s.end / 1e6 + 0.1) for s in spans)]

    monkeypatch.setattr("fullduplex.testing.selftest.hold.detector", lambda spec, cache: Late())
    (row,) = listen_to_talks(TalkTask(folder, 12, 0, (0,), (Spec("late"),), ""))
    raw = next(heard for heard in row["heard"] if heard["edges"] == "raw" and heard["condition"] == "clean")
    assert [match[0] for match in raw["matches"]] == pytest.approx([0.04] * len(spans), abs=1e-5)
    assert [match[1] for match in raw["matches"]] == pytest.approx([0.1] * len(spans), abs=1e-5)
    refined = next(heard for heard in row["heard"] if heard["edges"] == "refined" and heard["condition"] == "clean")
    assert max(abs(match[0]) for match in refined["matches"]) <= 0.008


def test_noise_lies_ten_db_below_the_speech(result: tuple[Path, SelfTest]) -> None:
    folder = result[0] / "clips"
    held = hold(talks_of(folder, 12, 0)[1], folder)
    speech = np.concatenate(
        [held.recording[u.span.start * RATE // 10**6 : u.span.end * RATE // 10**6] for u in held.plan.planted]
    )
    for name, samples, rate in recordings(held, 0):
        if "dB" in name:
            assert rate == held.rate
            ratio = np.mean(speech**2) / np.mean((samples - held.recording) ** 2)
            assert 10 * np.log10(ratio) == pytest.approx(10.0, abs=0.1)


def test_a_silent_recording_gets_no_noise() -> None:
    samples, _ = under("white 10 dB", np.zeros(1000, np.float32), RATE, (), np.random.default_rng(0))
    assert not samples.any()


@pytest.mark.parametrize(("colour", "fall"), [(0.0, 0.0), (1.0, 3.01)])
def test_noise_falls_by_its_colour_with_each_octave(colour: float, fall: float) -> None:
    power = np.abs(np.fft.rfft(noise(1 << 16, colour, np.random.default_rng(1)))) ** 2
    low, high = power[2000:4000].mean(), power[4000:8000].mean()
    assert 10 * np.log10(low / high) == pytest.approx(fall, abs=0.3)


def test_mu_law_is_the_telephones() -> None:
    assert np.unique(mu_law(np.linspace(-1, 1, 20_001).astype(np.float32))).size == 255


def test_truth_is_the_first_and_last_sample_within_forty_db() -> None:
    sound = np.zeros(1000, np.float32)
    sound[500], sound[100], sound[99], sound[900] = 1.0, 0.0101, 0.0099, -0.5
    assert truth(sound) == (100, 901)
    assert truth((sound / 1000).astype(np.float32)) == (100, 901)
    assert truth(sound[:500]) == (99, 101)
    assert truth(np.zeros(10, np.float32)) is None


def test_real_recordings_are_cut_where_they_are_silent(tmp_path: Path) -> None:
    time = np.arange(4 * RATE) / RATE
    sound = 0.5 * np.sin(2 * np.pi * 200 * time) * (((time > 0.5) & (time < 1.5)) | ((time > 2) & (time < 3)))
    audio.write(tmp_path / "a.wav", sound.astype(np.float32), RATE)
    audio.write(tmp_path / "noisy.wav", (sound + 0.02 * np.sin(1000 * time)).astype(np.float32), RATE)
    made = [Clip.from_json(clip) for clip in cut_clips(RealTask((tmp_path,), "real", tmp_path))]
    assert [clip.text for clip in made] == ["a", "a"]
    assert [clip.duration / 1e6 for clip in made] == pytest.approx([1.0, 1.0], abs=0.001)


def test_a_folder_without_a_usable_recording_is_refused(tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    with pytest.raises(InputError, match="no audio file"):
        selftest(tmp_path / "out", cache=tmp_path, detectors=("energy",), voices=VOICES, quick=True, clips=clips)
    audio.write(clips / "hum.wav", np.full(48_000, 0.1, np.float32), RATE)
    with pytest.raises(InputError, match="46 dB below"):
        selftest(tmp_path / "out", cache=tmp_path, detectors=("energy",), voices=VOICES, quick=True, clips=clips)


@pytest.mark.parametrize(
    ("detectors", "error"),
    [((), InputError), (("nobody",), PluginError), (("energy:x",), InputError), (("energy:ghost=1",), PluginError)],
)
def test_a_detector_that_is_none_is_refused_before_anything_is_written(
    detectors: tuple[str, ...], error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error):
        selftest(tmp_path / "out", cache=tmp_path, detectors=detectors, voices=VOICES, quick=True)
    assert not (tmp_path / "out").exists()


TRUTH = (Span(seconds(1), seconds(2)), Span(seconds(3), seconds(4)))


def errors(segments: Segments) -> list[tuple[int | str, int | str, int]]:
    found, _ = matched(TRUTH, segments)
    return [
        (
            m.onset.why if m.onset.error is None else m.onset.error // 1000,
            m.offset.why if m.offset.error is None else m.offset.error // 1000,
            m.cuts,
        )
        for m in found
    ]


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        (((1.02, 2.05), (2.99, 4.0)), [(20, 50, 0), (-10, 0, 0)]),
        (((1.0, 1.4), (1.6, 2.0)), [(0, 0, 1), ("missed", "missed", 0)]),
        (((0.9, 4.1),), [(-100, "merged", 0), ("merged", 100, 0)]),
        (((2.0, 3.0),), [("missed", "missed", 0), ("missed", "missed", 0)]),
        ((), [("missed", "missed", 0), ("missed", "missed", 0)]),
    ],
)
def test_an_edge_is_matched_missed_or_merged(
    segments: Segments, expected: list[tuple[int | str, int | str, int]]
) -> None:
    assert errors(segments) == expected


def test_a_segment_that_touches_nothing_planted_is_invented() -> None:
    assert matched(TRUTH, ((0.1, 0.2), (1.0, 2.0), (2.4, 2.6)))[1] == 2


def test_a_percentile_is_an_error_that_was_made() -> None:
    known = Errors.of((ms(k if k % 2 else -k), "") for k in range(1, 21))
    assert known.size_at(0.5) == ms(10)
    assert known.size_at(0.95) == ms(19)
    assert known.size_at(1.0) == ms(20)
    assert Errors.of([(None, "missed")]).size_at(0.5) is None
    assert Errors.of([(None, "missed"), (5, "")]).absent == {"missed": 1}


def test_a_promise_is_broken_just_above_its_limit() -> None:
    at = Errors.of([(ms(8), "")] * 100)
    above = Errors.of([(ms(8) + 1, "")] * 100)
    assert [gate.state for gate in clean("x", at)] == ["kept", "kept"]
    assert [gate.state for gate in clean("x", above)] == ["broken", "kept"]


def test_a_number_not_reached_in_noise_is_excused_by_what_the_noise_hides_and_by_nothing_else() -> None:
    late = Errors.of([(ms(70), "")] * 100)
    hidden, open_ = (Errors.of([(ms(at), "")] * 100) for at in (50, 40))
    assert noisy("x", "white", late, hidden, quick=False).state == "limit"
    assert noisy("x", "white", late, open_, quick=False).state == "broken"
    assert noisy("x", "white", late, open_, quick=True).state == "too few"
    assert noisy("x", "white", Errors.of([(ms(60), "")]), open_, quick=False).state == "kept"
    assert noisy("x", "white", Errors.of([(None, "missed")]), open_, quick=False).state == "broken"


@pytest.mark.parametrize(
    ("reference", "heard", "pairs", "wrong"),
    [
        ("a b c", "a b c", 3, 0),
        ("Mm-hmm, yes.", "mmhmm yes", 2, 0),
        ("a b c", "a x c", 2, 1),
        ("a b c", "a c", 2, 1),
        ("a c", "a b c", 2, 1),
        ("a b", "", 0, 2),
        ("", "a", 0, 1),
        ("the cat the dog", "the dog", 2, 2),
    ],
)
def test_words_are_paired_with_the_fewest_errors(reference: str, heard: str, pairs: int, wrong: int) -> None:
    found = paired(reference.split(), heard.split())
    assert (len(found[0]), found[1]) == (pairs, wrong)


def test_edges_that_are_the_truth_move_no_verdict(result: tuple[Path, SelfTest]) -> None:
    from fullduplex.testing.selftest.verdicts import moved_by_detectors

    talks = json.loads((result[0] / "talks.json").read_text())["talks"]
    for talk in talks:
        talk["heard"] = [
            {
                "condition": "clean",
                "detector": "truth",
                "edges": "raw",
                "segments": [p["truth"] for p in talk["planted"]],
            }
        ]
    rows = moved_by_detectors(talks)
    assert {row["metric"] for row in rows} == {"tor", "latency", "frequency"}
    assert all(row["changed"] == 0 and row["truth"] == row["heard"] and row["n"] for row in rows)


def test_segments_that_run_together_move_the_verdicts(result: tuple[Path, SelfTest]) -> None:
    from fullduplex.testing.selftest.verdicts import moved_by_detectors

    talks = json.loads((result[0] / "talks.json").read_text())["talks"]
    for talk in talks:
        whole = [[talk["planted"][0]["truth"][0], talk["planted"][-1]["truth"][1]]]
        talk["heard"] = [{"condition": "clean", "detector": "one", "edges": "raw", "segments": whole}]
    rows = moved_by_detectors(talks)
    assert any(row["changed"] for row in rows if row["task"] == "backchannel")


def test_with_real_voices_and_silero_the_promises_on_clean_speech_are_kept(tmp_path: Path) -> None:
    cache = weights.default_cache(os.environ)
    for package in ("hibari", "py_nanotts"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    try:
        weights.path("silero-v6-sequence", cache)
    except PluginError as error:
        pytest.skip(str(error))
    found = selftest(tmp_path, cache=cache, detectors=("silero",), quick=True)
    assert found.broken == ()
    assert len(read_clips(tmp_path / "clips")) >= 48
    refined = next(t for t in found.edges if (t.edges, t.condition, t.part) == ("refined", "clean", "all"))
    raw = next(t for t in found.edges if (t.edges, t.condition, t.part) == ("raw", "clean", "all"))
    for table in (refined, raw):
        assert table.onsets.n + sum(table.onsets.absent.values()) == found.planted["sounds"]
    assert (refined.onsets.size_at(0.95) or 0) <= ms(25) < (raw.onsets.size_at(0.95) or 0)


def test_two_settings_of_one_detector_are_two(tmp_path: Path) -> None:
    found = selftest(
        tmp_path, cache=tmp_path, detectors=("energy", "energy:min_silence_ms=300"), voices=VOICES, quick=True
    )
    counts = Counter(table.detector for table in found.edges if table.part == "all")
    assert counts == {"energy": 8, "energy:min_silence_ms=300": 8}
