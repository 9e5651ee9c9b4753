"""Where questions come from: scripts, and recordings whose files tell where the first question ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.entries import Voice
from fullduplex.errors import InputError
from fullduplex.making.nearest_voice import pitch_of
from fullduplex.making.overlap_item import mark_of
from fullduplex.making.overlap_sources import Recorded, Talk, read_talks
from fullduplex.making.overlaps import make_overlaps, plan_overlaps
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.spec import Spec

RATE = 16_000
SHARED = Path(__file__).resolve().parents[3] / "shared"
MakeItem = Callable[..., Path]


def tone(*spans: tuple[float, float], length: float, pitch: float = 150.0) -> Any:
    """Return a buzz that sounds in ``spans``, with a voice's many harmonics."""
    time = np.arange(round(length * RATE)) / RATE
    buzz = sum(np.sin(2 * np.pi * n * pitch * time) / n for n in range(1, 9)) * 0.05
    sounds = np.zeros(len(time), bool)
    for start, end in spans:
        sounds |= (time >= start) & (time < end)
    return (buzz * sounds).astype(np.float32)


def words(*said: tuple[str, float, float]) -> dict[str, Any]:
    return {"text": " ".join(w[0] for w in said), "chunks": [{"text": t, "timestamp": [a, b]} for t, a, b in said]}


@pytest.fixture
def item(tmp_path: Path) -> MakeItem:
    """Make an item: sounds by their stem, JSON files by name with ``_json`` after it."""

    def make(name: str, **files: Any) -> Path:
        folder = tmp_path / "in" / name
        folder.mkdir(parents=True, exist_ok=True)
        for stem, value in files.items():
            if stem.endswith("_json"):
                (folder / f"{stem.removesuffix('_json')}.json").write_text(json.dumps(value))
            else:
                audio.write(folder / f"{stem}.wav", value, RATE)
        return folder

    return make


def talk_of(root: Path) -> Talk:
    (talk,) = read_talks(root, "en").talks
    return talk


def question_of(root: Path) -> Recorded:
    question = talk_of(root).question
    assert isinstance(question, Recorded)
    return question


INTERRUPT = [{"context": "Is it late?", "interrupt": "Never mind.", "timestamp": [8.0, 9.0]}]


def test_an_interruption_item_gives_its_context_and_its_interruption(item: MakeItem, tmp_path: Path) -> None:
    folder = item(
        "synthetic_user_interruption/7",
        input=tone((0, 1), (8, 9), length=12),
        context=tone((0, 1), length=1),
        interrupt=tone((0, 1), length=1),
        interrupt_json=INTERRUPT,
    )
    talk = talk_of(tmp_path / "in")
    assert (talk.dataset, talk.id, talk.name) == ("synthetic_user_interruption", "7", "7")
    assert talk.question == Recorded(Voice(folder / "context.wav"), None, "Is it late?")
    assert talk.interruption == Recorded(Voice(folder / "interrupt.wav"), None, "Never mind.")


def test_without_the_parts_the_whole_recording_is_cut_at_the_event(item: MakeItem, tmp_path: Path) -> None:
    folder = item("synthetic_user_interruption/7", input=tone((0, 1), (8, 9), length=12), interrupt_json=INTERRUPT)
    talk = talk_of(tmp_path / "in")
    assert talk.question == Recorded(Voice(folder / "input.wav"), Span(0, seconds(8)), "Is it late?")
    assert talk.interruption == Recorded(Voice(folder / "input.wav"), Span(seconds(8), seconds(9)), "Never mind.")


def test_words_that_are_there_come_along_and_a_word_belongs_where_its_middle_is(item: MakeItem, tmp_path: Path) -> None:
    said = words(("Is", 0.1, 0.3), ("it", 0.4, 0.5), ("late?", 0.6, 1.0), ("Never", 7.95, 8.4), ("mind.", 8.5, 9.0))
    sound = tone((0, 1), (8, 9), length=12)
    item("synthetic_user_interruption/7", input=sound, interrupt_json=INTERRUPT, input_json=said)
    talk = talk_of(tmp_path / "in")
    assert isinstance(talk.question, Recorded) and isinstance(talk.interruption, Recorded)
    assert [word.text for word in talk.question.words or ()] == ["Is", "it", "late?"]
    assert talk.question.span == Span(0, seconds(1.2))
    assert [word.span for word in talk.interruption.words or ()] == [
        Span(seconds(8), seconds(8.4)),
        Span(seconds(8.5), seconds(9)),
    ]


def test_a_turn_ends_where_it_is_annotated(item: MakeItem, tmp_path: Path) -> None:
    item(
        "candor_turn_taking/1",
        input=tone((0, 2), length=7),
        turn_taking_json=[{"text": "[TURN-TAKING]", "timestamp": [2.0, 2.4]}],
    )
    assert question_of(tmp_path / "in").span == Span(0, seconds(2))


