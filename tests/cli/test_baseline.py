"""``fullduplex baseline`` and ``fullduplex mismatch``: what they print, write and refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fullduplex.cli.baseline as _baseline
from fullduplex.cli import main

assert _baseline.baseline.name == "baseline"

TURNS = (
    ("A", 0.5, "je voudrais une chambre"),
    ("A", 2.6, "pour deux personnes"),
    ("B", 3.9, "très bien pour quelles dates"),
    ("A", 6.0, "du mardi au vendredi matin"),
)


def corpus(folder: Path, count: int = 2) -> Path:
    folder.mkdir(parents=True)
    for n in range(count):
        lines = [
            f"talk{n} {side} {start + 0.3 * k:.3f} 0.3 {word}"
            for side, start, text in TURNS
            for k, word in enumerate(text.split())
        ]
        (folder / f"talk{n}.ctm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def command(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def test_statistics_are_printed_and_written_three_times(tmp_path: Path) -> None:
    found = command("baseline", corpus(tmp_path / "c"), "--language", "fr", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "Overlap, of the time in which anybody speaks (%)" in found.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "statistics.html", "statistics.json", "statistics.md",
    ]  # fmt: skip
    told = json.loads((tmp_path / "out" / "statistics.json").read_text("utf-8"))
    assert told["corpora"][0]["told_by"] == {"words": 2}


def test_people_are_scored_into_a_run_that_reports_like_any_other(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = command(
        "baseline", corpus(tmp_path / "c"), "--as", "fdb-french", "--language", "fr", "--recogniser", "recorded",
        "--out", out, "--no-page",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert (out / "callfc" / "harvest.json").is_file()
    again = command("report", out / "people.run", "--no-page", "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["system"] == "people"
    beside = command("mismatch", out / "people.run", "--out", tmp_path / "m")
    assert beside.exit_code == 0, beside.output
    assert "| human | people | fr |" in (tmp_path / "m" / "mismatch.md").read_text("utf-8")
    held = command("baseline", out / "people.run", "--against", out / "people.run", "--json")
    assert [one["people"] for one in json.loads(held.stdout)["corpora"]] == [True, True]
    assert [one["name"] for one in json.loads(held.stdout)["corpora"]] == ["people", "people (2)"]


def test_another_corpus_of_people_is_shown_beside_the_first(tmp_path: Path) -> None:
    found = command("baseline", corpus(tmp_path / "one"), "--beside", corpus(tmp_path / "two"), "--json")
    assert [(one["name"], one["people"]) for one in json.loads(found.stdout)["corpora"]] == [
        ("people", True), ("two", True),
    ]  # fmt: skip


def test_scoring_needs_a_folder(tmp_path: Path) -> None:
    found = command("baseline", corpus(tmp_path / "c"), "--as", "fdb-1.0")
    assert (found.exit_code, "--as needs --out" in found.output) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["baseline", "{}/none"], "no such folder"),
        (["baseline", "{}/c", "--by", "speech"], "neither times nor recordings"),
        (["baseline", "{}/c", "--as", "duplexact", "--out", "{}/o"], "recordings"),
        (["baseline", "{}/c", "--as", "interactionbench", "--out", "{}/o"], "not found in conversations"),
        (["baseline", "{}/c", "--as", "fdb-1.0", "--rules", "french", "--out", "{}/o"], "--rules"),
        (["mismatch", "{}/none"], "run.json"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], said: str, tmp_path: Path) -> None:
    corpus(tmp_path / "c")
    found = command(*[word.format(tmp_path) for word in words])
    assert found.exit_code == 1, found.output
    lines = found.stderr.strip().splitlines()
    assert len(lines) == 1
    assert said in lines[0]
    assert "Traceback" not in found.output


def test_what_is_told_of_no_system_there_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = command(
        "baseline", corpus(tmp_path / "c"), "--as", "fdb-french", "--language", "fr", "--recogniser", "recorded",
        "--out", out, "--no-page",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    found = command("mismatch", out / "people.run", "--system-language", "nobody=fr")
    assert found.exit_code == 1
    assert "nobody" in found.stderr


def test_a_conversation_that_no_item_can_come_of_is_told(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    (folder / "talk1.ctm").write_text("talk1 A 0.5 0.3 bonjour\ntalk1 A nine 0.3 encore\n", encoding="utf-8")
    found = command(
        "baseline", folder, "--as", "fdb-french", "--recogniser", "recorded", "--out", tmp_path / "out", "--no-page",
    )  # fmt: skip
    assert found.exit_code == 3, found.output
    assert "1 conversation without items; the first, talk1: " in found.stderr


def test_items_that_were_harvested_tell_their_language(tmp_path: Path) -> None:
    items, out = tmp_path / "relB", tmp_path / "out"
    for language in ([], ["--language", "fr"]):
        told = command("harvest", dialogue(tmp_path / "c"), "--rules", "french-callfc", *language, "--out", items)
        assert told.exit_code == 0, told.output
        found = command(
            "baseline", items, "--as", "fdb-1.0", "--recogniser", "recorded", "--out", out, "--no-page"
        )  # fmt: skip
        assert found.exit_code == 0, found.output
        assert json.loads((out / "people.run" / "run.json").read_text("utf-8"))["language"] == "fr"
        run = tmp_path / "system.run"
        found = command("score", items, "--as", "fdb-1.0", "--recogniser", "recorded", "--out", run, "--no-page")
        assert found.exit_code == 0, found.output
        about = json.loads((run / "run.json").read_text("utf-8"))
        assert about["language"] == about["items_language"] == "fr"
        given = ("--system-language", f"{run}=fr", "--architecture", f"{run}=cascade")
        assert "fdb-1.0 (fr)" in command("mismatch", run, *given).output
        shutil.rmtree(run)
        shutil.rmtree(items)
        shutil.rmtree(out)


def test_a_system_s_run_is_no_people(tmp_path: Path) -> None:
    items, out = tmp_path / "relB", tmp_path / "people"
    assert command("harvest", dialogue(tmp_path / "c"), "--rules", "french-callfc", "--out", items).exit_code == 0
    scored = command(
        "score", items, "--as", "fdb-french", "--system", "moshi", "--out", tmp_path / "m.run", "--no-page"
    )
    assert scored.exit_code == 0, scored.output
    for words in ((tmp_path / "m.run",), (dialogue(tmp_path / "d"), "--beside", tmp_path / "m.run")):
        refused = command("baseline", *words)
        assert refused.exit_code == 1
        assert "found a run of the system moshi, expected people" in refused.output and "--against" in refused.output
    assert command("baseline", tmp_path / "d", "--against", tmp_path / "m.run").exit_code == 0
    # People's own run is people.
    made = command(
        "baseline", items, "--as", "fdb-french", "--recogniser", "recorded", "--out", out, "--no-page"
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    assert command("baseline", out / "people.run").exit_code == 0


def test_a_run_of_people_whose_turns_were_cut_says_so(tmp_path: Path) -> None:
    items, out = tmp_path / "relB", tmp_path / "out"
    assert command("harvest", dialogue(tmp_path / "c"), "--rules", "french-callfc", "--out", items).exit_code == 0
    counts = json.loads((items / "counts.json").read_text("utf-8"))
    counts["doubts"] = [{"conversation": "0", "doubt": "9 of 9 floor transfers were cut"}] * 2
    (items / "counts.json").write_text(json.dumps(counts))
    found = command("baseline", items, "--as", "fdb-french", "--recogniser", "recorded", "--out", out, "--no-page")
    assert "note: 9 of 9 floor transfers were cut (2 conversations of the items' corpus)" in found.output


def dialogue(folder: Path) -> Path:
    """Write a French talk in CHAT, which tells its language, with turns that are answered."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["@UTF8", "@Begin", "@Languages:\tfra", "@Participants:\tANA Ana Speaker, BEN Ben Speaker"]
    for n in range(6):
        words = "nous parlons de tout cela depuis longtemps".split()  # noqa: SIM905
        start = 3000 * n
        timed = " ".join(f"{w} {start + 350 * k}_{start + 350 * k + 350}" for k, w in enumerate(words))
        lines += [f"*{('ANA', 'BEN')[n % 2]}:\t{' '.join(words)} . {start}_{start + 2450}", f"%wor:\t{timed} ."]
    (folder / "talk.cha").write_text("\n".join([*lines, "@End"]) + "\n", encoding="utf-8")
    return folder
