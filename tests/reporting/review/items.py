"""Action items by hand, small ones: what tests of reviews of items share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import write_json

RATE = 8_000
HOSTILE = "</script><img src=x onerror=document.title='taken'>"


def write_item(
    data: Path, name: str, id: str, *, marks: Sequence[Mapping[str, Any]] = (), script: Sequence[tuple[str, str]] = (),
    second: str = "", recorded: bool = False, into: float = 2.0,
) -> Path:  # fmt: skip
    """Write an item of the condition ``name``: 2 s of the user's first cue, 1 s of the cue called ``second``."""
    folder = data / f"da_{name}" / id
    folder.mkdir(parents=True)
    lengths = {"u0": 2.0} | ({second: 1.0} if second else {})
    for cue, length in lengths.items():
        seconds = np.arange(round(length * RATE)) / RATE
        audio.write(folder / f"{cue}.wav", (0.3 * np.sin(2 * np.pi * 220 * seconds)).astype(np.float32), RATE)
    dues = [{"when": "at", "time": 0.5}, {"when": "into_reply", "delay": into}]
    cues = [
        {"id": cue, "audio": f"{cue}.wav", "text": f"what {cue} says {HOSTILE}", "due": due}
        for cue, due in zip(lengths, dues, strict=False)
    ]
    write_json(folder / "cues.json", {"schema": 1, "cues": cues, "hang_up": {"quiet": 4, "patience": 8}, "cap": 60})
    users = iter(lengths)
    lines = [
        {"who": who, "text": text} | ({"cue": next(users)} if who == "user" else {})
        for who, text in (script or [("user", "what u0 says")])
    ]
    write_json(folder / "interaction.json", {
        "schema": 1, "scenario": name, "target": "says that it is right", "setting": "casual", "script": lines,
        "origin": "recorded" if recorded else "synthesised", "synthesised": not recorded,
        "marks": [{"cue": "u0", **mark} for mark in marks],
    })  # fmt: skip
    return folder


def write_items(data: Path, each: int = 3) -> Path:
    """Write ``each`` items of four conditions, one of them from recordings."""
    wait = {"start": 0.9, "end": 1.4, "kind": "wait"}
    aside = {"start": 0.8, "end": 1.6, "kind": "ignored", "text": f"hold my bottle {HOSTILE}"}
    for number in range(each):
        id = f"{number:02d}"
        write_item(data, "wait_intra_pause", id, marks=[wait], recorded=True)
        write_item(data, "ignore_other_directed", id, marks=[aside])
        write_item(
            data, "stop_direct_interruption", id, second="u1",
            script=[("user", "tell me all"), ("assistant", "one two three four five six seven eight nine"),
                    ("user", "stop it"), ("assistant", "well then no")],
        )  # fmt: skip
        write_item(
            data, "hold_floor_continue", id, second="u1",
            script=[("user", "tell me all"), ("assistant", "one two three"), ("user", "go on"),
                    ("assistant", "four five six")],
        )  # fmt: skip
    return data
