"""Panels of listeners as files: what is read, and the one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.panels import read_panel, sound_lengths
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, ms, seconds


def table(tmp_path: Path, *rows: str, header: str = "stimulus,listener,onset,end,duration") -> Path:
    path = tmp_path / "panel.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def says(path: Path, durations: dict[str, int] | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_panel(path, durations)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_row_without_an_onset_is_a_listener_who_never_responded(tmp_path: Path) -> None:
    heard = read_panel(table(tmp_path, "s,a,1.5,,10", "s,b,,,")).of("s")
    assert heard.duration == seconds(10)
    assert heard.listeners == {"a": (Span(ms(1_500), ms(1_500) + 1),), "b": ()}


def test_json_says_the_same_as_a_table(tmp_path: Path) -> None:
    told = {"stimuli": {"s": {"duration": 10, "listeners": {"a": [4, [1.5, 2.5]], "b": []}}}}
    (tmp_path / "panel.json").write_text(json.dumps(told))
    by_table = read_panel(table(tmp_path, "s,a,4,,10", "s,a,1.5,2.5,", "s,b,,,"))
    assert read_panel(tmp_path / "panel.json").of("s") == by_table.of("s")
    assert by_table.of("s").listeners["a"][0] == Span(ms(1_500), ms(2_500))


def test_tabs_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "panel.tsv").write_text("stimulus\tlistener\tonset\tduration\ns\ta\t1\t5\n", encoding="utf-8-sig")
    assert read_panel(tmp_path / "panel.tsv").names == ("s",)


def test_the_last_moment_of_a_sound_is_in_it_and_its_end_is_not(tmp_path: Path) -> None:
    assert len(read_panel(table(tmp_path, "s,a,4.999,,5"))) == 1
    assert "found a response at 5 s, expected within the sound, 0 to 5 s" in says(table(tmp_path, "s,a,5,,5"))


def test_a_key_held_past_the_end_is_cut_there_and_counted(tmp_path: Path) -> None:
    found = read_panel(table(tmp_path, "s,a,4,6,5"))
    assert found.of("s").listeners["a"] == (Span(seconds(4), seconds(5)),)
    assert found.remarks == ("keys held past the end of the sound, cut there: 1",)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["s,a,-0.1,,5"], "line 2, stimulus s, listener a: found a response at -0.1 s"),
        (["s,a,1,,"], "stimulus s: found no duration"),
        (["s,a,1,,5", "s,a,2,,6"], "line 3, duration: found 6 s, expected 5 s"),
        (["s,a,1,,31000"], "expected above 0, at most 14400 s"),
        (["s,a,1,,5", "s,a,1,,"], "line 3, stimulus s, listener a: found a response at 1 s again"),
        (["s,a,1,3,5", "s,a,2,,"], "found a response at 2 s while that of 1 s goes on"),
        (["s,a,,,5", "s,a,2,,"], "found a response of one listed without any"),
        (["s,a,2,1,5"], "line 2: found from 2 s to 1 s, expected an end behind its onset"),
        (["s,a,,1,5"], "line 2: found an end and no onset"),
        (["s,a,soon,,5"], "line 2, onset: found 'soon', expected a time in seconds"),
        (["s,a,1_0,,50"], "line 2, onset: found '1_0', expected a time in seconds"),
        (["s,a,nan,,5"], "line 2, onset: found nan"),
        (["s,a,1"], "line 2: found 3 cells, expected 5"),
        (["s,,1,,5"], "line 2, listener: found nothing, expected a name"),
        ([], "found no response and no listener"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_place(tmp_path: Path, rows: list[str], sentence: str) -> None:
    assert sentence in says(table(tmp_path, *rows))


def test_a_header_is_what_is_told_and_nothing_else(tmp_path: Path) -> None:
    assert "found a column 'time'" in says(table(tmp_path, "s,a,1", header="stimulus,listener,time"))
    assert "found no column 'listener'" in says(table(tmp_path, "s,1", header="stimulus,onset"))


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"stimuli": []}, "stimuli: found []"),
        ({"stimuli": {"s": {"duration": 5, "listeners": {}}}}, "s.listeners: found an object with nothing"),
        (
            {"stimuli": {" ": {"duration": 5, "listeners": {"a": []}}}},
            "stimuli: found ' ', expected a name, and no space around it",
        ),
        ({"stimuli": {"s": {"duration": 5, "listeners": {"a": 1}}}}, "s.listeners.a: found 1"),
        ({"stimuli": {"s": {"duration": 5, "listeners": {"a": [[1, 2, 3]]}}}}, "s.listeners.a[0]: found"),
        ({"stimuli": {"s": {"duration": 5, "listener": {}, "listeners": {}}}}, "s.listener: found an unknown key"),
        ({"stimuli": {"s": {"duration": 5, "listeners": {"a": [9]}}}}, "response 0, stimulus s, listener a"),
    ],
)
def test_what_is_wrong_in_json_is_one_sentence_too(tmp_path: Path, told: object, sentence: str) -> None:
    (tmp_path / "panel.json").write_text(json.dumps(told))
    assert sentence in says(tmp_path / "panel.json")


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "panel.xlsx").write_bytes(b"PK")
    assert "expected .csv, .tsv or .json" in says(tmp_path / "panel.xlsx")


def test_a_stimulus_without_a_sound_is_refused_and_a_sound_without_listeners_told(tmp_path: Path) -> None:
    path = table(tmp_path, "s,a,1", header="stimulus,listener,onset")
    assert "stimulus s: found no sound of that name" in says(path, {"t": seconds(5)})
    found = read_panel(path, {"s": seconds(5), "t": seconds(5)})
    assert (found.of("s").duration, found.remarks) == (seconds(5), ("stimuli with a sound and no listener: 1",))


def test_a_duration_that_is_not_the_sounds_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "s,a,1,,5.5")
    assert "found a duration of 5.5 s, expected 5 s, as its sound lasts" in says(path, {"s": seconds(5)})
    assert read_panel(path, {"s": seconds(5.505)}).of("s").duration == seconds(5.505)


def test_hostile_names_stay_names_and_are_harmless_in_sentences(tmp_path: Path) -> None:
    path = table(tmp_path, '../../x,"\x1b[31m<script>",1,,5')
    assert read_panel(path).of("../../x").listeners == {"\x1b[31m<script>": (Span(seconds(1), seconds(1) + 1),)}
    assert "\x1b" not in says(table(tmp_path, 's,"\x1b[31m",9,,5'))


def sound(path: Path, length: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    audio.write(path, np.zeros(round(length * 8_000), np.float32), 8_000)


def test_lengths_are_those_of_sounds_or_of_items(tmp_path: Path) -> None:
    sound(tmp_path / "flat" / "one.wav", 1.5)
    for n in (2, 10):
        sound(tmp_path / "items" / "backchannel" / str(n) / "input.wav", n)
    assert sound_lengths(tmp_path / "flat") == {"one": ms(1_500)}
    assert list(sound_lengths(tmp_path / "items").items()) == [("2", seconds(2)), ("10", seconds(10))]
    with pytest.raises(InputError, match="expected a folder"):
        sound_lengths(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("listeners", "told_so"),
    [
        ('{"p": [1], "p": [2]}', "the key 'p' twice in one object, expected each key once"),
        ('{"": [1]}', "a.listeners: found '', expected a name"),
        ('{"p": [1], "p ": [2]}', "found 'p ', expected a name, and no space around it"),
    ],
)
def test_a_listener_of_json_is_named_and_told_once(tmp_path: Path, listeners: str, told_so: str) -> None:
    path = tmp_path / "panel.json"
    path.write_text(f'{{"stimuli": {{"a": {{"duration": 10, "listeners": {listeners}}}}}}}')
    assert told_so in says(path)


def test_a_stimulus_of_json_is_told_once(tmp_path: Path) -> None:
    one = '"a": {"duration": 10, "listeners": {"p": [1]}}'
    path = tmp_path / "panel.json"
    path.write_text(f'{{"stimuli": {{{one}, {one}}}}}')
    assert "the key 'a' twice" in says(path)


def test_semicolons_are_told_what_to_do(tmp_path: Path) -> None:
    path = table(tmp_path, "s;a;1,5", header="stimulus;listener;onset")
    assert "separate cells by commas, and write times with a point" in says(path)
