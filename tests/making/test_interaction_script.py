"""Interaction scripts: what is read, what is refused, and what each category calls for."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fullduplex.data.interactions import ACTIONS, OVERLAPS
from fullduplex.errors import InputError
from fullduplex.making.interaction_policy import POLICY, SCENARIOS
from fullduplex.making.interaction_script import LONGEST_LINE, occurrences, read_interactions, script_files, shipped
from fullduplex.model.spans import ms

ITEM: dict[str, Any] = {
    "id": "01",
    "category": "grammar",
    "lines": [{"who": "user", "text": "Fix it. He goed, and goed again."}, {"who": "assistant", "text": "Went."}],
    "anchor": {"line": 0, "word": "goed", "occurrence": 2},
    "target": "went",
}


def write(folder: Path, *items: Any, scenario: Any = "grammar", name: str = "s.json", **more: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"schema": 1, "scenario": scenario, "items": list(items), **more}))
    return path


def test_what_ships_has_as_many_items_and_probes_as_the_publication() -> None:
    items = read_interactions(shipped())
    assert Counter(item.scenario for item in items) == {
        "backchannel": 20, "pause": 30, "turn_taking": 30, "user_backchannel": 30, "interruption": 30,
        "logic": 10, "countdown": 10, "alternating_count": 1, "grammar": 10, "keyword_wait": 10, "stay_quiet": 10,
        "whisper": 10, "volume": 10, "groundedness": 10,
    }  # fmt: skip
    probes = [line.probe for item in items for line in item.lines if line.probe]
    assert len(probes) == 52 and sum(probe["rests_on_assistant"] for probe in probes) == 17


def test_a_folder_is_read_in_the_order_of_the_scenarios() -> None:
    assert tuple(file.stem for file in script_files(shipped())) == SCENARIOS


def test_an_item_says_its_trigger_its_target_and_the_reply(tmp_path: Path) -> None:
    (item,) = read_interactions(write(tmp_path, ITEM))
    (anchor,) = item.anchors
    assert (anchor.line, anchor.word, anchor.occurrence, anchor.target) == (0, "goed", 2, "went")
    assert (item.dataset, item.reply) == ("ib_grammar", "Went.")


def test_a_word_is_found_whatever_its_case_and_its_marks(tmp_path: Path) -> None:
    line = {"who": "user", "text": "Well: Goed, [pause 0.4] “goed”! gone"}
    (item,) = read_interactions(write(tmp_path, {**ITEM, "lines": [line]}))
    assert occurrences(item.user[0][1], "goed") == [(0, 1), (1, 0)]


def test_several_triggers_have_a_target_each(tmp_path: Path) -> None:
    anchors = [{"line": 0, "word": "goed"}, {"line": 0, "word": "again"}]
    (item,) = read_interactions(write(tmp_path, {**ITEM, "anchors": anchors, "targets": ["a", "b"]}))
    assert [(one.word, one.target) for one in item.anchors] == [("goed", "a"), ("again", "b")]


def test_a_category_tells_the_scenario_where_the_file_does_not(tmp_path: Path) -> None:
    (item,) = read_interactions(write(tmp_path, ITEM, scenario=""))
    assert item.scenario == "grammar"


def test_another_category_may_belong_to_a_scenario(tmp_path: Path) -> None:
    (item,) = read_interactions(write(tmp_path, {**ITEM, "category": "deliberate_overlap"}))
    assert item.scenario == "grammar" and item.policy.window == (ms(50), ms(250))


def test_positions_count_within_a_scenario(tmp_path: Path) -> None:
    write(tmp_path, ITEM, {**ITEM, "id": "02"}, name="a.json")
    write(tmp_path, {**ITEM, "id": "03"}, name="b.json")
    assert [item.position for item in read_interactions(tmp_path)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"anchor": {"line": 0, "word": "goed", "occurrence": 3}}, "'goed' 2 times in line 0"),
        ({"anchor": {"line": 0, "word": "went"}}, "'went' 0 times in line 0"),
        ({"anchor": {"line": 0, "word": "..."}}, "0 times"),
        ({"anchor": {"line": 0, "word": "goed", "occurrence": 0}}, "an occurrence from 1 on"),
        ({"anchor": {"line": 0, "word": "goed", "occurrence": True}}, "an occurrence from 1 on"),
        ({"anchor": {"line": 1, "word": "Went"}}, "a line of the user's"),
        ({"anchor": {"line": 9, "word": "goed"}}, "a line of the user's"),
        ({"anchor": {"line": -2, "word": "goed"}}, "a line of the user's"),
        ({"anchor": {"line": 0, "word": "goed", "when": 1}}, "unknown key"),
        ({"anchor": None}, "--annotate"),
        ({"category": ""}, "--annotate"),
        ({"category": "grammer"}, "'grammer'"),
        ({"category": "backchannel"}, "null: none triggers"),
        ({"scenario": "chess"}, "'chess'"),
        ({"anchors": [{"line": 0, "word": "goed"}], "targets": []}, "one for each"),
        ({"lines": []}, "a list of lines"),
        ({"lines": [{"who": "assistant", "text": "Hello."}]}, "the user, who begins"),
        ({"lines": [{"who": "narrator", "text": "Hello."}]}, "user or assistant"),
        ({"lines": [{"who": "user", "text": "goed [pause x] goed"}]}, "[pause SECONDS]"),
        ({"lines": [{"who": "user", "text": "goed goed", "style": "sung"}]}, "whispered or shouted"),
        ({"lines": [{"who": "user", "text": "goed goed", "probe": {"type": "quiz", "expected": "x"}}]}, "'quiz'"),
        ({"lines": [{"who": "user", "text": "goed goed", "probe": {"type": "recall"}}]}, "a right reply"),
        ({"voice": "kokoro:voice"}, "NAME:option=value"),
        ({"id": ""}, "an id"),
        ({"id": 1}, "a text"),
        ({"rating": 1}, "unknown key"),
        ({"target": ""}, "what a right reply says"),
        ({"target": " ... "}, "what a right reply says"),
        ({"anchors": [{"line": 0, "word": "goed"}], "targets": [" "], "target": ""}, "what a right reply says"),
        (
            {"lines": [{"who": "user", "text": "goed goed", "probe": {"type": "recall", "expected": "x"}}]},
            "long conversations alone",
        ),
    ],
)
def test_what_cannot_be_meant_is_one_sentence_that_names_the_item(tmp_path: Path, change: Any, field: str) -> None:
    path = write(tmp_path, {**ITEM, **change})
    with pytest.raises(InputError) as told:
        read_interactions(path)
    assert field in str(told.value) and "items[0]" in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("scenario", "text", "found"),
    [("pause", "He goed goed on.", "no pause"), ("groundedness", "He goed goed.", "no probe")],
)
def test_a_scenario_is_made_of_what_it_measures(tmp_path: Path, scenario: str, text: str, found: str) -> None:
    anchored = POLICY[scenario].anchored
    item = {**ITEM, "category": scenario, "lines": [{"who": "user", "text": text}]}
    with pytest.raises(InputError, match=found):
        read_interactions(write(tmp_path, item if anchored else {**item, "anchor": None}, scenario=scenario))


def test_an_interruption_has_two_turns_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found 1 turns of the user, expected 2"):
        read_interactions(write(tmp_path, {**ITEM, "category": "interruption"}, scenario="interruption"))


def test_a_line_that_no_voice_says_in_one_breath_is_one_sentence_and_its_limit(tmp_path: Path) -> None:
    def lines(text: str, **more: str) -> dict[str, Any]:
        return {**ITEM, "lines": [{"who": "user", "text": text, **more}], "anchor": {"line": 0, "word": "goed"}}

    with pytest.raises(InputError) as told:
        read_interactions(write(tmp_path, lines("goed " * 20_000)))
    assert "found a line of 100,000 characters (20,000 words), expected at most 6,000 characters" in str(told.value)
    assert "items[0].lines[0].text" in str(told.value)
    at_most = "goed" + " a" * 2_998
    assert len(at_most) == LONGEST_LINE
    (item,) = read_interactions(write(tmp_path, lines(at_most)))
    assert item.user[0][1].text == at_most
    with pytest.raises(InputError, match="6,001 characters"):
        read_interactions(write(tmp_path, lines(at_most + ".")))
    # What is there already as a recording is not spoken.
    read_interactions(write(tmp_path, lines(at_most + " and on", clip="talk.wav")))


@pytest.mark.parametrize("text", ["[]", "{}", '{"schema": 2, "items": []}', '{"schema": 1, "items": 3}', "nonsense"])
def test_a_file_that_is_no_script_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read_interactions(path)


def test_no_item_and_no_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one"):
        read_interactions(write(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="without JSON files"):
        read_interactions(tmp_path / "empty")


def test_an_id_comes_once_in_a_scenario(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an id for each item"):
        read_interactions(write(tmp_path, {**ITEM, "id": "a"}, {**ITEM, "id": "A"}))


def test_the_windows_are_the_published_ones() -> None:
    windows = {name: policy.window for name, policy in POLICY.items() if policy.window}
    assert windows == {
        "turn_taking": (ms(-50), ms(2_500)),
        "alternating_count": (ms(100), ms(400)),
        "grammar": (ms(50), ms(300)),
        "keyword_wait": (ms(50), ms(300)),
        "stay_quiet": (ms(200), ms(600)),
        "wrong_word_correction": (ms(50), ms(300)),
        "forbidden_phrase_interruption": (ms(50), ms(300)),
        "deliberate_overlap": (ms(50), ms(250)),
        "predictive_number_continuation": (ms(50), ms(350)),
        "phrase_completion": (ms(50), ms(350)),
        "other": (ms(50), ms(400)),
    }


def test_the_table_speaks_the_language_of_interaction_files() -> None:
    assert {policy.action for policy in POLICY.values()} <= set(ACTIONS)
    assert {policy.overlap for policy in POLICY.values()} <= set(OVERLAPS)
    assert tuple(POLICY)[: len(SCENARIOS)] == SCENARIOS


def test_the_table_of_the_documents_is_the_table_there_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "make-interactions.md"
    row = r"^\| `(\w+)` \| ([A-Z_]+) \| (\w+) \| (?:(-?\d+) to (\d+))? ?\|"
    told = {
        name: (action, overlap, (ms(int(first)), ms(int(last))) if first else None)
        for name, action, overlap, first, last in re.findall(row, page.read_text(), re.MULTILINE)
    }
    assert told == {name: (policy.action, policy.overlap, policy.window) for name, policy in POLICY.items()}


@pytest.mark.parametrize("category", ["grammar", "keyword_wait", "wrong_word_correction", "deliberate_overlap"])
def test_interrupting_needs_overlap_and_nothing_else_does(category: str) -> None:
    assert POLICY[category].action == "INTERRUPT" and POLICY[category].overlap == "required"
    assert sum(policy.overlap == "required" for policy in POLICY.values()) == 4
