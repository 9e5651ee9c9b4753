"""The command harvest: what it prints, what it refuses, and a release that becomes items again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.making.talked import talkers, write_ms98

from fullduplex import cli


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["harvest", *map(str, words)])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_ms98(tmp_path / "corpus", 4000, *talkers(), sound=True)
    return tmp_path / "corpus"


def test_the_counts_of_every_filter_are_printed(corpus: Path, tmp_path: Path) -> None:
    done = run(corpus, "--rules", "duplexact", "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert "can be cut out" in done.output and "5 items of 1 conversations" in done.output
    assert "backchannels against 1 acts" in done.output and "annotations only" in done.output


def test_a_release_is_rebuilt_from_the_corpus(corpus: Path, tmp_path: Path) -> None:
    assert run(corpus, "--out", tmp_path / "out").exit_code == 0
    done = run("--rebuild", tmp_path / "out", "--corpus", corpus, "--json")
    assert done.exit_code == 0 and json.loads(done.output)["items"] == 5
    assert len(list((tmp_path / "out").rglob("u0.wav"))) == 5


def test_json_tells_the_same(corpus: Path, tmp_path: Path) -> None:
    told = json.loads(run(corpus, "--out", tmp_path / "out", "--json").output)
    assert sum(told["items"].values()) == 5 and told["conditions"]["backchannel"]["candidates"] == 2


def test_a_conversation_that_fails_is_told_by_the_exit_status(corpus: Path, tmp_path: Path) -> None:
    write_ms98(corpus, 4001, *talkers())
    (corpus / "sw4001A-ms98-a-word.text").write_text("nonsense\n")
    done = run(corpus, "--out", tmp_path / "out")
    assert done.exit_code == 3 and "1 conversations failed; the first, sw4001" in done.output


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ([], 2, "Missing argument 'CORPUS'"),
        (["{corpus}"], 2, "Missing option '--out'"),
        (["{corpus}", "--out", "{out}", "--rules", "none"], 1, "--rules: found none, expected duplexact"),
        (["{corpus}", "--out", "{out}", "--setting", "pub"], 1, "--setting: found pub, expected casual"),
        (["{corpus}", "--out", "{out}", "--format", "nonesuch"], 1, "--format: found nonesuch"),
        (["{corpus}", "--out", "{corpus}/items"], 1, "found a folder inside the corpus"),
        (["{corpus}", "--out", "{out}", "--language", "fr"], 1, "give --model"),
        (["{corpus}/nowhere", "--out", "{out}"], 1, "no such folder"),
        (["--rebuild", "{out}"], 2, "--rebuild needs --corpus"),
        (["--rebuild", "{out}", "--corpus", "{corpus}"], 1, "harvest.json"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    corpus: Path, tmp_path: Path, words: list[str], status: int, told: str
) -> None:
    done = run(*(word.format(corpus=corpus, out=tmp_path / "out") for word in words))
    assert done.exit_code == status and told in done.output and "Traceback" not in done.output