def test_a_first_turn_is_words_at_most_two_seconds_apart(item: MakeItem, tmp_path: Path) -> None:
    said = words(("So", 0.5, 1.0), ("well", 3.0, 3.5), ("then", 5.500001, 6.0))
    item("plain/1", input=tone((0.5, 6), length=8), input_json=said)
    question = question_of(tmp_path / "in")
    assert question.text == "So well" and question.span == Span(seconds(0.3), seconds(3.7))
    assert question.words_from == "recorded"


def test_a_transcription_of_one_speaker_will_do_and_of_two_will_not(item: MakeItem, tmp_path: Path) -> None:
    chunks = words(("So", 0.5, 1.0))["chunks"]
    item("plain/1", input=tone((0.5, 1), length=3), transcription_json=[{"speaker": 0, "item": chunks}])
    item(
        "plain/2",
        input=tone((0.5, 1), length=3),
        transcription_json=[{"speaker": 0, "item": chunks}, {"speaker": 1, "item": chunks}],
    )
    found = read_talks(tmp_path / "in", "en")
    assert [talk.id for talk in found.talks] == ["1"]
    ((name, why),) = found.left_out
    assert name.endswith("/2") and "nothing tells where the first turn ends" in why


def test_interruptions_come_first_and_names_differ(item: MakeItem, tmp_path: Path) -> None:
    said = {"input": tone((0, 1), (8, 9), length=12)}
    item("a_turn_taking/1", **said, turn_taking_json=[{"text": "", "timestamp": [1.0, 1.0]}])
    item("user_interruption/1", **said, interrupt_json=INTERRUPT)
    assert [talk.name for talk in read_talks(tmp_path / "in", "en").talks] == ["1", "smooth_turn_taking-1"]


def test_a_file_that_cannot_be_read_leaves_its_item_out(item: MakeItem, tmp_path: Path) -> None:
    item("user_interruption/1", input=tone((0, 1), length=9), interrupt_json=INTERRUPT)
    item("user_interruption/2", input=tone((0, 1), length=9), interrupt_json=[{"timestamp": "soon"}])
    found = read_talks(tmp_path / "in", "en")
    assert len(found.talks) == 1 and "interrupt.json" in found.left_out[0][1]


