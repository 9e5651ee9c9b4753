"""What words alone tell, by language: of a listener's token, of a sentence's end, of a turn that asks or answers."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fullduplex.driving.wording import units
from fullduplex.errors import InputError
from fullduplex.making.harvest.tokens import AFFIRMATIVE, UNCERTAINTY, Phrases, Tokens, pieces_of, tokens_of

__all__ = ["AFFIRMATIVE", "UNCERTAINTY", "Lexicon", "lexicon_of", "pieces_of"]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The lists of a language, as ``lexicon.toml`` has them; phrases are in units."""

    language: str
    tokens: Tokens
    open: frozenset[str]
    asks: frozenset[str]
    answers: Phrases
    tails: Phrases
    question_acts: frozenset[str]
    answer_acts: frozenset[str]

    def kind(self, token: str) -> str:
        """Return of what kind a listener's token is, "" where its words do not tell: as its list has it."""
        return self.tokens.kind(token)

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

    def phrases(name: str) -> Phrases:
        return frozenset(tuple(each.split()) for each in lists[name])

    return Lexicon(
        language, tokens_of(language), frozenset(lists["open"]), frozenset(lists["asks"]), phrases("answers"),
        phrases("tails"), frozenset(lists["question_acts"]), frozenset(lists["answer_acts"]),
    )  # fmt: skip
