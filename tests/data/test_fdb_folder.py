from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullduplex.data.dataset import Entry, open_dataset
from fullduplex.data.fdb_folder import load_trial, write_item
from fullduplex.model.items import Event, Item
from fullduplex.model.sketch import sketch
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.speech import Token, Track, Word
from fullduplex.model.trials import Trial, Verdict

MakeItem = Callable[..., Path]
SOUND = np.full(16_000, 0.1, np.float32)
PAUSE = [{"text": "[PAUSE]", "timestamp": [1, 2]}]


def chunks(*said: tuple[str, float | None, float | None]) -> dict[str, object]:
    return {"text": "", "chunks": [{"text": text, "timestamp": [start, end]} for text, start, end in said]}


def load(folder: Path, task: str | None = None, offset: int = 0) -> Trial:
    (entry,) = open_dataset(folder, task=task, offset=offset).entries
    return load_trial(entry)


def test_a_trial_holds_what_the_files_say(item: MakeItem) -> None:
    folder = item("pauses/1", input=SOUND, output=SOUND[:8000], pause=PAUSE)
    item("pauses/1", output=chunks((" hi", 0.1, 0.4)))
    trial = load(folder)
    assert trial.system.tokens == (Token(" hi", 0.1, 0.4),)
    assert trial.system.words == (Word("hi", Span(ms(100), ms(400))),)
    assert trial.system.words_from == "recorded"
    assert (trial.user.duration, trial.system.duration) == (seconds(1), ms(500))
    assert trial.events == (Event("pause", Span(seconds(1), seconds(2))),) == trial.item.events
    assert (trial.missing, trial.failed) == ((), "")


def test_silence_is_no_words_and_a_missing_transcript_is_none(item: MakeItem) -> None:
    assert load(item("pauses/1", output=chunks())).system.words == ()
    trial = load(item("pauses/2", output=SOUND))
    assert trial.system.words is None and trial.system.tokens is None
    assert trial.missing == ("input.wav", "pause.json", "output.json")


@pytest.mark.parametrize(
    ("stem", "content", "sentence"),
    [
        ("output", {"text": "uh-huh"}, "expected an object with 'chunks'"),
        ("input", "{", "expected JSON"),
        ("pause", [{"timestamp": [2, 1]}], "with the start before the end"),
        ("rating", {}, "expected an object with 'rating'"),
        ("content_tag", {"behaviour": []}, "expected a list with a label"),
    ],
)
def test_a_bad_file_fails_its_trial_with_a_sentence_and_leaves_the_rest(
    item: MakeItem, stem: str, content: object, sentence: str
) -> None:
    trial = load(item("pauses/1", **{"pause": PAUSE, "output": chunks(("a", 0, 1)), stem: content}))
    assert sentence in trial.failed and f"{stem}.json" in trial.failed
    assert (trial.system.words is None) == (stem == "output")


def test_broken_audio_fails_its_trial(item: MakeItem) -> None:
    folder = item("pauses/1", output=SOUND)
    (folder / "output.wav").write_bytes((folder / "output.wav").read_bytes()[:-100])
    assert "truncated audio" in load(folder).failed


def test_a_file_that_vanished_fails_its_trial(tmp_path: Path) -> None:
    trial = load_trial(Entry("1", "backchannel", files={"output.json": tmp_path / "gone.json"}))
    assert "No such file" in trial.failed


def test_an_odd_transcription_fails_nothing(item: MakeItem) -> None:
    trial = load(item("pauses/1", pause=PAUSE, output=chunks(), transcription={"shape": "unknown"}))
    assert trial.failed == "" and "chunks" in trial.item.reference["transcription_unread"]


def test_an_events_file_of_another_task_is_not_read(item: MakeItem) -> None:
    trial = load(item("pauses/1", pause=PAUSE, output=chunks(), metadata={"of": "another benchmark"}))
    assert trial.failed == "" and [e.kind for e in trial.events] == ["pause"]


def test_the_user_of_a_turn_is_the_speaker_who_ends_it(item: MakeItem) -> None:
    folder = item(
        "turn_taking/1",
        output=chunks(),
        turn_taking=[{"text": "", "timestamp": [2.0, 2.4]}],
        transcription=[
            {"speaker": 0, "item": [{"text": "No", "timestamp": [2.4, 2.9]}]},
            {"speaker": 1, "item": [{"text": "Sure?", "timestamp": [1.0, 2.0]}]},
        ],
    )
    trial = load(folder)
    assert trial.user.words == (Word("Sure?", Span(seconds(1), seconds(2))),)
    assert trial.user.words_from == "reference"


def test_a_transcription_that_does_not_tell_the_user_gives_no_words(item: MakeItem) -> None:
    folder = item(
        "turn_taking/1",
        output=chunks(),
        turn_taking=[{"text": "", "timestamp": [2.0, 2.4]}],
        transcription=[{"speaker": 0, "item": [{"text": "No", "timestamp": [1.0, 2.0]}]}],
    )
    assert load(folder).user.words is None


