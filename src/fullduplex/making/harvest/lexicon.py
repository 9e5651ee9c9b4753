"""What words alone tell, by language: of a listener's token, of a sentence's end, of a turn that asks or answers."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fullduplex.driving.wording import units
from fullduplex.errors import InputError

AFFIRMATIVE, UNCERTAINTY = "affirmative", "uncertainty"
_Phrases = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The lists of a language, as ``lexicon.toml`` has them; phrases are in units."""

    language: str
    affirmative: _Phrases
    uncertain: _Phrases
    neutral: _Phrases
    open: frozenset[str]
    asks: frozenset[str]
    answers: _Phrases
    tails: _Phrases
    question_acts: frozenset[str]
    answer_acts: frozenset[str]

    def kind(self, token: str) -> str:
        """Return of what kind a listener's token is, "" where its words do not tell.

        It is cut into the longest known phrases. One that is uncertain, or a question mark, makes it uncertain, else
        one that is affirmative affirmative; a piece that is not known makes it neither.
        """
        said = units(token)
        pieces = pieces_of(said, self.affirmative | self.uncertain | self.neutral)
        if not pieces or any(piece is None for piece in pieces):
            return ""
        known = [piece for piece in pieces if piece is not None]
        if token.rstrip("\"'”’) ").endswith("?"):
            return UNCERTAINTY
        telling = [piece for piece in known if piece not in self.neutral]
        if any(piece in self.uncertain for piece in telling):
            return UNCERTAINTY
        return AFFIRMATIVE if telling else ""

    def is_open(self, text: str) -> bool:
        """Tell whether a sentence's last word leaves it open."""
        said = units(text)
        return bool(said) and said[-1] in self.open


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return the lexicon of a language; raises :class:`InputError` where there is none."""
    told = tomllib.loads(files(__package__).joinpath("lexicon.toml").read_text(encoding="utf-8"))
    if language not in told:
        raise InputError(
            "--language", found=language, expected=f"{' or '.join(told)}, whose words are listed",
            do="give --model, which needs no list",
        )  # fmt: skip
    lists = told[language]

    def phrases(name: str) -> _Phrases:
        return frozenset(tuple(each.split()) for each in lists[name])

    return Lexicon(
        language, phrases("affirmative"), phrases("uncertain"), phrases("neutral"), frozenset(lists["open"]),
        frozenset(lists["asks"]), phrases("answers"), phrases("tails"), frozenset(lists["question_acts"]),
        frozenset(lists["answer_acts"]),
    )  # fmt: skip


def pieces_of(said: Sequence[str], known: _Phrases) -> list[tuple[str, ...] | None]:
    """Return the longest known phrases that ``said`` is made of, from its beginning; None for a unit of none."""
    longest = max((len(phrase) for phrase in known), default=1)
    found, at = list[tuple[str, ...] | None](), 0
    while at < len(said):
        size = next((n for n in range(longest, 0, -1) if tuple(said[at : at + n]) in known and at + n <= len(said)), 0)
        found.append(tuple(said[at : at + size]) if size else None)
        at += size or 1
    return found
