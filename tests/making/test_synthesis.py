"""A script becomes a tree of items whose every time is what was put in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.discover import open_dataset
from fullduplex.data.fdb_folder import load_trial
from fullduplex.errors import InputError, PluginError
from fullduplex.making import item_folder, make_item, synthesis
from fullduplex.making.script_file import shipped
from fullduplex.making.speaking import cut_between
from fullduplex.making.synthesis import Synthesised, synthesise
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token, Word
from fullduplex.providers.voices import AUDIBLE, Spoken
from fullduplex.providers.voices.opened import default_pool, open_voice, voice_for

HIBARI, PICO, FRENCH = Spec("hibari"), Spec("pico", {"language": "en-GB"}), Spec("pico", {"language": "fr-FR"})
SCRIPT = [
    {"id": "0", "context": "How do bees make honey?", "interrupt": "Wait, do wasps make it too?"},
    {"id": "1", "context": "Is it late?", "interrupt": "Never mind.", "gap": 2, "after": 1, "voice": "pico"},
    {"id": "0", "text": "I was wondering whether you [pause 1.2] could help [pause 0.5] me plan dinner."},
    {"id": "1", "text": "I was wondering whether you [pause 1.2] could help me.", "voice": "pico"},
    {"id": "2", "text": "Close the door [pause 0.8] please, at once.", "style": "whispered"},
    {"id": "0", "text": "Have you been there?", "dataset": "my_turn_taking"},
    {"id": "../../x <b>\x07", "text": "Once there was a fox.", "dataset": "my_backchannel"},
]
pytest.importorskip("hibari", reason="hibari-tts is not installed")
pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")


def write(folder: Path, dialogues: Any) -> Path:
    path = folder / "talks.json"
    path.write_text(json.dumps(dialogues))
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def sounding(folder: Path) -> Any:
    samples, rate = audio.read(folder / "input.wav")
    return np.flatnonzero(np.abs(samples) > 10 ** (AUDIBLE / 20)) * SECOND // rate


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Synthesised]:
    folder = tmp_path_factory.mktemp("synth")
    return folder / "out", synthesise(write(folder, SCRIPT), folder / "out", [HIBARI])


def test_the_tree_reads_as_full_duplex_bench(made: tuple[Path, Synthesised]) -> None:
    trials = [load_trial(entry) for entry in open_dataset(made[0]).entries]
    assert len(trials) == len(SCRIPT) == len(made[1].items) and not made[1].failed
    assert not [trial.failed for trial in trials if trial.failed]
    assert {event.kind for trial in trials for event in trial.events} == {"pause", "turn_end", "interruption"}


def test_a_pause_is_as_long_as_asked_and_silent_and_speech_touches_its_edges(made: tuple[Path, Synthesised]) -> None:
    for id, lengths in (("0", [1.2, 0.5]), ("1", [1.2]), ("2", [0.8])):
        folder = made[0] / "synthetic_pause_handling" / id
        heard = sounding(folder)
        for pause, length in zip(read(folder / "pause.json"), lengths, strict=True):
            start, end = (seconds(time) for time in pause["timestamp"])
            assert abs(end - start - seconds(length)) <= 1
            assert not ((heard > start + ms(5)) & (heard < end - ms(5))).any()
            assert ((heard >= start - ms(15)) & (heard <= start)).any()
            assert ((heard >= end) & (heard <= end + ms(15))).any()


def test_the_interruption_comes_seven_seconds_after_and_fifteen_follow_unless_said(
    made: tuple[Path, Synthesised],
) -> None:
    for id, gap, after in (("0", 7, 15), ("1", 2, 1)):
        folder = made[0] / "synthetic_user_interruption" / id
        (event,) = read(folder / "interrupt.json")
        context, interrupt, whole = (
            audio.probe(folder / f"{n}.wav").duration for n in ("context", "interrupt", "input")
        )
        start, end = (seconds(time) for time in event["timestamp"])
        assert abs(start - context - seconds(gap)) < ms(1) and abs(end - start - interrupt) < ms(1)
        assert abs(whole - end - seconds(after)) < ms(1)
    assert event["context"] == "Is it late?" and event["interrupt"] == "Never mind."


def test_a_turn_ends_with_its_last_sound_and_five_seconds_follow(made: tuple[Path, Synthesised]) -> None:
    folder = made[0] / "my_turn_taking" / "0"
    end = seconds(read(folder / "turn_taking.json")[0]["timestamp"][0])
    assert abs(int(sounding(folder)[-1]) - end) < ms(15)
    assert abs(audio.probe(folder / "input.wav").duration - end - seconds(5)) < ms(1)


def test_words_are_in_order_outside_pauses_and_marked_with_their_source(made: tuple[Path, Synthesised]) -> None:
    folder = made[0] / "synthetic_pause_handling" / "0"
    told = read(folder / "input.json")["chunks"]
    assert " ".join(word["text"] for word in told) == "I was wondering whether you could help me plan dinner."
    assert all(a["timestamp"][1] <= b["timestamp"][0] for a, b in pairwise(told))
    for pause in read(folder / "pause.json"):
        gap = Span(*(seconds(time) for time in pause["timestamp"]))
        assert not [word for word in told if Span(*(seconds(time) for time in word["timestamp"])) & gap]
    about = read(folder / "script.json")
    assert about["words"] == "synthesiser" and {p["words_from"] for p in about["phrases"]} == {"synthesiser"}
    assert all(phrase["cut_at_a_word"] for phrase in about["phrases"])


def test_a_voice_that_knows_no_words_writes_none_and_says_so(made: tuple[Path, Synthesised]) -> None:
    folder = made[0] / "synthetic_pause_handling" / "1"
    assert not (folder / "input.json").exists() and read(folder / "script.json")["words"] == ""
    (turn,) = read(folder / "transcription.json")
    assert [one["text"] for one in turn["item"]] == ["I was wondering whether you", "could help me."]


def test_processed_speech_is_marked(made: tuple[Path, Synthesised]) -> None:
    about = read(made[0] / "synthetic_pause_handling" / "2" / "script.json")
    assert about["processed"] == ["whispered"] and {p["processed"] for p in about["phrases"]} == {"whispered"}
    assert [item.processed for item in made[1].items].count(True) == 1


def test_a_hostile_name_stays_inside_the_folder(made: tuple[Path, Synthesised]) -> None:
    item = next(item for item in made[1].items if item.dataset == "my_backchannel")
    assert item.folder.parent == made[0] / "my_backchannel" and item.folder.name.isprintable()
    assert sorted(path.name for path in made[0].parent.iterdir()) == ["out", "talks.json"]


def test_nothing_of_this_machine_is_written(made: tuple[Path, Synthesised]) -> None:
    for path in made[0].rglob("*.json"):
        assert str(made[0].parent) not in path.read_text()


def test_what_is_there_is_kept_and_what_changed_is_made_again(tmp_path: Path) -> None:
    dialogues = [{"id": str(n), "text": f"Number {n} [pause 0.5] is next."} for n in range(3)]
    synthesise(write(tmp_path, dialogues), tmp_path / "out", [HIBARI])
    dialogues[1]["text"] = "Another text [pause 0.5] altogether."
    (tmp_path / "out" / "synthetic_pause_handling" / "2" / "input.wav").unlink()
    again = synthesise(write(tmp_path, dialogues), tmp_path / "out", [HIBARI])
    assert [item.kept for item in again.items] == [True, False, False]
    assert not [item.kept for item in synthesise(tmp_path / "talks.json", tmp_path / "out", [PICO]).items if item.kept]


def test_the_same_seed_writes_the_same_bytes_and_another_seed_another_room(tmp_path: Path) -> None:
    path = write(tmp_path, SCRIPT[5:6])
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        synthesise(path, tmp_path / name, [HIBARI], seed=seed)
    a, b, c = ({f.name: f.read_bytes() for f in (tmp_path / n).rglob("*") if f.is_file()} for n in "abc")
    assert a == b and a["input.wav"] != c["input.wav"]


def test_a_folder_that_was_not_made_here_is_not_touched(tmp_path: Path) -> None:
    theirs = tmp_path / "out" / "synthetic_turn_taking" / "0" / "input.wav"
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"theirs")
    found = synthesise(write(tmp_path, [{"text": "Is it late?"}]), tmp_path / "out", [HIBARI])
    assert not found.items and "did not make" in found.failed[0][1]
    assert theirs.read_bytes() == b"theirs"


def test_what_a_killed_maker_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "out" / "synthetic_turn_taking" / "1"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for process, left in ((dead.pid, True), (os.getpid(), False)):
        with monkeypatch.context() as context:
            context.setattr("fullduplex.data.writers.os.getpid", lambda process=process: process)
            half = item_folder._half_beside(theirs)
        half.mkdir(parents=True)
        synthesise(write(tmp_path, [{"text": "Is it late?"}]), tmp_path / "out", [HIBARI])
        assert half.exists() != left, "what is still being written stays"


def test_files_of_others_beside_the_items_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.txt").write_text("mine")
    script = write(tmp_path, [{"text": "Is it late?"}])
    synthesise(script, out, [HIBARI])
    assert (out / "README.txt").read_text() == "mine"
    (out / "synth.json").write_text('{"mine": true}')
    with pytest.raises(InputError, match=r"synth\.json: found a file that synth did not write"):
        synthesise(script, out, [HIBARI])
    assert read(out / "synth.json") == {"mine": True}


def test_an_item_that_cannot_be_spoken_fails_alone_and_is_told(tmp_path: Path) -> None:
    dialogues = [{"text": {"clip": "../none.wav"}, "dataset": "a_turn_taking"}, {"text": "Is it late?"}]
    found = synthesise(write(tmp_path, dialogues), tmp_path / "out", [HIBARI])
    assert len(found.items) == 1 and found.failed[0][0] == "a_turn_taking/0" and "No such file" in found.failed[0][1]
    assert read(tmp_path / "out" / "synth.json")["failed"][0]["item"] == "a_turn_taking/0"


def test_clips_are_turns_levelled_and_cut_with_exact_pauses_between(tmp_path: Path) -> None:
    rate = 44_100
    hum = (0.02 * np.sin(np.arange(rate) * 0.05)).astype(np.float32)
    audio.write(tmp_path / "hum.wav", np.concatenate([np.zeros(rate // 2, np.float32), hum]), rate)
    said = [{"clip": "hum.wav", "text": "hum"}, "[pause 0.7]", {"clip": "hum.wav"}]
    (item,) = synthesise(write(tmp_path, [{"text": said}]), tmp_path / "out", [HIBARI]).items
    (pause,) = read(item.folder / "pause.json")
    assert pause["timestamp"][1] - pause["timestamp"][0] == pytest.approx(0.7, abs=1e-4)
    assert pause["timestamp"][0] == pytest.approx(1.5, abs=0.02)  # half a second, and the hum without its silence
    about = read(item.folder / "script.json")
    assert {p["time_from"] for p in about["phrases"]} == {"recording"} and about["words"] == ""


class Ears:
    """A recogniser that hears three words, 100 ms each."""

    spec = Spec("ears")
    languages = ("en",)

    def recognise(self, samples: Any, rate: int, language: str = "en") -> Any:
        from fullduplex.listening.recognisers import Heard

        return Heard(tuple(Token(f"w{n}", n / 10, (n + 1) / 10) for n in range(3)))


def test_words_of_a_recogniser_are_marked_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (make_item, synthesis):
        monkeypatch.setattr(module, "recogniser_of", lambda spec, cache: Ears())
    dialogues = [{"text": "Is it late?", "voice": "pico"}, {"text": "It is late, is it?", "voice": "pico"}]
    found = synthesise(write(tmp_path, dialogues), tmp_path / "out", [HIBARI], recogniser=Spec("ears"))
    assert [item.words for item in found.items] == ["recogniser ears"] * 2
    first, second = (read(item.folder / "input.json")["chunks"] for item in found.items)
    assert [word["text"] for word in first] == ["Is", "it", "late?"]  # as many as written: the script's own
    assert [word["text"] for word in second] == ["w0", "w1", "w2"]
    assert first[1]["timestamp"] == [0.6, 0.7]


def test_matched_items_have_equal_pauses_event_times_and_lengths(tmp_path: Path) -> None:
    dialogues = [
        {
            "id": "p",
            "lines": {"en": "I would like [pause 0.9] tea.", "fr": "Je voudrais bien [pause 0.9] du thé vert."},
        },
        {
            "id": "i",
            "lines": {
                n: {"context": c, "interrupt": "Non, non."} for n, c in (("en", "Go on."), ("fr", "Allez-y donc."))
            },
        },
        {"id": "t", "lines": {"en": "Is it late already?", "fr": "Il est tard ?"}},
        {"id": "only", "text": "Is it late already?"},
    ]
    found = synthesise(write(tmp_path, dialogues), tmp_path / "out", [PICO, FRENCH], languages=("en", "fr"))
    assert found.left_out == ("synthetic_turn_taking/only",) and len(found.items) == 6
    for name in ("pause.json", "turn_taking.json"):
        (english,), (french,) = (list((tmp_path / "out" / n).rglob(name)) for n in ("en", "fr"))
        assert read(english) == read(french)
    starts = [read(next((tmp_path / "out" / n).rglob("interrupt.json")))[0]["timestamp"][0] for n in ("en", "fr")]
    assert starts[0] == starts[1]
    assert all(a.duration == b.duration for a, b in zip(found.items[::2], found.items[1::2], strict=True))


def test_what_cannot_be_matched_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    lines = {"en": "A b [pause 1] c d [pause 1] e.", "fr": "A b [pause 1] c d [pause 1] e."}
    with pytest.raises(InputError, match="to match their times"):
        synthesise(write(tmp_path, [{"lines": lines}]), tmp_path / "out", [PICO, FRENCH], languages=("en", "fr"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"languages": ("fr",)}, "no dialogue in fr"),
        ({"languages": ()}, "each language once"),
        ({"rate": 100}, "8000 to 192000"),
        ({"limit": 0}, "1 or more"),
        ({"seed": -1}, "0 or more"),
        ({"voices": [FRENCH]}, "speaks 'en'"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(tmp_path: Path, options: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        synthesise(write(tmp_path, SCRIPT[:1]), tmp_path / "out", **{"voices": [HIBARI], **options})
    assert not (tmp_path / "out").exists()


def test_a_limit_is_of_each_dataset(tmp_path: Path) -> None:
    found = synthesise(shipped(), tmp_path / "out", [PICO], limit=1, gap=seconds(1), after=0)
    assert [item.dataset for item in found.items] == ["synthetic_user_interruption", "synthetic_pause_handling"]


def test_a_seed_gives_each_item_a_voice_whoever_else_speaks() -> None:
    pool = default_pool("en", 3)
    assert len(set(map(str, pool))) == 10 and pool == default_pool("en", 3) != default_pool("en", 4)
    drawn = [str(voice_for(f"a/{n}", pool, 3)) for n in range(200)]
    assert len(set(drawn)) == 10 and drawn[7] == str(voice_for("a/7", pool, 3))
    with pytest.raises(InputError, match="no embedded one"):
        default_pool("tlh", 0)


def test_a_voice_is_opened_with_its_options_and_its_key_by_name() -> None:
    assert open_voice(Spec("hibari", {"pitch": 0.9})).spec.options["pitch"] == 0.9
    with pytest.raises(PluginError, match="does not take depth; its options: speed, pitch, seed"):
        open_voice(Spec("hibari", {"depth": 1}))
    with pytest.raises(PluginError, match="from NO_KEY, which is not set"):
        open_voice(Spec("hibari", {"key_from": "NO_KEY"}))
    with pytest.raises(InputError, match="key_from=NAME"):
        open_voice(Spec("hibari", {"key": "secret"}))


def test_a_voice_behind_a_server_is_given_the_key_of_its_name_or_of_the_name_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from fullduplex.providers.voices.openai import OpenAI

    monkeypatch.setattr("fullduplex.plugins.find", lambda family, name: OpenAI)
    keys = {"openai": "mine", "OTHER": "yours"}
    by_name: Any = open_voice(Spec("openai"), keys=keys)
    as_told: Any = open_voice(Spec("openai", {"key_from": "OTHER"}), keys=keys)
    assert (by_name.key, as_told.key) == ("mine", "yours") and "mine" not in str(by_name.spec)


def tones(*parts: tuple[float, float]) -> Spoken:
    """Tones of (seconds, level) end to end, at 16 kHz."""
    return Spoken(
        np.concatenate([level * np.sin(np.arange(int(length * 16_000)) * 0.3) for length, level in parts]).astype(
            np.float32
        ),
        16_000,
    )


def test_a_cut_lies_where_it_is_quietest_between_the_words() -> None:
    sound = tones((0.5, 0.2), (0.02, 0.0), (0.48, 0.2))
    words = (Word("one", Span(0, ms(505))), Word("two", Span(ms(515), ms(1000))))
    parts = cut_between(Spoken(sound.samples, 16_000, words, "synthesiser"), ["one", "two"])
    assert parts is not None and [len(part.samples) / 16_000 for part in parts] == pytest.approx([0.5, 0.48], abs=0.002)
    assert [part.words[0].text for part in parts if part.words] == ["one", "two"]
    assert parts[1].words is not None and parts[1].words[0].span.start == 0


def test_words_that_do_not_end_with_the_phrase_are_not_cut() -> None:
    words = (Word("one two", Span(0, ms(500))), Word("three", Span(ms(500), ms(1000))))
    spoken = Spoken(tones((1.0, 0.2)).samples, 16_000, words, "synthesiser")
    assert cut_between(spoken, ["one", "two three"]) is None
    assert cut_between(Spoken(spoken.samples, 16_000), ["one two", "three"]) is None


@pytest.mark.weights
def test_kokoro_makes_an_item_with_a_pause_at_a_word(tmp_path: Path) -> None:
    path = write(tmp_path, [{"text": "I was wondering whether you [pause 1.2] could help."}])
    try:
        (item,) = synthesise(path, tmp_path / "out", seed=1).items
    except PluginError as error:
        pytest.skip(str(error))
    about = read(item.folder / "script.json")
    assert about["voice"]["name"] == "kokoro" and item.words == "synthesiser"
    assert all(phrase["cut_at_a_word"] for phrase in about["phrases"])


@pytest.mark.parametrize("kind", ["pipe", "folder", "silent", "noise of one bit"])
def test_a_clip_that_holds_no_voice_is_refused_and_nothing_waits(tmp_path: Path, kind: str) -> None:
    clip = tmp_path / "clip.wav"
    if kind == "pipe":
        os.mkfifo(clip)
    elif kind == "folder":
        clip.mkdir()
    else:
        bit = 0 if kind == "silent" else 1 / 32768
        audio.write(clip, np.tile(np.asarray([bit, 0], np.float32), 4_000), 8_000)
    found = synthesise(write(tmp_path, [{"text": [{"clip": "clip.wav"}]}]), tmp_path / "out", [HIBARI])
    ((_, why),) = found.failed
    assert "clip.wav: found no" in why and "expected a" in why


def test_an_interruption_comes_to_the_sample_after_resampling(tmp_path: Path) -> None:
    dialogues = [{"context": "Is it late?", "interrupt": "Never mind."}]
    found = synthesise(write(tmp_path, dialogues), tmp_path / "out", [HIBARI])
    samples, rate = audio.read(found.items[0].folder / "input.wav")
    start, end = read(found.items[0].folder / "interrupt.json")[0]["timestamp"]
    # The room's noise may lift a neighbour of the last audible sample above the line, or push it below.
    loud = np.flatnonzero(np.abs(samples) > 10 ** (AUDIBLE / 20))
    before, after = loud[loud < start * rate - 5], loud[loud >= start * rate - 5]
    assert abs(int(after[0]) - int(before[-1]) - 1 - 7 * rate) <= 3
    assert abs(int(loud[-1]) + 1 - end * rate) <= 3


def test_a_recogniser_that_cannot_be_opened_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    script = write(tmp_path, [{"text": "Is it late?"}])
    with pytest.raises(PluginError, match="has no option 'nosuch'"):
        synthesise(script, tmp_path / "out", [HIBARI], recogniser=Spec("whisper", {"nosuch": 1}))
    assert not (tmp_path / "out").exists()
