"""What the cues of an item say, word by word where its maker knows: the user's words, and other voices'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds
from fullduplex.reporting.review.laid_out import LaidOut

#: Who in a maker's script.json is another voice than the user's.
_OTHERS = ("background",)
#: A word as the page has it: text, start and end in seconds, None where its place is not known.
Word = list[Any]


@dataclass(slots=True)
class Spoken:
    """``user`` and ``others`` are words, ``sounding`` the spans in seconds in which the user's side is heard."""

    user: list[Word] = field(default_factory=list)
    others: list[Word] = field(default_factory=list)
    sounding: list[list[float]] = field(default_factory=list)


def spoken(folder: Path, texts: Mapping[str, str], laid: LaidOut) -> Spoken:
    """Return what is said in ``folder``'s item as it is laid out.

    Words and their places are those of script.json, where a maker left one; else the cues' ``texts`` without places.
    """
    phrases = _phrases(folder / "script.json")
    made = Spoken()
    for name, span in laid.turns.items():
        start, end = in_seconds(span.start), in_seconds(span.end)
        known = phrases.get(name)
        if not known:
            made.user += [[word, None, None] for word in texts.get(name, "").split()]
            made.sounding.append([start, end])
            continue
        for who, (first, last), words in known:
            made.sounding.append([start + first, min(start + last, end)])
            of = made.others if who in _OTHERS else made.user
            of += [[text, start + first, start + last] for text, first, last in words]
    made.others.sort(key=lambda word: float(word[1]))
    return made


def _phrases(path: Path) -> dict[str, list[tuple[str, tuple[float, float], list[tuple[str, float, float]]]]]:
    """Return who says what in each cue; nothing where the file is no maker's: it is a help, and not the item."""
    try:
        told = read_json(path) if path.is_file() else None
        return {cue: list(phrases) for cue, phrases in _read(told)} if isinstance(told, dict) else {}
    except (InputError, KeyError, TypeError, ValueError, AttributeError):
        return {}


def _read(told: Mapping[str, Any]) -> Iterator[tuple[str, Iterator[Any]]]:
    for cue in told.get("cues") or ():
        yield str(cue["id"]), _of_cue(sorted(cue["phrases"], key=lambda phrase: float(phrase["timestamp"][0])))


def _of_cue(phrases: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    for phrase in phrases:
        first, last = map(float, phrase["timestamp"])
        words = [(str(word["text"]), *map(float, word["timestamp"])) for word in phrase["words"]]
        yield str(phrase["who"]), (first, last), words or [(str(phrase["text"]), first, last)]
