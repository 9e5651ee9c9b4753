"""Questions become overlap items: something is said over the answer, at a known time, as loud as it was meant."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.check import check
from fullduplex.data.discover import open_dataset
from fullduplex.data.fdb_folder import load_trial
from fullduplex.data.official import V15_SETS
from fullduplex.engines import each, open_engine
from fullduplex.errors import InputError, PluginError
from fullduplex.listening.recognisers import Heard
from fullduplex.making.effects.sound import speech_level
from fullduplex.making.overlaps import Overlaps, Plan, make_overlaps, plan_overlaps
from fullduplex.making.script_file import shipped
from fullduplex.making.speaking import with_words_heard
from fullduplex.making.synthesis import synthesise
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token, Word
from fullduplex.providers.voices import AUDIBLE, Spoken

POOL = [Spec("hibari"), Spec("hibari", {"pitch": 0.85})]
PICO = Spec("pico", {"language": "en-GB"})
SCRIPT = [
    {"id": "0", "context": "How do bees make honey?", "interrupt": "Wait, do wasps make it too?"},
    {"id": "../../x <b>\x07", "text": "I was wondering [pause 0.8] whether it will rain.", "dataset": "my_pauses"},
]
LINES = {
    "user_backchannel": ["I see."],
    "talking_to_other": ["Put the parcel next to the stairs."],
    "background_speech": ["Fresh strawberries, two boxes for the price of one!"],
}
pytest.importorskip("hibari", reason="hibari-tts is not installed")


def write(folder: Path, value: Any, name: str = "talks.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def make(source: Path, out: Path, *voices: Spec, **given: Any) -> Overlaps:
    return make_overlaps(plan_overlaps(source, out, voices or POOL, **given), out)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Overlaps]:
    folder = tmp_path_factory.mktemp("overlaps")
    lines = write(folder, LINES, "lines.json")
    return folder / "out", make(write(folder, SCRIPT), folder / "out", lines=lines)


def folders(made: tuple[Path, Overlaps]) -> list[Path]:
    return [item.folder for item in made[1].items]


def test_the_tree_reads_as_the_four_sets_of_v15(made: tuple[Path, Overlaps]) -> None:
    dataset = open_dataset(made[0])
    assert [(e.dataset, e.task) for e in dataset.entries] == [
        (kind, kind) for kind, count in zip(V15_SETS, (1, 2, 2, 2), strict=True) for _ in range(count)
    ]
    trials = [load_trial(entry) for entry in dataset.entries]
    assert not [trial.failed for trial in trials if trial.failed]
    assert {trial.events[0].kind for trial in trials} == {"overlap"}
    assert {trial.events[0].text for trial in trials} == {SCRIPT[0]["interrupt"], *(one[0] for one in LINES.values())}
    assert not made[1].failed and len(made[1].items) == 7


def test_check_finds_nothing_wrong_with_items_that_wait_for_a_system(made: tuple[Path, Overlaps]) -> None:
    found = check(open_dataset(made[0]))
    assert [finding for level in ("error", "odd") for finding in found.of(level)] == []


def test_the_clean_twin_is_the_same_but_for_the_event_and_its_reflections(made: tuple[Path, Overlaps]) -> None:
    tails = {"talking_to_other": ms(120), "background_speech": ms(100)}
    for folder in folders(made):
        (with_it, rate), (clean, _) = (audio.read(folder / f"{name}.wav") for name in ("input", "clean_input"))
        start, end = (seconds(time) for time in read(folder / "metadata.json")["timestamps"])
        assert len(with_it) == len(clean)
        differ = np.flatnonzero(with_it != clean) * SECOND // rate
        assert differ[0] >= start and differ[0] < start + ms(20)
        assert end - ms(20) < differ[-1] - tails.get(folder.parent.name, 0) <= end


def test_the_event_is_four_seconds_after_the_question_and_fifteen_follow(made: tuple[Path, Overlaps]) -> None:
    for folder in folders(made):
        clean, rate = audio.read(folder / "clean_input.wav")
        asked = int(np.flatnonzero(np.abs(clean) > 10 ** (AUDIBLE / 20))[-1]) * SECOND // rate
        start, end = (seconds(time) for time in read(folder / "metadata.json")["timestamps"])
        assert abs(start - asked - seconds(4)) < ms(15)
        assert abs(audio.probe(folder / "input.wav").duration - end - seconds(15)) < ms(1)


def test_the_levels_are_those_of_the_publication(made: tuple[Path, Overlaps]) -> None:
    # The reflections add to the direct sound, and what a room takes off the treble takes from it: within 1.2 dB.
    asked = dict(zip(V15_SETS, (0, 0, -8, -15), strict=True))
    for folder in folders(made):
        (with_it, rate), (clean, _) = (audio.read(folder / f"{name}.wav") for name in ("input", "clean_input"))
        start, end = (round(time * rate) for time in read(folder / "metadata.json")["timestamps"])
        alone = speech_level((with_it - clean)[start:end], rate)
        level = 20 * np.log10(alone / speech_level(clean[: start - rate], rate))
        assert abs(level - asked[folder.parent.name]) < 1.2
        told = read(folder / "script.json")["event"]["level"]
        assert told["asked_db"] == asked[folder.parent.name] and abs(told["heard_db"] - level) < 0.1


def test_side_talk_and_background_are_in_the_rooms_of_the_publication(made: tuple[Path, Overlaps]) -> None:
    effects = {folder.parent.name: read(folder / "script.json")["event"]["effect"] for folder in folders(made)}
    assert effects["user_interruption"] is None and effects["user_backchannel"] is None
    side, far = effects["talking_to_other"], effects["background_speech"]
    assert (side["shelf"], side["shelf_from"], side["reflections"]) == (-5, 4000, [[0.045, -6], [0.12, -12]])
    assert (far["low_pass"], far["reflections"]) == (3000, [[0.1, -10]])


def test_words_are_exact_in_order_and_the_clean_ones_are_the_question(made: tuple[Path, Overlaps]) -> None:
    for folder in folders(made):
        about = read(folder / "metadata.json")
        said, clean = (read(folder / f"{name}.json") for name in ("input", "clean_input"))
        assert clean["text"] == about["context_text"]
        assert said["text"] == f"{about['context_text']} {about['current_turn_text']}"
        assert said["chunks"][: len(clean["chunks"])] == clean["chunks"]
        assert all(a["timestamp"][1] <= b["timestamp"][0] for a, b in pairwise(said["chunks"]))
        over = said["chunks"][len(clean["chunks"]) :]
        start, end = about["timestamps"]
        assert start <= over[0]["timestamp"][0] and over[-1]["timestamp"][1] <= end
        assert read(folder / "script.json")["event"]["words_from"] == "synthesiser"


def test_the_user_keeps_the_own_voice_and_another_is_in_the_background(made: tuple[Path, Overlaps]) -> None:
    for item in made[1].items:
        about = read(item.folder / "script.json")
        same = about["question"]["voice"] == about["event"]["voice"]
        assert same is (item.kind != "background_speech")
        assert item.own_voice is (True if same else None)


def test_a_hostile_name_stays_inside_the_folder(made: tuple[Path, Overlaps]) -> None:
    assert {item.folder.parent.parent for item in made[1].items} == {made[0]}
    assert all(item.folder.name.isprintable() and "/" not in item.folder.name for item in made[1].items)
    assert sorted(path.name for path in made[0].parent.iterdir()) == ["lines.json", "out", "talks.json"]


def test_nothing_of_this_machine_is_written(made: tuple[Path, Overlaps]) -> None:
    for path in made[0].rglob("*.json"):
        assert str(made[0].parent) not in path.read_text()


def test_what_is_there_is_kept_and_what_changed_is_made_again(tmp_path: Path) -> None:
    script, lines = write(tmp_path, SCRIPT), write(tmp_path, {"user_backchannel": ["I see."]}, "lines.json")
    given: dict[str, Any] = {"kinds": ["user_backchannel"], "lines": lines}
    make(script, tmp_path / "out", **given)
    before = (tmp_path / "out" / "user_backchannel" / "0" / "input.wav").read_bytes()
    plan = plan_overlaps(script, tmp_path / "out", POOL, **given)
    assert plan.counts() == {"user_backchannel": {"items": 2, "there": 2}}
    (tmp_path / "out" / "user_backchannel" / "0" / "input.wav").unlink()
    assert [item.kept for item in make(script, tmp_path / "out", **given).items] == [False, True]
    assert (tmp_path / "out" / "user_backchannel" / "0" / "input.wav").read_bytes() == before
    assert not any(item.kept for item in make(script, tmp_path / "out", after=seconds(2), **given).items)
    write(tmp_path, {"user_backchannel": ["Go on."]}, "lines.json")
    assert not any(item.kept for item in make(script, tmp_path / "out", after=seconds(2), **given).items)


def test_processes_make_the_same_bytes(made: tuple[Path, Overlaps], tmp_path: Path) -> None:
    lines = write(tmp_path, LINES, "lines.json")
    plan = plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", POOL, lines=lines, limit=1)
    with open_engine("processes:2") as opened:
        assert not make_overlaps(plan, tmp_path / "out", each=partial(each, opened)).failed
    for folder in (folder for folder in folders(made) if folder.name == "0"):
        other = tmp_path / "out" / folder.relative_to(made[0])
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == {p.name: p.read_bytes() for p in other.iterdir()}


def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    plan = plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", POOL)
    assert {kind: count["items"] for kind, count in plan.counts().items()} == dict(
        zip(V15_SETS, (1, 2, 2, 2), strict=True)
    )
    assert not (tmp_path / "out").exists()


def test_the_shipped_dialogues_give_as_many_as_the_published_sets_in_many_voices(tmp_path: Path) -> None:
    plan = plan_overlaps(shipped(), tmp_path / "out")
    kinds = [task.kind for task in plan.tasks]
    assert {kind: kinds.count(kind) for kind in V15_SETS} == dict(zip(V15_SETS, (200, 99, 100, 100), strict=True))
    assert [task.talk.name for task in plan.tasks][:200] == [str(number) for number in range(200)]
    assert len({spec.digest for spec in plan.tasks[0].voices}) == 10
    for kind in V15_SETS[1:]:
        lines = [task.line.text for task in plan.tasks if task.kind == kind and task.line]
        assert len(set(lines)) == len(lines)


def test_a_question_meets_the_same_line_whatever_the_limit(tmp_path: Path) -> None:
    def lines(plan: Plan) -> list[str]:
        return [task.line.text for task in plan.tasks if task.line]

    few = plan_overlaps(shipped(), tmp_path, POOL, kinds=["talking_to_other"], limit=3)
    more = plan_overlaps(shipped(), tmp_path, POOL, kinds=["talking_to_other"], limit=120)
    assert lines(more)[:3] == lines(few) and len(lines(more)) == 120 and len(set(lines(more))) == 100
    other = plan_overlaps(shipped(), tmp_path, POOL, kinds=["talking_to_other"], limit=3, seed=1)
    assert lines(other) != lines(few)


def test_a_voice_without_words_writes_none_and_says_so(tmp_path: Path) -> None:
    pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")
    found = make(write(tmp_path, SCRIPT[:1]), tmp_path / "out", PICO, kinds=["user_backchannel"])
    (item,) = found.items
    assert not item.placed and not (item.folder / "input.json").exists()
    assert read(item.folder / "script.json")["event"]["words"] is None


def test_a_line_may_be_a_recording(tmp_path: Path) -> None:
    time = np.arange(8_000) / 16_000
    audio.write(tmp_path / "mm.wav", 0.1 * np.sin(2 * np.pi * 120 * time), 16_000)
    lines = write(tmp_path, {"user_backchannel": [{"text": "Mm.", "clip": "mm.wav"}]}, "lines.json")
    found = make(write(tmp_path, SCRIPT[:1]), tmp_path / "out", kinds=["user_backchannel"], lines=lines)
    about = read(found.items[0].folder / "script.json")["event"]
    assert about["time_from"] == "recording" and about["voice"] is None and found.items[0].own_voice is None
    assert abs(about["timestamp"][1] - about["timestamp"][0] - 0.5) < 0.002


def test_an_item_that_cannot_be_made_fails_alone_in_a_sentence(tmp_path: Path) -> None:
    script = write(tmp_path, [SCRIPT[0], {"id": "1", "text": "Где музей?", "dataset": "turn_taking"}])
    found = make(script, tmp_path / "out", kinds=["user_backchannel"])
    assert [item.id for item in found.items] == ["0"]
    ((name, why),) = found.failed
    assert name == "user_backchannel/1" and "Latin letters" in why and "\n" not in why
    assert read(tmp_path / "out" / "overlaps.json")["failed"] == [{"item": name, "error": why}]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "out" / "user_backchannel" / "0"
    mine.mkdir(parents=True)
    (mine / "input.wav").write_bytes(b"precious")
    ((_, why),) = make(write(tmp_path, SCRIPT[:1]), tmp_path / "out", kinds=["user_backchannel"]).failed
    assert "did not make" in why and (mine / "input.wav").read_bytes() == b"precious"
    write(tmp_path / "out", {"mine": 1}, "overlaps.json")
    with pytest.raises(InputError, match="did not write"):
        make(tmp_path / "talks.json", tmp_path / "out", kinds=["user_backchannel"])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kinds": ["pause_handling"]}, "pause_handling"),
        ({"kinds": []}, "--task: found none"),
        ({"after": -1}, "--after"),
        ({"tail": seconds(601)}, "--tail: found 601"),
        ({"limit": 0}, "--limit"),
        ({"seed": -1}, "--seed"),
        ({"rate": 100}, "--rate"),
        ({"language": "fr"}, "give a file of your own with --lines"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(tmp_path: Path, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", POOL, **given)
    assert not (tmp_path / "out").exists()


def test_one_voice_cannot_be_two_people(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two or more"):
        plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", POOL[:1])
    assert plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", POOL[:1], kinds=V15_SETS[:3]).tasks
    script = write(tmp_path, [{**SCRIPT[0], "voice": "hibari"}])
    pair = [POOL[0], Spec("hibari", {"speed": 1.0})]
    ((_, why),) = make(script, tmp_path / "out", *pair, kinds=["background_speech"]).failed
    assert "a second voice" in why


def test_a_voice_that_is_not_there_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="no_such_voice"):
        plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", [Spec("no_such_voice")])
    with pytest.raises(PluginError, match="no_such_ears"):
        plan_overlaps(write(tmp_path, SCRIPT), tmp_path / "out", POOL, recogniser=Spec("no_such_ears"))


def test_a_recogniser_places_words_and_where_it_hears_none_there_are_none() -> None:
    class Ears:
        spec, languages = Spec("ears"), ("en",)

        def __init__(self, *tokens: Token) -> None:
            self.tokens = tokens

        def recognise(self, samples: Any, rate: int, language: str = "en") -> Heard:
            return Heard(self.tokens)

    spoken = Spoken(np.ones(16_000, np.float32), 16_000)
    heard = with_words_heard(spoken, "I see.", Ears(Token("aye", 0.1, 0.3), Token("sea", 0.4, 2.0)), "en")
    assert heard.words_from == "recogniser ears"
    assert heard.words == (Word("I", Span(ms(100), ms(300))), Word("see.", Span(ms(400), ms(1000))))
    other = with_words_heard(spoken, "I see.", Ears(Token("icy", 0.1, 0.3)), "en")
    assert other.words == (Word("icy", Span(ms(100), ms(300))),)
    assert with_words_heard(spoken, "I see.", Ears(), "en") == spoken


def test_the_command_makes_and_counts(tmp_path: Path) -> None:
    script = write(tmp_path, SCRIPT)
    line = [sys.executable, "-c", "import fullduplex.cli.overlaps as c; c.main()", "overlaps", str(script)]
    line += ["--out", str(tmp_path / "out"), "--voice", "hibari", "--task", "user_backchannel", "--engine", "here"]

    def run(*more: str) -> Any:
        return subprocess.run([*line, *more], capture_output=True, text=True, timeout=120)

    counted = run("--dry-run")
    assert (counted.returncode, counted.stdout) == (0, "user_backchannel: 2 items\n")
    assert not (tmp_path / "out").exists()
    told = run("--json")
    assert told.returncode == 0 and json.loads(told.stdout)["items"] == {"user_backchannel": 2}
    wrong = run("--voice", "nobody")
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1 and "nobody" in wrong.stderr


def test_items_of_synth_give_the_same_as_their_script(tmp_path: Path) -> None:
    script = write(tmp_path, SCRIPT[:1])
    synthesise(script, tmp_path / "v1", POOL)
    kinds = ["user_interruption", "talking_to_other"]
    direct = make(script, tmp_path / "a", kinds=kinds, limit=1)
    through = make(tmp_path / "v1", tmp_path / "b", kinds=kinds, limit=1)
    for one, other in zip(direct.items, through.items, strict=True):
        assert (one.id, one.own_voice) == (other.id, other.own_voice) == ("0", True)
        a, b = (read(item.folder / "metadata.json") for item in (one, other))
        assert a["context_text"] == b["context_text"] and a["current_turn_text"] == b["current_turn_text"]
        assert a["timestamps"] == pytest.approx(b["timestamps"], abs=0.005)
        # The words of the recording come with it: nothing has to hear them again.
        assert other.placed
        words = [read(item.folder / "input.json")["chunks"] for item in (one, other)]
        for word, same in zip(*words, strict=True):
            assert word["text"] == same["text"] and word["timestamp"] == pytest.approx(same["timestamp"], abs=0.005)
