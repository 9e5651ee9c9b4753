"""``fullduplex report A.run B.run --out DIR``: systems of several runs in one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fullduplex.cli import main


def scored(folder: Path, out: Path, system: str, start: float, benchmark: str = "fdb-1.0@paper") -> Path:
    for n in range(3):
        item = folder / "user_interruption" / str(n)
        item.mkdir(parents=True)
        event = {"context": "Rome.", "interrupt": "Paris?", "timestamp": [1.0, 2.0]}
        (item / "interrupt.json").write_text(json.dumps([event]))
        chunks = [
            {"text": word, "timestamp": [start + 0.4 * k, start + 0.4 * k + 0.3]} for k, word in enumerate("abcd")
        ]
        (item / "output.json").write_text(json.dumps({"text": "a b c d", "chunks": chunks}))
    words = ["score", folder, "--as", benchmark, "--out", out, "--system", system, "--recogniser", "none", "--no-page"]
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code in (0, 3), found.output
    return out


def test_systems_of_two_runs_stand_in_one_table(tmp_path: Path) -> None:
    quick = scored(tmp_path / "a", tmp_path / "a.run", "quick", 2.5)
    slow = scored(tmp_path / "b", tmp_path / "b.run", "slow", 3.5)
    out = tmp_path / "both"
    found = CliRunner().invoke(main, ["report", str(quick), str(slow), "--out", str(out), "--no-page", "--json"])
    assert found.exit_code == 0, found.output
    latencies = {
        table["system"]: row["value"]
        for table in json.loads(found.stdout)
        for row in table["estimates"]
        if row["metric"] == "latency"
    }
    assert latencies == {"quick": pytest.approx(0.5), "slow": pytest.approx(1.5)}
    text = (out / "report.md").read_text()
    assert "quick" in text and "slow" in text
    assert (out / "compare.md").is_file()


@pytest.mark.parametrize(
    ("system", "rules", "sentence"),
    [
        ("quick", "fdb-1.0@paper", "found the system quick, as"),
        ("slow", "fdb-1.0@anchored", "found fdb-1.0@anchored, expected fdb-1.0@paper"),
    ],
)
def test_what_cannot_stand_together_is_told(tmp_path: Path, system: str, rules: str, sentence: str) -> None:
    quick = scored(tmp_path / "a", tmp_path / "a.run", "quick", 2.5)
    other = scored(tmp_path / "b", tmp_path / "b.run", system, 3.5, rules)
    found = CliRunner().invoke(main, ["report", str(quick), str(other), "--out", str(tmp_path / "both")])
    assert found.exit_code == 1
    assert sentence in found.stderr
    assert not (tmp_path / "both").exists()


def test_several_runs_need_a_folder(tmp_path: Path) -> None:
    found = CliRunner().invoke(main, ["report", str(tmp_path), str(tmp_path)])
    assert found.exit_code == 2
    assert "--out" in found.stderr


def test_a_report_stands_in_a_folder_whose_name_has_a_colon(tmp_path: Path) -> None:
    run = scored(tmp_path / "a", tmp_path / "x:1", "quick", 2.5)
    assert (run / "measures.parquet").is_file() and (run / "estimates.parquet").is_file()


def test_one_run_reported_elsewhere_has_its_tables_there(tmp_path: Path) -> None:
    run = scored(tmp_path / "a", tmp_path / "a.run", "quick", 2.5)
    found = CliRunner().invoke(main, ["report", str(run), "--out", str(tmp_path / "y:2"), "--no-page"])
    assert found.exit_code == 0, found.output
    assert f"Tables: {tmp_path / 'y:2' / 'report.md'}" in found.stdout
    assert "quick" in (tmp_path / "y:2" / "report.md").read_text()
    assert (tmp_path / "y:2" / "estimates.parquet").is_file()


def test_the_terminal_tells_who_was_told_what_as_the_report_does(tmp_path: Path) -> None:
    runs = [scored(tmp_path / name, tmp_path / f"{name}.run", name, 2.5) for name in ("quick", "slow")]
    for number, run in enumerate(runs):
        for folder in (run / "trials" / "user_interruption").iterdir():
            taken = {"prompt": "Be kind.", "ready": {"prompt_taken": bool(number)}, "made_of": {"stimulus": "x"}}
            (folder / "talk.json").write_text(json.dumps(taken))
    out = tmp_path / "both"
    found = CliRunner().invoke(main, ["report", *map(str, runs), "--out", str(out), "--no-page"])
    assert found.exit_code == 0, found.output
    sentence = "quick was not told the instruction of 3 of 3 items"
    assert f"note: {sentence}" in found.stdout and sentence in (out / "report.md").read_text()
