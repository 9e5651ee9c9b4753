"""What is said over answers: varied, our own words, and a file of it that is wrong is refused in a sentence."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from fullduplex.data.official import SETS, V15_TASKS
from fullduplex.errors import InputError
from fullduplex.making.overlap_lines import read_lines, shipped_lines
from fullduplex.making.script import Phrase
from fullduplex.making.script_file import read_script, shipped


@cache
def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9']+(?:-[a-z']+)*", text.lower()))


def test_there_is_a_line_for_each_item_of_the_published_sets() -> None:
    lines = read_lines(shipped_lines())
    assert lines.language == "en" and list(lines.of) == list(V15_TASKS)
    for task in V15_TASKS:
        assert len({line.text for line in lines.of[task]}) >= SETS[task][1]


def test_no_two_lines_share_over_half_their_words() -> None:
    lines = [line.text for said in read_lines(shipped_lines()).of.values() for line in said]
    alike = [
        (a, b) for a, b in combinations(lines, 2) if 2 * len(words(a) & words(b)) > max(len(words(a)), len(words(b)))
    ]
    assert alike == []


def test_no_side_talk_or_background_holds_over_half_of_another() -> None:
    of = read_lines(shipped_lines()).of
    lines = [line.text for task in ("talking_to_other", "background_speech") for line in of[task]]
    alike = [
        (a, b) for a, b in combinations(lines, 2) if 2 * len(words(a) & words(b)) > min(len(words(a)), len(words(b)))
    ]
    assert alike == []


def test_no_side_talk_or_background_repeats_a_question() -> None:
    asked = [entry.dialogues["en"].turns[0].text for entry in read_script(shipped())]
    of = read_lines(shipped_lines()).of
    lines = [line.text for task in ("talking_to_other", "background_speech") for line in of[task]]
    assert not [
        (a, b) for a in lines for b in asked if 2 * len(words(a) & words(b)) > max(len(words(a)), len(words(b)))
    ]


def test_backchannels_are_short_and_some_are_longer() -> None:
    lengths = [len(line.text.split()) for line in read_lines(shipped_lines()).of["user_backchannel"]]
    assert {1, 2, 3} <= set(lengths) and sum(length > 3 for length in lengths) >= 10 and max(lengths) <= 8
    assert sum(length <= 3 for length in lengths) >= 60


def write(folder: Path, value: Any) -> Path:
    (folder / "lines.json").write_text(json.dumps(value))
    return folder / "lines.json"


def test_a_file_may_hold_some_tasks_and_recordings(tmp_path: Path) -> None:
    lines = read_lines(
        write(tmp_path, {"language": "fr", "user_backchannel": ["  Ah\n oui. ", {"text": "Mm", "clip": "a.wav"}]})
    )
    assert lines.language == "fr" and lines.folder == tmp_path
    assert lines.of == {"user_backchannel": (Phrase("Ah oui."), Phrase("Mm", "a.wav"))}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], ""),
        ({"pauses": []}, "pauses"),
        ({"language": "English"}, "language"),
        ({"user_backchannel": []}, "user_backchannel"),
        ({"user_backchannel": "Mm."}, "user_backchannel"),
        ({"user_backchannel": ["Mm.", "..."]}, r"user_backchannel\[1\]"),
        ({"user_backchannel": [{"clip": "a.wav"}]}, r"user_backchannel\[0\]"),
        ({"user_backchannel": [{"text": "Mm", "voice": "x"}]}, r"user_backchannel\[0\]"),
        ({"user_backchannel": [{"text": "Mm", "clip": "a\0"}]}, r"user_backchannel\[0\].clip"),
        ({"user_backchannel": ["word " * 200]}, r"user_backchannel\[0\]"),
        ({"user_backchannel": [None]}, r"user_backchannel\[0\]"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, value: Any, field: str) -> None:
    with pytest.raises(InputError, match=rf"lines\.json.*{field}") as error:
        read_lines(write(tmp_path, value))
    assert "\n" not in str(error.value)