def test_a_source_without_a_question_is_refused_in_a_sentence(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", input=tone((0, 1), length=2), pause_json=[{"text": "", "timestamp": [0.2, 0.4]}])
    with pytest.raises(InputError, match="nothing tells where the first turn ends"):
        read_talks(tmp_path / "in", "en")
    with pytest.raises(InputError, match="nowhere"):
        read_talks(tmp_path / "nowhere", "en")
    (tmp_path / "fr.json").write_text(json.dumps([{"text": "Bonjour.", "language": "fr"}]))
    with pytest.raises(InputError, match="no dialogue in en"):
        read_talks(tmp_path / "fr.json", "en")


def test_a_made_item_names_its_voice_and_no_file_or_server(item: MakeItem, tmp_path: Path) -> None:
    folder = item("user_interruption/1", input=tone((0, 1), length=9), interrupt_json=INTERRUPT)
    for voice, expected in (
        ({"name": "hibari", "options": {"pitch": 0.9}}, Spec("hibari", {"pitch": 0.9})),
        ({"name": "openai", "options": {"url": "http://10.0.0.1"}}, None),
        ({"name": "piper", "options": {"model": "/etc/passwd"}}, None),
        ({"name": "hibari", "options": {"pitch": {"a": 1}}}, None),
        ({"name": ["hibari"], "options": {}}, None),
        ("hibari", None),
    ):
        (folder / "script.json").write_text(json.dumps({"voice": voice}))
        assert talk_of(tmp_path / "in").spoken_by == expected


def test_an_item_of_a_corpus_hands_on_its_licence_and_where_the_corpus_is(item: MakeItem, tmp_path: Path) -> None:
    script = {"made_for": "harvest", "licence": "CC BY-NC 4.0", "where": "https://corpus.example", "turns": {}}
    turn = [{"text": "[TURN-TAKING]", "timestamp": [1.0, 1.2]}]
    item("smooth_turn_taking/1", input=tone((0.1, 1.0), length=4), turn_taking_json=turn, script_json=script)
    talk = talk_of(tmp_path / "in")
    assert talk.rights == {"licence": "CC BY-NC 4.0", "where": "https://corpus.example"}
    plan = plan_overlaps(tmp_path / "in", tmp_path / "out", [Spec("hibari"), Spec("pico")], kinds=["background_speech"],
                         recogniser=None)  # fmt: skip
    (task,) = plan.tasks
    assert mark_of(task) != mark_of(replace(task, talk=replace(talk, rights={})))


def made_of(root: Path, out: Path, *kinds: str) -> Any:
    return make_overlaps(plan_overlaps(root, out, [Spec("hibari"), Spec("hibari", {"pitch": 0.7})], kinds=kinds), out)


def test_recordings_alone_need_no_voice_and_keep_their_edges(item: MakeItem, tmp_path: Path) -> None:
    folder = item("user_interruption/1", input=tone((0, 1), (8, 8.9), length=12), interrupt_json=INTERRUPT)
    made = make_overlaps(
        plan_overlaps(tmp_path / "in", tmp_path / "out", [Spec("nobody")], kinds=["user_interruption"]),
        tmp_path / "out",
    )
    about = json.loads((made.items[0].folder / "metadata.json").read_text())
    assert about["timestamps"] == pytest.approx([5.0, 5.9], abs=0.002)
    assert folder.is_dir() and not made.items[0].placed


@pytest.mark.parametrize(("pitch", "voice"), [(190.0, 1.0), (120.0, 0.7)])
def test_the_nearest_voice_speaks_for_a_recorded_user_and_the_item_says_so(
    item: MakeItem, tmp_path: Path, pitch: float, voice: float
) -> None:
    pytest.importorskip("hibari", reason="hibari-tts is not installed")
    item("user_interruption/1", input=tone((0, 1), (8, 9), length=12, pitch=pitch), interrupt_json=INTERRUPT)
    made = made_of(tmp_path / "in", tmp_path / "out", "user_backchannel", "background_speech")
    near, far = (json.loads((one.folder / "script.json").read_text())["event"] for one in made.items)
    assert near["voice"]["options"]["pitch"] == voice and near["own_voice"] is False
    assert far["voice"]["options"]["pitch"] != voice and far["own_voice"] is None


def test_a_silent_or_broken_recording_fails_in_a_sentence(item: MakeItem, tmp_path: Path) -> None:
    item("user_interruption/1", input=tone(length=12), interrupt_json=INTERRUPT)
    folder = item("user_interruption/2", input=tone((0, 1), length=12), interrupt_json=INTERRUPT)
    whole = (folder / "input.wav").read_bytes()
    found = read_talks(tmp_path / "in", "en")
    assert len(found.talks) == 2
    plan = plan_overlaps(tmp_path / "in", tmp_path / "out", kinds=["user_interruption"])
    (folder / "input.wav").write_bytes(whole[: len(whole) // 2])
    made = make_overlaps(plan, tmp_path / "out")
    assert not made.items and [name for name, _ in made.failed] == ["user_interruption/1", "user_interruption/2"]
    assert "expected a voice" in made.failed[0][1] and "input.wav" in made.failed[1][1]
    assert list((tmp_path / "out" / "user_interruption").iterdir()) == []


@pytest.mark.parametrize("out", ["in", "in/made", "in/../in"])
def test_items_are_not_made_among_what_is_read(item: MakeItem, tmp_path: Path, out: str) -> None:
    item("user_interruption/1", input=tone((0, 1), length=9), interrupt_json=INTERRUPT)
    with pytest.raises(InputError, match="outside the source"):
        plan_overlaps(tmp_path / "in", tmp_path / out, kinds=["user_interruption"])
    with pytest.raises(InputError, match="outside the source"):
        plan_overlaps(tmp_path / "in" / "user_interruption", tmp_path / "in", kinds=["user_interruption"])


def test_the_pitch_of_a_voice_is_found_and_of_noise_is_not() -> None:
    for pitch in (80.0, 150.0, 300.0):
        assert pitch_of(tone((0, 1), length=1, pitch=pitch), RATE) == pytest.approx(pitch, rel=0.02)
    noise = 0.1 * np.random.default_rng(0).standard_normal(RATE).astype(np.float32)
    assert pitch_of(noise, RATE) is None and pitch_of(noise[:100], RATE) is None
    assert pitch_of(np.zeros(RATE, np.float32), RATE) is None


def test_the_official_example_becomes_an_item_of_its_own_recordings(tmp_path: Path) -> None:
    source = SHARED / "data" / "fdb_official" / "example_data"
    if not source.is_dir():
        pytest.skip("the shared recordings are not here")
    made = make_overlaps(plan_overlaps(source, tmp_path, kinds=["user_interruption"]), tmp_path)
    (item,) = made.items
    about = json.loads((item.folder / "metadata.json").read_text())
    assert about["context_text"].startswith("Could you suggest") and about["current_turn_text"].startswith(
        "Can we talk"
    )
    question = json.loads((item.folder / "script.json").read_text())["question"]
    assert seconds(about["timestamps"][0]) - seconds(question["timestamp"][1]) == pytest.approx(seconds(4), abs=ms(1))
    heard, _ = audio.read(source / "user_interruption_example/1/input.wav")
    kept, _ = audio.read(item.folder / "clean_input.wav")
    size = int(3 * RATE)
    first = int(np.flatnonzero(np.abs(heard) > 0.003)[0])
    found = np.corrcoef(heard[first : first + size], kept[:size])[0, 1]
    assert found > 0.98
