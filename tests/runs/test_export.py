from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.data.dataset import open_dataset
from fullduplex.errors import InputError, PluginError, RunError
from fullduplex.model.items import Event, Item
from fullduplex.model.spans import Span, Timeline
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Trial
from fullduplex.runs.export import export, kinds
from fullduplex.runs.items import place
from fullduplex.runs.junit import junit
from fullduplex.runs.labels import audacity, rttm
from fullduplex.runs.run import Run
from fullduplex.runs.sheets import cell, item_rows
from fullduplex.runs.stored import StoredItem

GOLDEN = Path(__file__).parents[1] / "golden" / "run-schema-1"
SHARED = Path(__file__).parents[3] / "shared"
HOSTILE = "%2E.%2F..%2F%3Cb%3Ex%3C%2Fb%3E"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "a.run"))


def edit(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# csv


def test_csv_holds_every_estimate_of_every_variant_to_the_last_digit(run: Path) -> None:
    table = json.loads((run / "estimates.json").read_text())
    expected = [
        (variant["variant"], row["scenario"], row["metric"], row["value"], row["low"], row["n"])
        for variant in (table, *table["variants"])
        for row in variant["estimates"]
    ]
    path, _ = export(run, "csv")

    def number(text: str) -> float | None:
        return float(text) if text else None

    found = [
        (r["variant"], r["scenario"], r["metric"], number(r["value"]), number(r["low"]), int(r["n"]))
        for r in rows(path)
    ]
    assert found == expected


def test_csv_leaves_an_absent_value_empty_and_says_why(run: Path) -> None:
    estimates, items = export(run, "csv")
    rating = next(row for row in rows(estimates) if row["metric"] == "rating")
    assert (rating["value"], rating["absent"], json.loads(rating["absent_reasons"])) == ("", "1", {"no rating": 1})
    late = next(row for row in rows(items) if row["absent"] == "no takeover")
    assert (late["item"], late["value"]) == ("2", "")


def test_csv_says_each_variant_once_also_where_the_leading_one_is_repeated() -> None:
    lead = {"variant": "a", "items": [{"item": "1"}]}
    found = [
        row["variant"] for row in item_rows({**lead, "variants": [lead, {"variant": "b", "items": [{"item": "1"}]}]})
    ]
    assert found == ["a", "b"]


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+cmd", "-cmd", "\t=1"])
def test_a_text_that_a_spreadsheet_would_run_is_led_by_an_apostrophe(text: str) -> None:
    assert cell(text) == "'" + text


@pytest.mark.parametrize("text", ["-12", "+1.5", "1", "a=b", ""])
def test_a_text_that_is_only_a_number_or_harmless_is_kept(text: str) -> None:
    assert cell(text) == text


# audacity


def test_audacity_labels_come_in_order_of_time_with_their_tier(run: Path) -> None:
    export(run, "audacity", run / "out")
    lines = (run / "out" / "candor_turn_taking" / "1.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "0.200000\t0.600000\tuser words: how"
    assert "1.500000\t1.900000\tevents: turn_end" in lines
    assert "2.000000\t3.500000\tsystem speech" in lines
    assert [float(line.split("\t")[0]) for line in lines] == sorted(float(line.split("\t")[0]) for line in lines)


@given(st.lists(st.tuples(st.text(st.characters(codec=None)), st.integers(0, 10**8)), max_size=8))
def test_an_audacity_label_is_always_one_line_of_three_fields(said: list[tuple[str, int]]) -> None:
    words = tuple(Word(text, Span(at, at + 1)) for text, at in said)
    lines = audacity(Trial(Item("t"), Track(words))).encode().decode().split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(words)
    for line in lines:
        start, end, label = line.split("\t")
        assert float(start) < float(end) and label.startswith("user words:")


# rttm


def test_rttm_holds_the_speech_of_both_voices(run: Path) -> None:
    (path,) = export(run, "rttm")
    found = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(len(line) == 10 and line[0] == "SPEAKER" for line in found)
    assert [(line[3], line[4], line[7]) for line in found if line[1] == "candor_turn_taking/1"] == [
        ("0.200000", "1.300000", "user"),
        ("2.000000", "1.500000", "system"),
    ]


def test_rttm_joins_segments_of_one_voice_that_overlap() -> None:
    speech = Timeline([Span(0, 20), Span(10, 30)])
    item = StoredItem(Path(), "s", "t", "", "", Trial(Item("a b"), Track(speech=speech)))
    assert list(rttm(item)) == ["SPEAKER s/a%20b 1 0.000000 0.000030 <NA> <NA> user <NA> <NA>\n"]


# junit


def test_junit_counts_what_its_cases_say(run: Path) -> None:
    (path,) = export(run, "junit", run / "report.xml", gates=["latency.p90 > 1.2", "tor.n < 100"])
    root = ElementTree.parse(path).getroot()
    gates, items = root
    assert path == run / "report.xml"
    assert [case.find("failure") is None for case in gates] == [True, False]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "1")
    assert [case.get("name") for case in items] == ["items without a failure: 5", "candor_turn_taking/10"]


def test_junit_names_a_failed_item_that_no_line_of_errors_names(run: Path) -> None:
    (run / "errors.jsonl").unlink()
    (path,) = export(run, "junit")
    error = ElementTree.parse(path).getroot().find(".//testcase[@name='candor_turn_taking/10']/error")
    assert error is not None and "expected JSON" in str(error.get("message"))


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_junit_is_well_formed_whatever_an_item_is_called(item: str, sentence: str) -> None:
    text = junit("run", [], [{"item": item, "stage": "listen", "error": sentence}], 1)
    assert len(ElementTree.fromstring(text.encode()).findall(".//error")) == 1


# all of them


@pytest.mark.parametrize("kind", ["audacity", "textgrid"])
def test_a_hostile_id_stays_inside_the_folder(run: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "deep" / "out"
    written = export(run, kind, out)
    assert all(path.resolve().is_relative_to(out.resolve()) and path.is_file() for path in written)
    assert [path.stem for path in written if path.parent.name == "user_interruption"] == [HOSTILE]


def test_two_items_that_claim_one_id_are_refused(run: Path) -> None:
    edit(run / "trials" / "candor_turn_taking" / "2" / "item.json", lambda item: item.update(id="1"))
    with pytest.raises(InputError, match="an id that no other item of its set has"):
        export(run, "audacity")


@pytest.mark.parametrize("kind", ["csv", "audacity", "textgrid", "rttm", "junit"])
def test_nothing_half_written_stays_and_a_second_time_is_the_same(run: Path, kind: str) -> None:
    first = {path: path.read_bytes() for path in export(run, kind)}
    assert {path: path.read_bytes() for path in export(run, kind)} == first
    assert {path for path in (run / "exports").rglob("*") if path.is_file()} == set(first)


def test_an_unknown_kind_names_the_known_ones(run: Path) -> None:
    with pytest.raises(PluginError, match="csv, audacity, textgrid, rttm, junit"):
        export(run, "praat")
    assert kinds()[:5] == ("csv", "audacity", "textgrid", "rttm", "junit")


def test_an_unknown_hearing_names_the_known_ones(run: Path) -> None:
    with pytest.raises(InputError, match="found silero, expected a hearing called 'webrtc'"):
        export(run, "rttm", hearing="webrtc")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run\.json"):
        export(tmp_path, "csv")


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("item.json", lambda item: item.pop("events")),
        ("item.json", lambda item: item.update(files=[])),
        ("item.json", lambda item: item.update(dataset=3)),
        ("words.json", lambda words: words["tracks"]["input"].update(words=[["a"]])),
        ("speech.json", lambda speech: speech["hearings"]["silero"].update(tracks=[])),
    ],
)
def test_a_file_edited_into_nonsense_is_one_sentence_about_it(
    run: Path, file: str, change: Callable[[Any], None]
) -> None:
    edit(run / "trials" / "candor_turn_taking" / "1" / file, change)
    with pytest.raises(InputError, match="candor_turn_taking"):
        export(run, "textgrid")


