"""The commands that make items: what they refuse at the door."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fullduplex import cli


@pytest.mark.parametrize("option", ["--gap", "--after"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1", "601"])
def test_a_silence_that_cannot_be_meant_is_refused_in_a_sentence(tmp_path: Path, option: str, value: str) -> None:
    done = CliRunner().invoke(cli.main, ["synth", "--out", str(tmp_path / "out"), option, value])
    assert done.exit_code == 2 and f"Invalid value for '{option}'" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--priming", "--price"])
def test_a_number_that_is_none_is_refused_where_talks_are_held(tmp_path: Path, option: str) -> None:
    done = CliRunner().invoke(cli.main, ["run", "fdb-1.0", "--out", str(tmp_path / "out"), option, "nan"])
    assert done.exit_code == 2 and "is not a finite number" in done.output


@pytest.mark.parametrize("command", [("synth",), ("demo",), ("selftest",), ("run", "fdb-1.0")])
def test_a_seed_below_zero_is_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli.main, [*command, "--out", str(tmp_path / "out"), "--seed", "-1"])
    assert done.exit_code == 2 and "Invalid value for '--seed'" in done.output
