"""The command `interactions`: what it needs, and what it says of items that are there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fullduplex.cli import main

LINES = [{"who": "user", "text": "Correct me. She goed home early."}, {"who": "assistant", "text": "Went."}]
ITEM = {"id": "01", "category": "grammar", "lines": LINES, "anchor": {"line": 0, "word": "goed"}, "target": "went"}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "s.json"
    script.write_text(json.dumps({"schema": 1, "items": [ITEM, {**ITEM, "id": "02"}]}))

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["interactions", str(script), "--voice", "hibari", *arguments])

    return call


def test_counting_needs_no_folder_and_making_does(command: Callable[..., Any], tmp_path: Path) -> None:
    counted = command("--dry-run")
    assert (counted.exit_code, counted.output) == (0, "grammar: 2 items\n")
    told = json.loads(command("--dry-run", "--json").stdout)
    assert told == {"out": None, "would_make": {"grammar": {"items": 2}}}
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]
    refused = command()
    assert refused.exit_code == 2 and "Missing option '--out'" in refused.output


def test_what_was_damaged_is_said_to_be_made_again(command: Callable[..., Any], tmp_path: Path) -> None:
    assert command("--out", "items").exit_code == 0
    (tmp_path / "items/ib_grammar/02/u0.wav").write_bytes(b"RIFF")
    assert "2 items, 1 of them there already" in command("--out", "items", "--dry-run").output
    again = command("--out", "items")
    assert again.exit_code == 0
    assert "made again: ib_grammar/02: u0.wav is not as it was made" in again.output
    told = json.loads(command("--out", "items", "--json").stdout)
    assert (told["kept"], told["damaged"]) == (2, {})