def test_an_interruption_keeps_its_context_and_its_rating(item: MakeItem) -> None:
    told = [{"context": "Books?", "interrupt": "No, films.", "timestamp": [4, 6]}]
    trial = load(item("x_interruption/1", output=chunks(), interrupt=told, rating={"analysis": "Fine.", "rating": 4}))
    assert trial.item.reference["context"] == "Books?"
    rating = trial.verdicts["rating"]
    assert isinstance(rating, Verdict) and rating.value == 4


def test_without_an_offset_the_files_very_floats_are_kept(item: MakeItem) -> None:
    folder = item("pauses/1", output=chunks(("a", 1.9, 2.0100000000000016)))
    assert load(folder).system.tokens == (Token("a", 1.9, 2.0100000000000016),)
    assert load(folder, offset=seconds(1)).system.words == (Word("a", Span(ms(2900), ms(3010))),)


# -- writing


def test_a_drawn_trial_is_written_and_read_back(tmp_path: Path) -> None:
    drawn = sketch("""
        user    aabb......cc
        system  ......dd....
        pause   ....^^^^^^..
    """)
    write_item(tmp_path / "pauses/1", drawn)
    back = load(tmp_path / "pauses/1")
    assert back.system.words == drawn.system.words and back.user.words == drawn.user.words
    assert back.events == drawn.events


TEXTS = st.text(max_size=8)
TIMES = st.floats(0, 1000)
TOKENS = st.lists(st.builds(Token, TEXTS, st.none() | TIMES, st.none() | TIMES), max_size=6).map(tuple)
SPANS = st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)).map(lambda at: Span(at[0], at[0] + at[1]))
EVENTS = {
    "pause_handling": st.lists(st.builds(Event, st.just("pause"), SPANS), max_size=3),
    "smooth_turn_taking": st.lists(st.builds(Event, st.just("turn_end"), SPANS), max_size=3),
    "user_interruption": st.lists(st.builds(Event, st.just("interruption"), SPANS, TEXTS), max_size=3),
    "background_speech": st.lists(st.builds(Event, st.just("overlap"), SPANS, TEXTS), max_size=1),
}


@pytest.mark.parametrize("task", sorted(EVENTS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read_back(task: str, data: st.DataObject) -> None:
    tokens, user_tokens = data.draw(TOKENS), data.draw(TOKENS)
    events = tuple(data.draw(EVENTS[task]))
    rating = Verdict(float(data.draw(st.integers(0, 5))), reason=data.draw(TEXTS))
    trial = Trial(
        Item("1", events=events, reference={"context": data.draw(TEXTS)}),
        user=Track(tokens=user_tokens),
        system=Track(tokens=tokens),
        events=events,
        verdicts={"rating": rating, "behaviour": Verdict("C_RESUME", ("C_RESUME",))},
    )
    with tempfile.TemporaryDirectory() as folder:
        write_item(Path(folder) / "1", trial)
        back = load(Path(folder) / "1", task=task)
    assert back.failed == ""
    assert (back.system.tokens, back.user.tokens, back.events) == (tokens, user_tokens, events)
    assert isinstance(back.verdicts["rating"], Verdict) and isinstance(back.verdicts["behaviour"], Verdict)
    assert (back.verdicts["rating"].value, back.verdicts["rating"].reason) == (rating.value, rating.reason)
    assert back.verdicts["behaviour"].votes == ("C_RESUME",)
    if events and task in ("user_interruption", "background_speech"):
        assert back.item.reference["context"] == trial.item.reference["context"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None)
@given(
    st.sampled_from(["output.json", "input.json", "pause.json", "rating.json", "transcription.json", "output.wav"]),
    st.binary(max_size=60)
    | st.sampled_from([b"[]", b"{}", b"null", b'{"chunks": [[]]}', b'[{"timestamp": [[], {}]}]']),
)
def test_whatever_the_files_hold_a_trial_comes_back(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        item = Path(folder) / "pauses" / "1"
        write_item(item, Trial(Item("1"), system=Track(tokens=())))
        (item / name).write_bytes(content)
        trial = load(item)
    assert isinstance(trial, Trial) and "\n" not in trial.failed


# -- real items


def test_the_official_examples_are_read(shared: Path) -> None:
    dataset = open_dataset(shared / "data/fdb_official/example_data")
    pause, turn, interruption = map(load_trial, dataset.entries)
    assert not (pause.failed or turn.failed or interruption.failed)
    assert pause.system.tokens is not None and pause.system.tokens[0] == Token(" A", 0.0, 1.64)
    assert (pause.user.duration, pause.system.duration) == (seconds(4.72), seconds(4.70))
    assert turn.events[0].span.start == seconds(2.01)
    assert turn.user.words is not None and " ".join(w.text for w in turn.user.words).startswith("Is this your first")
    rating = interruption.verdicts["rating"]
    assert interruption.events[0].span.end == seconds(13.144)
    assert isinstance(rating, Verdict) and rating.value == 4


def test_only_the_known_bad_case_fails(shared: Path) -> None:
    dataset = open_dataset(shared / "cases/full-duplex-bench")
    assert [entry.key for entry in dataset.entries if load_trial(entry).failed] == ["pause_handling/118"]
