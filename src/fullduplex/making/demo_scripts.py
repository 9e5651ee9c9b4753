"""The scripts of the demo: what its users say, and what a system could say to them. All words are our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from fullduplex.providers.voices import Voice
from fullduplex.providers.voices.hibari import Hibari
from fullduplex.providers.voices.pico import Pico

#: What a listener says to show that they listen.
NODS = ("Mm-hmm.", "Right.", "Uh-huh.", "Yeah.")


@dataclass(frozen=True, slots=True)
class Lines:
    """One item's script. ``pauses`` (seconds) lie between the ``phrases``; both are of the user.

    ``answer`` is what a system says to the phrases, and ``reply`` to the ``interrupt`` that
    comes into that answer; without an interrupt there is only the ``answer``. ``nods`` are
    the phrases after which a good listener shows that it listens.
    """

    dataset: str
    id: str
    voice: str
    phrases: tuple[str, ...]
    pauses: tuple[float, ...]
    answer: str
    interrupt: str = ""
    reply: str = ""
    nods: tuple[int, ...] = ()


#: Between the phrases of a long story, in seconds; shorter than what is marked as a pause elsewhere.
BREATH = 0.45
#: What a system that takes the turn says to a story that needs no answer.
INTRUSION = "That reminds me of something that happened to me, and I have to tell you about it right now."


def scripts() -> tuple[Lines, ...]:
    """Return every script of the demo, by dataset and number."""
    raw: Mapping[str, Any] = json.loads(files(__package__).joinpath("demo_scripts.json").read_text("utf-8"))
    return tuple(_lines(dataset, str(i), line) for dataset, lines in raw.items() for i, line in enumerate(lines))


def _lines(dataset: str, id: str, line: Mapping[str, Any]) -> Lines:
    phrases = tuple(line["phrases"] if "phrases" in line else [line["context"]])
    return Lines(
        dataset,
        id,
        line["voice"],
        phrases,
        tuple(line.get("pauses", [BREATH] * (len(phrases) - 1))),
        line.get("answer") or line.get("reply", INTRUSION),
        line.get("interrupt", ""),
        line["reply"] if "interrupt" in line else "",
        tuple(line.get("nods", ())),
    )


def user_voices() -> dict[str, Voice]:
    """Return the voices of the demo's users by name; no system speaks with any of them."""
    return {"hibari-low": Hibari(pitch=0.84), "pico-gb": Pico("en-GB"), "pico-us": Pico("en-US")}


def system_voice() -> Voice:
    """Return the voice of the demo's systems: one that knows its word times."""
    return Hibari()
