"""The command harvest: what it prints, what it refuses, and a release that becomes items again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner, Result
from tests.making.fdb_talk import write_corpus
from tests.making.talked import talkers, write_ms98

from fullduplex import cli
from fullduplex.data.check import check
from fullduplex.data.dataset import open_dataset
from fullduplex.errors import InputError
from fullduplex.reporting.review.store import Review, append


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["harvest", *map(str, words)])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_ms98(tmp_path / "corpus", 4000, *talkers(), sound=True)
    return tmp_path / "corpus"


def test_the_counts_of_every_filter_are_printed(corpus: Path, tmp_path: Path) -> None:
    done = run(corpus, "--rules", "duplexact", "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert "can be cut out" in done.output and "5 items of 1 conversation (" in done.output
    assert "backchannels against 1 acts" in done.output and "annotations only" in done.output
    assert "with kin counts acts aa, ba, bf, bh, bk, br as right too; recall is of all acts" in done.output


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
    assert done.exit_code == 3 and "1 conversation failed; the first, sw4001" in done.output


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


# --- Full-Duplex-Bench ---


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "talks", 2)


def test_items_of_full_duplex_bench_are_harvested_and_scored_with_the_person_in_the_system_s_place(
    talks: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run(talks, "--rules", "fdb-1.0", "--audio", "mine", "--out", out, "--engine", "here")
    assert done.exit_code == 0, done.output
    assert "10 items of 2 conversations" in done.output and "of passed" in done.output
    told = CliRunner().invoke(cli.main, ["check", str(out), "--json"])
    assert told.exit_code == 0 and json.loads(told.output)["items"]
    scored = CliRunner().invoke(
        cli.main, ["score", str(out), "--as", "fdb-1.0", "--no-page", "--json", "--out", str(tmp_path / "run"),
                   "--engine", "here"],
    )  # fmt: skip
    assert scored.exit_code == 0, scored.output
    (row,) = [
        one for one in json.loads(scored.output)["estimates"]
        if (one["scenario"], one["metric"]) == ("smooth_turn_taking", "latency")
    ]  # fmt: skip
    # Each answer begins 0.2 s after the turn that it answers.
    assert row["value"] == pytest.approx(0.2) and row["n"] == 4


def test_what_reviewers_rejected_is_left_out(talks: Path, tmp_path: Path) -> None:
    words = (talks, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--engine", "here")
    run(*words)
    keys = sorted(f"pause_handling/{path.name}" for path in (tmp_path / "out" / "pause_handling").iterdir())
    (tmp_path / "reviewed").mkdir()
    for rater, answers in (("ann", ("reject", "accept")), ("bo", ("reject", "reject"))):
        for key, answer in zip(keys, answers, strict=True):
            name, _, item = key.partition("/")
            append(tmp_path / "reviewed", Review(rater, "accept", "1", "x", name, item, {"accept": answer}))
    done = run(*words, "--accepted", tmp_path / "reviewed", "--json")
    told = json.loads(done.output)
    assert told["items"]["pause_handling"] == 1
    # Two raters who do not agree have not decided.
    assert told["decided"] == {"reject": 1, "unsure": 1, "unjudged": 8}


def test_reviews_that_decide_nothing_are_told(talks: Path, tmp_path: Path) -> None:
    words = (talks, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--engine", "here")
    run(*words)
    item = next((tmp_path / "out" / "pause_handling").iterdir()).name
    (tmp_path / "reviewed").mkdir()
    one = Review("ann", "naturalness", "1", "x", "pause_handling", item, {"accept": "reject"})
    append(tmp_path / "reviewed", one)
    done = run(*words, "--accepted", tmp_path / "reviewed")
    assert done.exit_code == 1 and "reviews with naturalness alone" in done.output
    append(tmp_path / "reviewed", replace(one, form="accept", answers={"accept": "no"}))
    done = run(*words, "--accepted", tmp_path / "reviewed")
    assert done.exit_code == 0
    assert f"left out: 'no' of ann on pause_handling/{item}, which is none of accept, reject, unsure" in done.output


def test_a_decision_that_is_told_twice_is_refused(talks: Path, tmp_path: Path) -> None:
    (tmp_path / "told.json").write_text('{"a/b": "reject", "a/b": "accept"}')
    done = run(talks, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--accepted", tmp_path / "told.json")
    assert done.exit_code == 1 and "the key 'a/b' twice" in done.output


def test_a_release_is_rebuilt_without_what_was_rejected(talks: Path, tmp_path: Path) -> None:
    run(talks, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--engine", "here")
    gone = next((tmp_path / "out" / "backchannel").iterdir())
    (tmp_path / "accepted.json").write_text(json.dumps({f"backchannel/{gone.name}": "reject"}))
    done = run("--rebuild", tmp_path / "out", "--corpus", talks, "--out", tmp_path / "again", "--accepted",
               tmp_path / "accepted.json")  # fmt: skip
    assert done.exit_code == 0 and "sound is there for 9 items" in done.output and "1 are left out" in done.output


def test_recordings_alone_will_do_to_rebuild_whatever_they_are_called(talks: Path, tmp_path: Path) -> None:
    run(talks, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--engine", "here")
    (tmp_path / "theirs").mkdir()
    for n, name in enumerate(("sw04000.wav", "sw04001.wav")):
        shutil.copy(talks / name, tmp_path / "theirs" / f"anything{n}.wav")
    done = run("--rebuild", tmp_path / "out", "--corpus", tmp_path / "theirs", "--json")
    assert done.exit_code == 0 and json.loads(done.output)["items"] == 10


def test_items_of_several_corpora_are_a_table(talks: Path, tmp_path: Path) -> None:
    run(talks, "--rules", "french-callfc", "--language", "en", "--out", tmp_path / "one", "--engine", "here")
    done = run("--table", tmp_path / "one", "--table", tmp_path / "one")
    assert done.exit_code == 0 and done.output.splitlines()[0].split() == ["task", "one", "one"]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--rules", "french-media"], 1, "--system-side: found none, expected 1 or 2"),
        (["--rules", "fdb-1.0", "--limit", "3"], 2, "--limit belongs to the rules of duplexact"),
        (["--rules", "duplexact", "--cap", "3"], 2, "--cap belongs to the rules of Full-Duplex-Bench"),
        (["--engine", "here"], 2, "not to duplexact; without it, duplexact works in this process"),
        (["--rules", "fdb-1.0", "--language", "tlh"], 1, "give your own list with --tokens"),
        (["--rules", "nowhere.toml"], 1, "nowhere.toml: found"),
        (["--rules", "fdb-1.0", "--accepted", "{out}"], 1, "found"),
        (["--rules", "fdb-1.0", "--tokens", "nowhere.toml"], 1, "nowhere.toml: found"),
        (["--rules", "fdb-1.0", "--withhold", "nowhere.txt"], 1, "nowhere.txt: found"),
    ],
)
def test_what_cannot_be_meant_of_full_duplex_bench_is_refused(
    talks: Path, tmp_path: Path, words: list[str], status: int, told: str
) -> None:
    out = tmp_path / "out"
    done = run(
        talks,
        "--out",
        out,
        *(word.format(out=out) for word in words),
        *(() if "duplexact" in words else ("--engine", "here")),
    )
    assert done.exit_code == status and told in done.output and "Traceback" not in done.output


def test_a_channel_without_sound_is_refused(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    (path,) = corpus.glob("*.wav")
    samples, rate = soundfile.read(path)
    samples[:, 1] *= 0.0009 / np.abs(samples[:, 1]).max()
    soundfile.write(path, samples, rate, "FLOAT")
    done = run(corpus, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--engine", "here")
    assert done.exit_code == 1 and "channel 2: found no sound in it" in done.output


@pytest.mark.parametrize("rules", ["fdb-1.0", "duplexact"])
def test_a_conversation_that_is_there_twice_with_its_channels_swapped_counts_once(rules: str, tmp_path: Path) -> None:
    corpus, out = write_corpus(tmp_path / "corpus"), tmp_path / "out"
    samples, rate = soundfile.read(corpus / "sw04000.wav")
    soundfile.write(corpus / "sw04001.wav", samples[:, ::-1], rate)
    for mine, other in ("AB", "BA"):
        text = (corpus / f"sw4000{mine}-ms98-a-word.text").read_text()
        (corpus / f"sw4001{other}-ms98-a-word.text").write_text(text.replace(f"4000{mine}", f"4001{other}"))
    done = run(corpus, "--rules", rules, "--out", out, *(["--engine", "here"] if rules == "fdb-1.0" else []))
    assert done.exit_code == 3 and "the same sound as in sw4000" in done.output
    alone = tmp_path / "alone"
    for name in ("sw4001A-ms98-a-word.text", "sw4001B-ms98-a-word.text", "sw04001.wav"):
        (corpus / name).unlink()
    assert (
        run(corpus, "--rules", rules, "--out", alone, *(["--engine", "here"] if rules == "fdb-1.0" else [])).exit_code
        == 0
    )
    counts = [json.loads((each / "counts.json").read_text()) for each in (out, alone)]
    assert counts[0]["items"] == counts[1]["items"] and counts[0]["conversations"] == 1


def test_turns_that_were_cut_are_told_where_items_are_made(tmp_path: Path) -> None:
    corpus, lines = tmp_path / "corpus", []
    corpus.mkdir()
    for n in range(12):
        lines.append(f"SPEAKER talk 1 {3 * n} 3 <NA> <NA> {'ab'[n % 2]} <NA> <NA>")
    (corpus / "talk.rttm").write_text("\n".join(lines) + "\n")
    done = run(corpus, "--rules", "french-callfc", "--out", tmp_path / "out", "--engine", "here")
    assert "note: talk: 11 of 11 floor transfers lie within 10 ms of 0 (11 exactly)" in done.output
    told = json.loads((tmp_path / "out" / "counts.json").read_text())
    assert told["items"]["smooth_turn_taking"] == 0 and "the turns were cut" in told["doubts"][0]["doubt"]


@pytest.mark.parametrize(
    ("rules", "name"), [("french-callfc", "anything"), ("own.toml", "relB"), ("fdb-1.0", "callfc")]
)
def test_the_corpus_of_french_items_is_told_by_their_rules(rules: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('based_on = "french-callfc"\ncap = 5\n')
    corpus = write_corpus(tmp_path / "corpus", sound=False)
    told = tmp_path / rules if rules.endswith("toml") else rules
    assert run(corpus, "--rules", told, "--out", tmp_path / name, "--engine", "here").exit_code == 0
    sets = {entry.dataset for entry in open_dataset(tmp_path / name).entries}
    # Where rules tell no corpus, the folder's name does.
    assert sets and all(one.startswith("callfc_") for one in sets)


def test_what_harvest_leaves_is_nothing_odd_and_a_release_without_sound_says_so(tmp_path: Path) -> None:
    corpus, out = write_corpus(tmp_path / "corpus"), tmp_path / "out"
    assert run(corpus, "--rules", "fdb-1.0", "--out", out, "--engine", "here").exit_code == 0
    found = check(open_dataset(out))
    assert not found.of("odd") and not found.of("error")
    (note,) = found.of("note")
    assert "5 of 5 items are a release without sound" in note.text and "harvest --rebuild" in note.text
    assert run("--rebuild", out, "--corpus", corpus).exit_code == 0
    again = open_dataset(out)
    assert again.remarks == () and not any(one.kind == "no sound" for one in check(again).found)
    stray = next(out.glob("*/*/script.json"))
    stray.write_text('{"mine": true}')
    assert any("script.json in item folders, not read" in one for one in open_dataset(out).remarks)


def test_items_that_are_nothing_without_their_sound_are_told_as_such(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    turns = [(0, 9, "a"), (4, 4.4, "b"), (9.5, 18, "b"), (18.6, 25, "a")]
    rows = [f"SPEAKER talk 1 {start} {end - start:.3f} <NA> <NA> {who} <NA> <NA>" for start, end, who in turns]
    (corpus / "talk.rttm").write_text("\n".join(rows) + "\n")
    assert run(corpus, "--rules", "fdb-1.0", "--out", tmp_path / "out", "--engine", "here").exit_code == 0
    assert list((tmp_path / "out" / "backchannel").iterdir())
    with pytest.raises(InputError, match=r"items whose sound is not there, .*; make it again with `fullduplex harvest"):
        open_dataset(tmp_path / "out")
    (tmp_path / "out" / "pauses" / "1").mkdir(parents=True)
    (tmp_path / "out" / "pauses" / "1" / "pause.json").write_text('[{"text": "", "timestamp": [1, 2]}]')
    (remark,) = open_dataset(tmp_path / "out").remarks
    assert remark.startswith(
        "items whose sound is not there, not read; `fullduplex harvest --rebuild` makes it: backch"
    )