def test_a_detectors_two_touching_segments_stay_two_labels() -> None:
    made = Trial(Item("t"), system=Track(speech=Timeline([Span(0, 20)]), segments=((0.0, 0.00001), (0.00001, 0.00002))))
    assert audacity(made).count("system speech") == 2


def test_an_event_is_labelled_with_its_text() -> None:
    made = Trial(Item("t"), events=(Event("interruption", Span(0, 1), "stop\tnow"),))
    assert audacity(made) == "0.000000\t0.000001\tevents: interruption: stop now\n"


def test_released_examples_keep_every_word_that_their_files_have(tmp_path: Path) -> None:
    folder = SHARED / "data" / "fdb_official" / "example_data"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/fdb_official here")
    run = Run.begin(tmp_path / "a.run", {"benchmark": {"name": "", "version": "", "variants": []}, "hearings": {}})
    expected = {}
    for entry in open_dataset(folder).entries:
        place(entry, run.folder(entry.set, entry.id), "example", infer=False)
        chunks = json.loads(entry.files["output.json"].read_text())["chunks"]
        said = [[c["text"].strip(), c["timestamp"][0], c["timestamp"][1], None] for c in chunks]
        words = {"schema": 1, "spec": None, "digest": "", "tracks": {"output": {"from": "recorded", "words": said}}}
        (run.folder(entry.set, entry.id) / "words.json").write_text(json.dumps(words))
        expected[entry.set] = [text for text, *_ in said]
    found = {}
    for path in export(run.path, "audacity"):
        lines = path.read_text(encoding="utf-8").splitlines()
        found[path.parent.name] = [line.split("system words: ")[1] for line in lines if "system words: " in line]
    assert found == expected and len(found) == 3
