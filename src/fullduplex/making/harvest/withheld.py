"""What identifies a speaker in a text is put out of it: numbers, addresses, and names as far as they can be told.

Put out are: addresses of mail and of pages; four or more digits, or number words, in a row; up to two words after a
phrase by which people say their name; every word of a list of names that is given. Names that are said otherwise stay:
a person has to look, and the sound tells all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fullduplex.driving.wording import units

NUMBER, NAME, ADDRESS = "[number]", "[name]", "[address]"
#: So many digits in a row may be a telephone's.
_DIGITS = 4
#: How people say who they are; what follows, up to two words, is a name.
_INTRODUCES = {
    "en": ("my name is", "my names", "this is mister", "this is missus", "last name is", "first name is"),
    "fr": ("je mappelle", "mon nom est", "mon nom cest", "cest monsieur", "cest madame"),
    "de": ("ich heiße", "mein name ist", "ich bin der herr", "ich bin die frau"),
    "nl": ("ik heet", "mijn naam is", "u spreekt met"),
    "es": ("me llamo", "mi nombre es"),
    "ja": ("名前は", "watashi no namae wa"),
    "zh": ("我叫", "我的名字是", "wo jiao"),
}
_DIGIT_WORDS = {
    "en": "zero oh one two three four five six seven eight nine",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf",
    "de": "null eins zwei zwo drei vier fünf sechs sieben acht neun",
    "nl": "nul een één twee drie vier vijf zes zeven acht negen",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "ja": "ゼロ 零 一 二 三 四 五 六 七 八 九",
    "zh": "零 幺 一 二 三 四 五 六 七 八 九",
}
_ADDRESS = re.compile(r"\S+@\S+\.\S+|(?:https?://|www\.)\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Withheld:
    """What is put out of texts of a language; ``names`` are words in units."""

    language: str
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, language: str, names: Iterable[str] = ()) -> Withheld:
        """Return what is put out, with a list of names, each of one word or more."""
        return cls(language, frozenset(unit for name in names for unit in units(name)))

    def words(self, texts: Sequence[str]) -> list[str]:
        """Return a speaker's words in order, with what identifies somebody replaced; as many as were given."""
        said = [units(text) for text in texts]
        made = list(texts)
        for n, unit in enumerate(said):
            if _ADDRESS.search(texts[n]):
                made[n] = ADDRESS
            elif self.names.intersection(unit):
                made[n] = NAME
        for n in self._after_introductions(said):
            made[n] = NAME
        for n in self._numbers(texts, said):
            made[n] = NUMBER
        return made

    def text(self, text: str) -> str:
        """Return a text with what identifies somebody replaced."""
        return " ".join(self.words(text.split()))

    def _after_introductions(self, said: Sequence[tuple[str, ...]]) -> Iterable[int]:
        flat = [(unit, n) for n, those in enumerate(said) for unit in those]
        for phrase in map(units, _INTRODUCES.get(self.language, ())):
            for at in range(len(flat) - len(phrase) + 1):
                if tuple(unit for unit, _ in flat[at : at + len(phrase)]) == phrase:
                    last = flat[at + len(phrase) - 1][1]
                    yield from range(last + 1, min(last + 3, len(said)))

    def _numbers(self, texts: Sequence[str], said: Sequence[tuple[str, ...]]) -> Iterable[int]:
        digits = {each for word in _DIGIT_WORDS.get(self.language, "").split() for each in units(word)}
        # units() writes small numbers as English words.
        digits |= set(units("0 1 2 3 4 5 6 7 8 9"))
        run, length = list[int](), 0
        for n in range(len(texts) + 1):
            here = 0
            if n < len(texts):
                plain = re.sub(r"\W", "", texts[n])
                here = len(plain) if plain.isdigit() else len(said[n]) if said[n] and digits.issuperset(said[n]) else 0
            if here:
                run.append(n)
                length += here
                continue
            if length >= _DIGITS:
                yield from run
            run, length = [], 0
