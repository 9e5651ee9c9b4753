"""Scripts are read whole, and what is wrong in one is said in a sentence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fullduplex.errors import InputError
from fullduplex.making.script import Phrase
from fullduplex.making.script_file import TASKS, read_script, shipped
from fullduplex.model.spans import ms, seconds


def script(folder: Path, *dialogues: Any) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps(list(dialogues)))
    return path


def test_the_shipped_script_has_the_published_numbers_of_items_and_no_sentence_twice() -> None:
    entries = read_script(shipped())
    assert Counter(entry.dataset for entry in entries) == {
        "synthetic_user_interruption": 200,
        "synthetic_pause_handling": 137,
    }
    last = [entry.dialogues["en"].turns[-1].text for entry in entries]
    assert len(set(last)) == 337
    contexts = {e.dialogues["en"].turns[0].text for e in entries if e.task == "user_interruption"}
    assert len(contexts) == 50


def test_at_least_twenty_of_the_shipped_pauses_are_in_french_with_equal_pauses() -> None:
    french = [entry for entry in read_script(shipped()) if "fr" in entry.dialogues]
    assert len(french) >= 20
    for entry in french:
        assert entry.dialogues["fr"].turns[0].pauses == entry.dialogues["en"].turns[0].pauses


def test_a_pause_stands_between_two_phrases(tmp_path: Path) -> None:
    (entry,) = read_script(script(tmp_path, {"text": "I was [pause 0.8] thinking [PAUSE 1.25 s] a lot."}))
    (turn,) = entry.dialogues["en"].turns
    assert [phrase.text for phrase in turn.phrases] == ["I was", "thinking", "a lot."]
    assert turn.pauses == (ms(800), ms(1250)) and entry.dataset == "synthetic_pause_handling"


def test_the_dataset_follows_from_the_shape(tmp_path: Path) -> None:
    read = read_script(script(tmp_path, {"context": "A b?", "interrupt": "C d."}, {"id": 7, "text": "A b?"}))
    assert [(e.dataset, e.id, e.task) for e in read] == [
        ("synthetic_user_interruption", "0", "user_interruption"),
        ("synthetic_turn_taking", "7", "smooth_turn_taking"),
    ]


def test_turns_have_gaps_between_them_and_the_makers_default_is_left_open(tmp_path: Path) -> None:
    turns = {"dataset": "my_interruptions", "turns": ["A b.", "C d.", "E f."], "gaps": [2, None], "after": 3}
    (entry,) = read_script(script(tmp_path, turns))
    assert entry.dialogues["en"].gaps == (seconds(2), None) and entry.dialogues["en"].after == seconds(3)


def test_clips_and_styles_are_parts_of_a_turn(tmp_path: Path) -> None:
    said = [{"clip": "a.wav", "text": "hello"}, "[pause 1]", {"text": "again", "style": "shouted"}]
    (entry,) = read_script(script(tmp_path, {"text": said, "style": "whispered"}))
    assert entry.dialogues["en"].turns[0].phrases == (
        Phrase("hello", "a.wav", "whispered"),
        Phrase("again", "", "shouted"),
    )


def test_one_dialogue_a_line_is_a_script_too(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"text": "A b?"}\n\n{"text": "C d?"}\n')
    assert [entry.id for entry in read_script(path)] == ["0", "1"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "none of them"),
        ("hello", "a dialogue, an object"),
        ({"text": 3}, "found 3"),
        ({"text": ""}, "nothing to say"),
        ({"text": "[pause 1] a b"}, "no words before"),
        ({"text": "a b [pause 1]"}, "no words after"),
        ({"text": "a [pause 1] [pause 1] b"}, "no words before"),
        ({"text": "a [pause -1] b"}, r"found \[pause -1\]"),
        ({"text": "a [pause soon] b"}, r"\[pause SECONDS\], 0\.001 to 600"),
        ({"text": "a [pause 0.0000001] b"}, r"\[pause SECONDS\], 0\.001 to 600"),
        ({"text": "a [pause nan] b"}, r"found \[pause nan\]"),
        ({"text": "a [pause 1e9] b"}, r"found \[pause 1e9\]"),
        ({"text": "a ... [pause 1] ..."}, "words to speak"),
        ({"text": "a b", "speed": 2}, "unknown key"),
        ({"context": "a b"}, "context and interrupt"),
        ({"interrupt": "a b"}, "context and interrupt"),
        ({"text": "a b", "turns": ["c d"]}, "found text, turns"),
        ({"text": "a b", "gaps": [1]}, "only between turns"),
        ({"turns": ["a b", "c d"], "gaps": [1, 2]}, "1 lengths"),
        ({"text": "a b", "gap": -1}, "0 to 600 seconds"),
        ({"text": "a b", "after": True}, "a length in seconds"),
        ({"text": "a b", "style": "sung"}, "whispered or shouted"),
        ({"text": "a b", "voice": "pico:x"}, "NAME:option=value"),
        ({"text": "a b", "dataset": "elsewhere"}, "pause_handling"),
        ({"text": "a b", "dataset": "my_pause_set"}, "no pause"),
        ({"text": "a b", "dataset": "interruptions"}, "one turn"),
        ({"context": "a b", "interrupt": "c", "dataset": "pauses"}, "a set of interruptions"),
        ({"text": "a b", "language": "English"}, "a language code"),
        ({"text": "a b", "id": True}, "a text or a whole number"),
        ({"lines": {"en": "a b", "fr": "c d"}, "text": "a"}, "also text"),
        ({"lines": {"en": "a [pause 1] b", "fr": "c d"}}, "as many turns and pauses"),
        ({"lines": {"en": {"text": "a b", "dataset": "x"}}}, "no language's"),
        ({"text": {"clip": "a.wav", "text": "a [pause 1] b"}}, "a pause in a clip"),
        ({"text": [{"say": "a"}]}, "text or clip"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, wrong: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_script(script(tmp_path, wrong))


def test_an_id_may_be_used_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it twice"):
        read_script(script(tmp_path, {"id": 1, "text": "a b?"}, {"id": "1", "text": "c d?"}))


@pytest.mark.parametrize("content", ["", "[]", "{}", "3", "[", '{"dialogues": 3}'])
def test_what_is_no_script_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(InputError):
        read_script(path)


def test_the_script_of_the_guide_makes_every_task(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "make-items.md").read_text(encoding="utf-8")
    section = page.partition("## All tasks of Full-Duplex-Bench v1.0")[2].partition("\n## ")[0]
    script = tmp_path / "all.json"
    script.write_text(section.partition("```json\n")[2].partition("```")[0])
    made = {entry.dataset: entry.task for entry in read_script(script)}
    assert len(made) == 5 and set(made.values()) == set(TASKS)
