"""The files that a real scoring writes keep to the schemas that ship."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from fullduplex import cli
from fullduplex.data import audio
from fullduplex.runs.schemas import schema


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("real")
    for i in range(3):
        folder = root / "data/candor_turn_taking" / str(i)
        folder.mkdir(parents=True)
        audio.write(folder / "input.wav", np.zeros(32_000, np.float32), 16_000)
        chunks = [{"text": f"w{k}", "timestamp": [1.0 + i / 5 + k / 4, 1.2 + i / 5 + k / 4]} for k in range(4)]
        (folder / "output.json").write_text(json.dumps({"text": "", "chunks": chunks}))
        (folder / "turn_taking.json").write_text(json.dumps([{"text": "", "timestamp": [0.9, 1.1]}]))
    (root / "data/candor_turn_taking/2/output.json").write_text("{")
    found = CliRunner().invoke(
        cli.main, ["score", str(root / "data"), "--as", "fdb-1.0@all", "--out", str(root / "run"), "--no-page"]
    )
    assert found.exit_code == 3, found.output
    return root / "run"


@pytest.mark.parametrize("name", ["run", "estimates"])
def test_the_runs_own_files_fit(run: Path, name: str) -> None:
    jsonschema.validate(json.loads((run / f"{name}.json").read_text()), schema(name))


@pytest.mark.parametrize("name", ["item", "words"])
def test_every_items_files_fit(run: Path, name: str) -> None:
    found = sorted((run / "trials").glob(f"*/*/{name}.json"))
    assert len(found) == (3 if name == "item" else 2)
    for path in found:
        jsonschema.validate(json.loads(path.read_text()), schema(name))


def test_the_parquet_of_facts_says_what_the_json_says(run: Path) -> None:
    table = pq.read_table(run / "measures.parquet").to_pylist()
    told = json.loads((run / "estimates.json").read_text())
    for part in (told, *told["variants"]):
        facts = {(row["item"], row["metric"]): row for row in table if row["variant"] == part["variant"]}
        assert len(facts) == len(part["items"]) > 0
        for row in part["items"]:
            fact = facts[row["item"], row["metric"]]
            assert (fact["value"], fact["absent"] or None) == (row["value"], row.get("absent"))


def test_the_parquet_of_estimates_says_what_the_json_says(run: Path) -> None:
    table = pq.read_table(run / "estimates.parquet").to_pylist()
    told = json.loads((run / "estimates.json").read_text())
    expected = {
        (part["variant"], row["scenario"], row["metric"]): (row["value"], row["n"])
        for part in (told, *told["variants"])
        for row in part["estimates"]
    }
    assert {(row["variant"], row["scenario"], row["metric"]): (row["value"], row["n"]) for row in table} == expected


def test_no_file_holds_nan(run: Path) -> None:
    read = [path for path in run.rglob("*.json") if path.name != "output.json"]
    for path in read:
        json.loads(path.read_text(), parse_constant=pytest.fail)
    assert len(read) > 5


def test_the_report_names_the_variant_the_n_and_the_failure(run: Path) -> None:
    text = (run / "report.md").read_text()
    assert "fdb-1.0@released-3e799c4" in text
    assert "1 × failed" in text
    assert "## Departures" in text
