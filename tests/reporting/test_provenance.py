"""When a run was recorded, with what, and in which accents it was not spoken."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fullduplex.data.files import write_json
from fullduplex.reporting.provenance import accents, made_with
from fullduplex.runs.run import Run

CASCADE = {
    "name": "cascade", "revision": "1", "options": {
        "limit": 40,
        "model": {"name": "llamacpp", "revision": "b179", "options": {"file": "Smol.gguf", "seed": 0}},
        "voice": {"name": "hibari", "revision": "0.2.1", "options": {}},
    },
}  # fmt: skip


def run(path: Path, *items: dict[str, Any], driven: Any = None) -> Run:
    """Return a run of items with ``notes`` and ``voice`` of their interaction, and with ``talk`` and ``words``."""
    for n, one in enumerate(items, 1):
        folder = path / "trials" / "ib_grammar" / str(n)
        folder.mkdir(parents=True)
        told = {"notes": one.get("notes", ""), "voice": one.get("voice", "")}
        item = {
            "schema": 1, "id": str(n), "set": "ib_grammar", "task": "ib_grammar", "dataset": "ib_grammar",
            "system": "alpha", "group": "", "files": {}, "events": [], "reference": {"interaction": told},
            "infer": False, "missing": [], "failed": "", "duration": {}, "offset": 0.0,
        }  # fmt: skip
        write_json(folder / "item.json", item)
        if "talk" in one:
            write_json(folder / "talk.json", one["talk"])
            os.utime(folder / "talk.json", (1_700_000_000, 1_700_000_000))
        if "words" in one:
            write_json(folder / "words.json", {"spec": one["words"]})
    return Run(path, {"system": "alpha"} | ({"driven": driven} if driven else {}))


DRIVEN = {"system": {"name": "cascade", "options": {}}}


def test_each_part_of_a_cascade_is_told_with_checkpoint_and_revision(tmp_path: Path) -> None:
    words = {"name": "whisper", "revision": "1.2.1", "options": {"size": "base"}}
    told = made_with(run(tmp_path, {"talk": {"system": CASCADE}, "words": words}, driven=DRIVEN))
    assert told["system"] == "cascade, 1"
    assert told["model"] == "llamacpp, Smol.gguf, b179"
    assert told["voice"] == "hibari, 0.2.1"
    assert told["words"] == "whisper, base, 1.2.1"
    assert "reached" not in told


def test_items_that_were_made_with_different_revisions_are_counted(tmp_path: Path) -> None:
    newer = CASCADE | {"revision": "2"}
    told = made_with(run(tmp_path, *({"talk": {"system": one}} for one in (CASCADE, newer, newer)), driven=DRIVEN))
    assert told["system"] == "cascade, 2 (2 items); cascade, 1 (1 item)"


def test_a_date_is_told_as_noted_else_as_that_of_files(tmp_path: Path) -> None:
    told = made_with(run(tmp_path / "a", {"talk": {}}, driven=DRIVEN))
    assert told["recorded"] == "not noted; its files are dated 2023-11-14, and a copy may be dated anew"
    held = ({"talk": {"held": f"2026-03-0{day}T10:00:00+00:00"}} for day in (4, 2))
    assert made_with(run(tmp_path / "b", *held, driven=DRIVEN))["recorded"] == "2026-03-02 to 2026-03-04"
    assert made_with(run(tmp_path / "c", {}))["recorded"] == "not known"


def test_a_hosted_system_is_said_to_include_the_network(tmp_path: Path) -> None:
    driven = {"system": {"name": "realtime", "options": {"url": "wss://example.org/v1"}}}
    assert made_with(run(tmp_path, {"talk": {}}, driven=driven))["reached"] == "includes network"


def test_of_recordings_no_revision_is_known(tmp_path: Path) -> None:
    assert "no revision" in made_with(run(tmp_path, {}))["system"]


def test_an_accent_that_its_voice_has_not_is_said(tmp_path: Path) -> None:
    kokoro = 'kokoro:speed=1.0,voice="bm_george"'
    said = accents(
        run(tmp_path, {"notes": "accent: Spanish", "voice": kokoro},
            {"notes": "x; accent: Mandarin", "voice": "hibari:seed=0"}, {"notes": "", "voice": kokoro})
    )  # fmt: skip
    assert said == [
        "2 of 2 items that ask for an accent (1 Spanish, 1 Mandarin) were spoken without it: the voices "
        "(kokoro, hibari) have none"
    ]


def test_of_a_voice_that_may_have_an_accent_nothing_is_claimed(tmp_path: Path) -> None:
    (said,) = accents(run(tmp_path, {"notes": "accent: Spanish", "voice": "elevenlabs:voice=maria"}))
    assert "is not known: voices elevenlabs" in said


def test_a_run_without_accents_has_nothing_to_say(tmp_path: Path) -> None:
    assert accents(run(tmp_path, {"notes": "accept: taught"})) == []


@pytest.mark.parametrize("text", ["not json", "[]", '{"system": 3}'])
def test_a_talk_that_cannot_be_read_stops_no_report(tmp_path: Path, text: str) -> None:
    found = run(tmp_path, {"talk": {}}, driven=DRIVEN)
    (tmp_path / "trials/ib_grammar/1/talk.json").write_text(text)
    assert "recorded" in made_with(found)
