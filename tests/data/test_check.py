from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.check import Findings, as_text, check, user_activity
from fullduplex.data.dataset import open_dataset
from fullduplex.model.sketch import sketch
from fullduplex.model.spans import Span, Timeline, seconds

MakeItem = Callable[..., Path]
NO_WORDS = {"text": "", "chunks": []}


def noise(seed: int, length: float = 4.0, rate: int = 16_000) -> audio.Samples:
    return (0.1 * np.random.default_rng(seed).standard_normal(round(length * rate))).astype(np.float32)


def with_item(item: MakeItem, tmp_path: Path, name: str = "pauses/1", **files: object) -> Findings:
    item(name, pause=[{"text": "", "timestamp": [1, 2]}], **files)
    return check(open_dataset(tmp_path))


def kinds(findings: Findings, level: str = "odd") -> set[str]:
    return {each.kind for each in findings.found if each.level == level}


def test_a_sound_item_has_nothing_odd(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=NO_WORDS)
    found = with_item(item, tmp_path, input=noise(0), output=noise(1))
    assert found.found == ()
    assert [(s.metric, s.possible, s.of) for s in found.scorable] == [("tor", 1, 1)]


def test_two_rates_a_short_output_and_silence_are_odd(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", output=NO_WORDS)
    audio.write(folder / "input.wav", noise(0, 4.0, 48_000), 48_000)
    found = with_item(item, tmp_path, output=np.zeros(16_000 * 3, np.float32))
    assert kinds(found) == {"two rates in one item", "output shorter than input", "system all zeros"}


def test_an_output_shorter_by_less_than_a_tenth_of_a_second_is_not_odd(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=NO_WORDS)
    assert not kinds(with_item(item, tmp_path, input=noise(0, 4.0), output=noise(1, 3.95)))


def test_one_speaker_in_both_channels_is_odd(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=NO_WORDS)
    assert kinds(with_item(item, tmp_path, input=noise(0), output=0.5 * noise(0))) == {"one speaker twice"}


def test_swapped_channels_are_claimed_only_on_evidence(item: MakeItem, tmp_path: Path) -> None:
    user, system = noise(0), noise(1)
    user[16_000:] = 0
    system[:16_000] = 0
    said = {"text": "", "chunks": [{"text": "hi", "timestamp": [0.1, 0.9]}]}
    item("pauses/1", output=system, input=user)
    assert "channels seem swapped" not in kinds(with_item(item, tmp_path))
    item("pauses/1", output=user, input=system)
    item("pauses/1", input=said)
    assert "channels seem swapped" in kinds(with_item(item, tmp_path))


def test_clipping_and_an_offset_are_odd(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=NO_WORDS)
    found = with_item(item, tmp_path, input=noise(0) + np.float32(0.05), output=20 * noise(1))
    assert kinds(found) == {"off zero", "clipped"}


def test_words_out_of_order_or_past_the_end_are_odd(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=noise(1), input=noise(0))
    said = [{"text": "b", "timestamp": [3, 4.2]}, {"text": "a", "timestamp": [1, 2]}]
    found = with_item(item, tmp_path, output={"text": "", "chunks": said})
    assert kinds(found) == {"words past the end", "words that need mending"}
    assert "a word ends at 4.20 s, the audio at 4.00 s" in as_text(found)


def test_cut_audio_and_bad_json_are_errors(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", output=noise(1))
    (folder / "output.wav").write_bytes((folder / "output.wav").read_bytes()[:-50])
    item("pauses/2", output="{")
    found = with_item(item, tmp_path)
    assert [each.entry for each in found.of("error")] == ["pause_handling/1", "pause_handling/2"]


def test_audio_that_breaks_only_when_decoded_is_one_error(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", output=NO_WORDS, input=noise(0))
    audio.write(folder / "output.flac", noise(1), 16_000)
    (folder / "output.flac").write_bytes((folder / "output.flac").read_bytes()[:-9_000])
    (error,) = with_item(item, tmp_path).of("error")
    assert "truncated audio" in error.text and error.file == "output.flac"


def test_rates_that_differ_between_items_are_odd_once(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=NO_WORDS, input=noise(0))
    item("pauses/2", output=NO_WORDS)
    audio.write(tmp_path / "pauses/2/input.wav", noise(0, 4.0, 24_000), 24_000)
    mixed = [f for f in with_item(item, tmp_path).found if f.kind == "mixed rates"]
    assert len(mixed) == 1 and "1 at 16 kHz, 1 at 24 kHz" in mixed[0].text


def test_a_clean_transcript_among_v1_items_is_a_note(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=NO_WORDS, clean_output=NO_WORDS)
    assert "further transcripts" in kinds(with_item(item, tmp_path), "note")


def test_counts_stand_beside_the_publications(item: MakeItem, tmp_path: Path) -> None:
    item("candor_pause_handling/1", output=NO_WORDS)
    found = check(open_dataset(tmp_path))
    assert (found.counts[0].found, found.counts[0].official) == (1, 216)
    assert "candor_pause_handling: 1 of 216" in as_text(found)


def test_what_cannot_be_scored_says_what_it_lacks(item: MakeItem, tmp_path: Path) -> None:
    item("icc_backchannel/0", output=noise(1))
    item("icc_backchannel/1", output=NO_WORDS)
    without = {s.metric: s for s in check(open_dataset(tmp_path)).scorable}
    assert (without["frequency"].possible, without["frequency"].lacking) == (1, {"no output.wav": 1})
    assert without["jsd"].possible == 0
    covered = {s.metric: s for s in check(open_dataset(tmp_path), reference=frozenset({"0"})).scorable}
    assert covered["jsd"].possible == 1


def test_findings_are_json_and_text_without_control_characters(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/\x1b[31m<b>", output="{")
    found = check(open_dataset(tmp_path))
    assert json.loads(json.dumps(found.to_json()))["findings"]
    assert "\x1b" not in as_text(found)


@pytest.mark.parametrize("kind", ["words", "pause", "turn_end", "interruption"])
def test_what_the_annotation_says_of_the_user(kind: str) -> None:
    rows = {
        "words": "user aaaaaaaaaa....................",
        "pause": "user ##############################\npause ..........^^^^^^^^^^..........",
        "turn_end": "user ##############................\nturn_end ..............^^..............",
        "interruption": "user ##############................\ninterruption ....^^^^^^^^^^................",
    }
    spoken, quiet = user_activity(sketch(rows[kind]))
    assert not spoken & quiet
    assert (
        spoken
        == {
            "words": Timeline([Span(0, seconds(1))]),
            "pause": Timeline([Span(seconds(0.5), seconds(1)), Span(seconds(2), seconds(2.5))]),
            "turn_end": Timeline([Span(seconds(0.4), seconds(1.4))]),
            "interruption": Timeline([Span(seconds(0.4), seconds(1.4))]),
        }[kind]
    )


def test_nothing_is_swapped_or_doubled_in_the_official_recordings(shared: Path) -> None:
    for folder in (shared / "data/fdb_official", shared / "data/fdb_site_stereo"):
        found = check(open_dataset(folder))
        assert not found.of("error")
        assert not kinds(found) & {"one speaker twice", "channels seem swapped", "clipped", "off zero"}


def test_official_examples_with_their_channels_swapped_are_noticed(shared: Path, tmp_path: Path) -> None:
    for name in ("pause_handling_example", "smooth_turn_taking_example", "user_interruption_example"):
        source = shared / "data/fdb_official/example_data" / name / "1"
        folder = tmp_path / name / "1"
        folder.mkdir(parents=True)
        for path in source.iterdir():
            other = {"input.wav": "output.wav", "output.wav": "input.wav"}.get(path.name, path.name)
            if path.name not in ("output.json",):
                (folder / other).write_bytes(path.read_bytes())
    noticed = {f.entry for f in check(open_dataset(tmp_path)).found if f.kind == "channels seem swapped"}
    assert {"smooth_turn_taking/1", "user_interruption/1"} <= noticed


def test_a_folder_in_which_nobody_has_answered_yet_lacks_nothing(item: MakeItem, tmp_path: Path) -> None:
    for name in ("pauses/1", "pauses/2"):
        item(name, input=noise(1), pause=[{"text": "[PAUSE]", "timestamp": [1, 2]}])
    findings = check(open_dataset(tmp_path))
    assert not [found for found in findings.found if found.level == "error"]
    assert "no answers" in kinds(findings, "note") and "output.wav is missing" not in kinds(findings)


def test_one_item_without_an_answer_among_others_is_an_error(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", input=noise(1), output=noise(2))
    item("pauses/2", input=noise(1))
    assert "no answer" in kinds(check(open_dataset(tmp_path)), "error")
