"""Downloads as the release documents them, built here: no real one is at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fullduplex.data.fdb_folder import missing_of
from fullduplex.data.files import write_json
from fullduplex.data.folders import Remarks, walk
from fullduplex.data.interaction_download import Download, is_download, open_download
from fullduplex.data.interaction_scorecard import CATEGORIES, interaction
from fullduplex.data.interactions import on_the_clock
from fullduplex.data.official import INTERACTION_TASKS
from fullduplex.errors import InputError
from fullduplex.measures.interaction import Scene, scene
from fullduplex.measures.placed import placed_by_words
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Trial


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "download"
    made.mkdir()
    return made


def recording(folder: Path, **files: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("A_user.wav", "B_model.wav", "combined.wav"):
        (folder / name).touch()
    for name, told in files.items():
        write_json(folder / f"{name}.json", told)
    return folder


def item(folder: Path, card: Any, lines: tuple[str, ...] = (), recordings: int = 0) -> None:
    folder.mkdir(parents=True)
    write_json(folder / "benchmark.json", card)
    if lines:
        said = [{"speaker": str(n % 2), "text": line} for n, line in enumerate(lines)]
        write_json(folder / "dialogue.json", {"utterances": said})
    for n in range(recordings):
        (folder / f"A{n + 1}.wav").touch()


def event(**more: Any) -> dict[str, Any]:
    return {
        "event_id": "e1",
        "graded": True,
        "expected_action": "INTERRUPT",
        "onset_window_ms": [50, 300],
        "onset_reference": "trigger_word_end",
        "expected_overlap": "required",
        "trigger": {"type": "exact_word", "anchor_word": "goed", "ov_reported": 0.4},
        "target_response": "went",
        "response_line_index": 3,
        **more,
    }


def card(*events: Any, category: str = "grammar_correction", **more: Any) -> dict[str, Any]:
    return {"category": category, "card_target": "went", "expected_events": list(events), **more}


LINES = ("listen to my sentence", "sure", "she goed home early", "went")


def only(found: Download) -> Any:
    assert len(found.records) == 1
    return found.records[0]


def test_a_recording_takes_the_scorecard_of_its_item(root: Path) -> None:
    item(root / "test_set" / "grammar_correction" / "03", card(event()), LINES)
    recording(root / "runs" / "gemini" / "grammar_correction_03")
    one = only(open_download(root))
    assert (one.entry.task, one.entry.id, one.entry.system) == ("ib_grammar", "03", "gemini")
    assert one.entry.user_voice.path.name == "A_user.wav"
    assert one.entry.system_voice.path.name == "B_model.wav"
    assert one.interaction["expects"] == [
        {
            "id": "e1", "cue": "u1", "word": "goed", "position": 0.4, "action": "INTERRUPT", "window": [0.05, 0.3],
            "overlap": "required", "target": "went", "start": None, "end": None,
        }
    ]  # fmt: skip
    assert [turn["text"] for turn in one.interaction["turns"]] == [LINES[0], LINES[2]]


def test_a_scorecard_in_the_recordings_folder_comes_first(root: Path) -> None:
    item(root / "test_set" / "grammar_correction" / "03", card(event(), card_target="no"), LINES)
    recording(root / "grammar_correction" / "03" / "moshi", benchmark=card(event()))
    assert only(open_download(root)).interaction["target"] == "went"


def test_what_was_heard_places_the_turns_and_the_trigger(root: Path) -> None:
    item(root / "test_set" / "grammar_correction" / "03", card(event()), LINES)
    recording(root / "runs" / "gemini" / "grammar_correction_03")
    told = on_the_clock(only(open_download(root)).interaction)
    words = [
        Word(text, Span(seconds(start) + n * ms(300), seconds(start) + n * ms(300) + ms(200)))
        for start, line in ((1, LINES[0]), (6, LINES[2]))
        for n, text in enumerate(line.split())
    ]
    found = placed_by_words(told, words)
    shown = scene(Trial(Item("03", reference={"interaction": found.told})))
    assert isinstance(shown, Scene)
    assert found.failures == ()
    assert shown.expects[0].span == Span(seconds(6.3), seconds(6.5))
    assert shown.expects[0].window == (ms(50), ms(300))
    assert [turn.span for turn in shown.turns] == [Span(seconds(1), seconds(2.1)), Span(seconds(6), seconds(7.1))]


def test_before_anything_was_heard_no_turn_has_a_time(root: Path) -> None:
    recording(root / "pause" / "1")
    told = only(open_download(root)).interaction
    shown = scene(Trial(Item("1", reference={"interaction": on_the_clock(told)})))
    assert isinstance(shown, Scene)
    assert [turn.span for turn in shown.turns] == [None]
    assert shown.pauses == (None,)


def test_timing_scenarios_need_no_scorecard(root: Path) -> None:
    turns = {"backchannel": 1, "pause": 1, "turn_taking": 1, "user_backchannel": 3, "interruption": 2}
    for name in turns:
        recording(root / name / "7" / "moshi")
    found = open_download(root)
    assert {one.interaction["scenario"]: len(one.interaction["turns"]) for one in found.records} == turns
    assert found.remarks == ()


def test_distractors_and_answers_said_by_itself_call_for_nothing(root: Path) -> None:
    events = (event(graded=False), event(expected_action="SELF_COMPLETE", trigger=None, onset_window_ms=None))
    told = card(*events, category="countdown_completion", card_target="Happy New Year!")
    recording(root / "countdown_completion" / "01", benchmark=told)
    one = only(open_download(root))
    assert one.interaction["expects"] == []
    assert one.interaction["target"] == "Happy New Year!"


def test_turns_without_a_script_are_as_many_as_the_items_recordings(root: Path) -> None:
    item(root / "test_set" / "keyword_wait" / "02", card(event(), category="keyword_wait"), recordings=2)
    recording(root / "runs" / "gpt_keyword_wait_2")
    one = only(open_download(root))
    assert [(turn["id"], turn["text"]) for turn in one.interaction["turns"]] == [("u0", ""), ("u1", "")]
    assert one.interaction["expects"][0]["cue"] == "u1"


def test_a_script_with_other_turns_than_the_recordings_lends_no_texts() -> None:
    lines = [("user", "one"), ("assistant", "two"), ("user", "three")]
    made = interaction("ib_keyword_wait", None, lines, turns=3)
    assert [(turn["id"], turn["text"]) for turn in made["turns"]] == [("u0", ""), ("u1", ""), ("u2", "")]


def test_the_users_backchannels_are_turns_beside_the_script() -> None:
    made = interaction("ib_user_backchannel", None, [("user", "how do I bake bread"), ("assistant", "so")])
    assert [turn["id"] for turn in made["turns"]] == ["u0", "b0", "b1"]


def test_where_nothing_tells_the_number_of_turns_it_is_remarked(root: Path) -> None:
    recording(root / "logic_puzzle" / "01", benchmark=card(category="logic_puzzle"))
    found = open_download(root)
    assert only(found).interaction["turns"] == []
    assert "how many turns" in found.remarks[0]


def test_probes_come_from_the_file_of_conversations(root: Path) -> None:
    turns = [
        {"speaker": "user", "text": "My list has eggs."},
        {"speaker": "assistant", "text": "Noted."},
        {"speaker": "user", "text": "Which shop?", "probe": {"type": "unknown", "expected": "Never said."}},
    ]
    write_json(root / "scenarios_generated.json", {"scenarios": [{"id": "IG-gen-02", "turns": turns}]})
    recording(root / "moshi" / "interaction_groundedness" / "02")
    probe = only(open_download(root)).interaction["probes"][0]
    assert probe["cue"] == "u1"
    assert (probe["type"], probe["kind"], probe["rests_on_assistant"]) == ("never_said", "unknown", True)


def test_a_conversation_that_is_not_in_the_file_leaves_the_recording_out(root: Path) -> None:
    write_json(root / "scenarios_generated.json", {"scenarios": []})
    recording(root / "interaction_groundedness" / "02")
    recording(root / "pause" / "1")
    found = open_download(root)
    assert only(found).entry.task == "ib_pause"
    assert "none of number 02" in found.remarks[0]


@pytest.mark.parametrize(
    ("parts", "task", "number", "system"),
    [
        (("user_backchannel", "29", "moshi"), "ib_user_backchannel", "29", "moshi"),
        (("gptlive", "backchannel", "4"), "ib_backchannel", "4", "gptlive"),
        (("runs", "2026-08-17_gpt_pause_11"), "ib_pause", "11", "gpt"),
        (("my system", "turn-taking", "03"), "ib_turn_taking", "03", "my system"),
        (("interruption", "one"), "ib_interruption", "interruption/one", ""),
    ],
)
def test_folders_names_tell_scenario_number_and_system(
    root: Path, parts: tuple[str, ...], task: str, number: str, system: str
) -> None:
    recording(root.joinpath(*parts))
    entry = only(open_download(root)).entry
    assert (entry.task, entry.id, entry.system) == (task, number, system)


def test_one_scenarios_folder_can_be_opened_alone(root: Path) -> None:
    recording(root / "pause" / "1")
    assert only(open_download(root / "pause")).entry.task == "ib_pause"


def test_two_recordings_of_one_item_keep_their_folders_names(root: Path) -> None:
    recording(root / "moshi" / "pause" / "1" / "a")
    recording(root / "moshi" / "pause" / "1" / "b")
    found = open_download(root)
    assert [one.entry.id for one in found.records] == ["moshi/pause/1/a", "moshi/pause/1/b"]
    assert "several recordings" in found.remarks[0]


def test_the_releases_own_grade_is_kept(root: Path) -> None:
    recording(root / "pause" / "1", grade={"summary": {"n": 1, "npass": 0, "rate": 0.0}})
    assert only(open_download(root)).graded == (0, 1)


@pytest.mark.parametrize("grade", [[], {"summary": {"n": 1, "npass": 5}}])
def test_a_grade_that_cannot_be_read_takes_no_recording_away(root: Path, grade: Any) -> None:
    recording(root / "pause" / "1", grade=grade)
    found = open_download(root)
    assert only(found).graded is None and "grades that were not read" in found.remarks[0]


def test_categories_that_no_scenario_asks_are_left_out_and_told(root: Path) -> None:
    recording(root / "forbidden_phrase_interruption" / "1")
    recording(root / "pause" / "1")
    found = open_download(root)
    assert [one.entry.task for one in found.records] == ["ib_pause"]
    assert "no scenario asks" in found.remarks[0]


def test_mixes_alone_are_no_recordings(root: Path) -> None:
    (root / "pause").mkdir()
    (root / "pause" / "combined.wav").touch()
    with pytest.raises(InputError, match="mixes of both voices"):
        open_download(root)


def test_a_folder_with_both_tracks_is_a_download_and_one_without_is_not(root: Path) -> None:
    (root / "A_user.wav").touch()
    assert not is_download(walk(root, Remarks()))
    (root / "B_model.flac").touch()
    assert is_download(walk(root, Remarks()))


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"expected_events": {}}, "expected_events: found an object"),
        ({"expected_events": [event(expected_action="SHOUT")]}, "expected_action: found SHOUT"),
        ({"expected_events": [event(onset_window_ms=[300, 50])]}, "the start before the end"),
        ({"expected_events": [event(onset_window_ms="soon")]}, "two times in milliseconds"),
        ({"expected_events": [event(expected_overlap="maybe")]}, "expected_overlap"),
        ({"expected_events": [event(onset_reference="noon")]}, "trigger_word_end"),
        ({"expected_events": [event(trigger={})]}, "anchor_word"),
        ({"expected_events": [event(response_line_index=-1)]}, "the number of a line"),
        ({"turns": [{"speaker": "nobody", "text": ""}]}, "speaker"),
        ({"turns": [{"speaker": "user", "text": "", "probe": {"type": "odd", "expected": ""}}]}, "type: found odd"),
        ([], "a scorecard, an object"),
    ],
)
def test_a_scorecard_that_cannot_be_meant_is_told_in_a_sentence(root: Path, broken: Any, says: str) -> None:
    path = root / "benchmark.json"
    path.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(InputError, match=says) as told:
        interaction("ib_grammar", path)
    assert "benchmark.json" in str(told.value)


def test_a_broken_scorecard_leaves_only_its_recording_out(root: Path) -> None:
    recording(root / "grammar_correction" / "1", benchmark={"expected_events": 3})
    recording(root / "pause" / "1")
    found = open_download(root)
    assert [one.entry.task for one in found.records] == ["ib_pause"]
    assert "expected_events" in found.remarks[0]


def test_a_task_that_is_no_scenario_is_refused(root: Path) -> None:
    with pytest.raises(InputError, match="--task"):
        open_download(root, task="pause_handling")


def test_hostile_names_stay_names(root: Path) -> None:
    hostile = root / "<script>alert(1)<" / "pause" / "%2e%2e%2f ..\n"
    recording(hostile)
    entry = only(open_download(root)).entry
    assert entry.user_voice.path.parent == hostile
    assert entry.system == "<script>alert(1)<"


def test_every_category_is_a_scenario_of_ours() -> None:
    ours = [task for task in INTERACTION_TASKS if task.startswith("ib_")]
    assert sorted(CATEGORIES.values()) == sorted(ours)


@pytest.mark.parametrize(
    ("folder", "scenario"),
    [
        ("results/logic_01_scripted", "ib_logic"),
        ("ib_stay_quiet/02/near", "ib_stay_quiet"),
        ("grammar_correction/03/whisper", "ib_grammar"),
        ("user_backchannel/04", "ib_user_backchannel"),
    ],
)
def test_a_scenario_goes_by_the_releases_name_first_then_by_ours(root: Path, folder: str, scenario: str) -> None:
    recording(root / folder)
    (one,) = open_download(root).records
    assert one.entry.dataset == scenario
    assert "interaction.json" not in missing_of(replace(one.entry, interaction=one.interaction))
