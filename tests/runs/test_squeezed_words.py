"""Words that nobody can have said count as the rules say, and are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fullduplex.stages import Asked, score, told

CHUNKS = [("one", 1.0, 1.3), ("two", 1.3, 1.6), ("three", 1.6, 1.9)]


@pytest.mark.parametrize(("end", "noted"), [(1.6, True), (1.609, True), (1.61, False)])
def test_words_that_nobody_can_say_in_their_time_are_a_note_and_change_no_number(
    end: float, noted: bool, tmp_path: Path
) -> None:
    item = tmp_path / "data" / "pause_handling" / "1"
    item.mkdir(parents=True)
    chunks = [{"text": text, "timestamp": [start, stop]} for text, start, stop in [*CHUNKS[:2], ("three", 1.6, end)]]
    (item / "output.json").write_text(json.dumps({"text": "one two three", "chunks": chunks}))
    (item / "pause.json").write_text('[{"text": "", "timestamp": [0.5, 0.9]}]')
    (scored,) = score(tmp_path / "data", tmp_path / "run", Asked(recogniser="none"), cache=tmp_path)
    sentence = "the system's words that nobody can say in the time they are given, counted as they are (1 item)"
    assert (sentence in told(scored.measured)) is noted
    assert not scored.failed
