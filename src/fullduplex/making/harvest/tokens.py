"""The tokens by which a listener shows attention without taking the turn, by language."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, read_text_file
from fullduplex.driving.wording import units
from fullduplex.errors import InputError

AFFIRMATIVE, UNCERTAINTY = "affirmative", "uncertainty"
Phrases = frozenset[tuple[str, ...]]
_LISTS = ("affirmative", "uncertain", "neutral")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A language's lists as ``backchannels.toml`` has them, phrases in units; ``source``: where they are from."""

    language: str
    affirmative: Phrases
    uncertain: Phrases
    neutral: Phrases
    source: str = ""

    def kind(self, said: str) -> str:
        """Return of what kind a listener's token is, "" where its words do not tell.

        It is cut into the longest known phrases. One that is uncertain, or a question mark, makes it uncertain, else
        one that is affirmative affirmative; a piece that is not known makes it neither.
        """
        pieces = pieces_of(units(said), self.affirmative | self.uncertain | self.neutral)
        if not pieces or any(piece is None for piece in pieces):
            return ""
        if said.rstrip("\"'”’) ").endswith(("?", "？")):
            return UNCERTAINTY
        telling = [piece for piece in pieces if piece not in self.neutral]
        if any(piece in self.uncertain for piece in telling):
            return UNCERTAINTY
        return AFFIRMATIVE if telling else ""


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("backchannels.toml").read_text(encoding="utf-8"))


def languages() -> tuple[str, ...]:
    """Return the languages that there are lists of."""
    return tuple(_shipped())


@cache
def tokens_of(language: str) -> Tokens:
    """Return the tokens of a language; raises :class:`InputError` where there is no list of it."""
    if language not in _shipped():
        raise InputError(
            "--language", found=language, expected=f"one of {', '.join(languages())}, whose tokens are listed",
            do="give your own list with --tokens FILE.toml (affirmative, uncertain, neutral and their source)",
        )  # fmt: skip
    return _made(language, _shipped()[language])


def tokens_from(path: Path, language: str) -> Tokens:
    """Return the tokens of a TOML file: the three lists and their ``source``; raises :class:`InputError`."""
    try:
        told = tomllib.loads(read_text_file(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, found=str(error), expected="a TOML file") from error
    for name, value in told.items():
        if name == "source" and isinstance(value, str):
            continue
        if name not in _LISTS or not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(path, name, found=brief(value), expected=f"lists of texts: {', '.join(_LISTS)}; a source")
    if not told.get("affirmative"):
        raise InputError(path, "affirmative", found="none", expected="the tokens that show attention")
    return _made(language, told)


def _made(language: str, lists: dict[str, Any]) -> Tokens:
    def phrases(name: str) -> Phrases:
        return frozenset(found for each in lists.get(name, ()) if (found := units(each)))

    return Tokens(
        language, phrases("affirmative"), phrases("uncertain"), phrases("neutral"), str(lists.get("source", ""))
    )


def pieces_of(said: Sequence[str], known: Phrases) -> list[tuple[str, ...] | None]:
    """Return the longest known phrases that ``said`` is made of, from its beginning; None for a unit of none."""
    longest = max((len(phrase) for phrase in known), default=1)
    found, at = list[tuple[str, ...] | None](), 0
    while at < len(said):
        size = next((n for n in range(longest, 0, -1) if tuple(said[at : at + n]) in known and at + n <= len(said)), 0)
        found.append(tuple(said[at : at + size]) if size else None)
        at += size or 1
    return found
