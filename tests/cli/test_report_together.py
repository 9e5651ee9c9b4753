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
