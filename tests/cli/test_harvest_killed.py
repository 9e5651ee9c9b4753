"""What a harvest leaves when it is killed, and that the next one clears away this and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.making.fdb_talk import write_corpus
from tests.making.talked import talkers, write_ms98

from fullduplex.cli import main
from fullduplex.data.writers import alone_in, made_folder

#: Runs a command, and waits for ever where a file of this name is whole and not in its place yet.
WAITS = """
import sys, time
from pathlib import Path
import fullduplex.cli, fullduplex.cli.harvest, fullduplex.cli.baseline
replace = Path.replace
def waits(path, target):
    if sys.argv[1] in str(target):
        print("written", flush=True)
        time.sleep(60)
    return replace(path, target)
Path.replace = waits
fullduplex.cli.main(sys.argv[2:])
"""


def killed(at: str, *words: str | Path) -> None:
    """Run a command until it has written a file whose path has ``at`` in it, and kill it there."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITS, at, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert any(line == "written\n" for line in process.stdout), process.communicate()
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        finally:
            process.kill()


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.name.startswith((".synth-", ".")) and path.is_file())


def again(*words: str | Path) -> None:
    found = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    ("rules", "at"),
    [("fdb-1.0", ".survey"), ("duplexact", "dropped.jsonl"), ("duplexact", "script.json")],
)
def test_the_next_harvest_clears_away_what_a_killed_one_was_writing(rules: str, at: str, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    command: tuple[str | Path, ...] = ("harvest", corpus, "--rules", rules, "--out", out)
    if rules == "duplexact":
        write_ms98(corpus, 4000, *talkers(), sound=True)
    else:
        write_corpus(corpus)
        command = (*command, "--engine", "here")
    killed(at, *command)
    parts = [name for name in left(out) if name.endswith(".part")]
    assert parts
    (out / ".notes.part").write_text("mine")
    (out / ".0123456789abcdef.part").write_text("mine too")
    again(*command)
    assert [name for name in left(out) if name.endswith(".part")] == [".0123456789abcdef.part", ".notes.part"]
    assert not list(out.rglob(".synth-*"))


def test_what_another_process_still_writes_is_left(tmp_path: Path) -> None:
    corpus, out = write_corpus(tmp_path / "corpus"), tmp_path / "out"
    command = ("harvest", corpus, "--rules", "fdb-1.0", "--out", out, "--engine", "here")
    killed("counts.json", *command)
    (dead,) = (path for path in out.iterdir() if path.suffix == ".part")
    machine, _, drawn = dead.stem[1:].split("-")
    alive = dead.with_name(f".{machine}-{os.getpid()}-{drawn}.part")
    dead.rename(alive)
    again(*command)
    assert alive.exists()


def test_a_killed_rebuild_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    corpus, out = write_corpus(tmp_path / "corpus"), tmp_path / "out"
    again("harvest", corpus, "--rules", "fdb-1.0", "--out", out, "--engine", "here")
    killed("script.json", "harvest", "--rebuild", out, "--corpus", corpus)
    assert list(out.rglob(".synth-*"))
    again("harvest", "--rebuild", out, "--corpus", corpus)
    assert not list(out.rglob(".synth-*")) and not list(out.rglob("*.part"))


@pytest.mark.parametrize("at", ["statistics.json", "people.run/run.json", "estimates.json"])
def test_so_does_the_next_baseline(at: str, tmp_path: Path) -> None:
    corpus, out = write_corpus(tmp_path / "corpus", sound=False), tmp_path / "out"
    command = ("baseline", corpus, "--as", "fdb-1.0", "--recogniser", "recorded", "--out", out, "--no-page")
    killed(at, *command)
    assert list(out.rglob("*.part"))
    (out / ".notes.part").write_text("mine")
    again(*command)
    assert [path.name for path in out.rglob("*.part")] == [".notes.part"]


@pytest.mark.parametrize("command", [["harvest", "--rules", "fdb-1.0"], ["harvest"], ["baseline", "--as", "fdb-1.0"]])
def test_a_second_process_is_told_that_another_one_writes_there(tmp_path: Path, command: list[str]) -> None:
    corpus = write_corpus(tmp_path / "corpus", sound=False)
    with alone_in(made_folder(tmp_path / "out")):
        words = [command[0], corpus, *command[1:], "--out", tmp_path / "out"]
        found = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert found.exit_code == 1 and "another fullduplex is writing into this folder" in found.output
    assert not list((tmp_path / "out").iterdir())
