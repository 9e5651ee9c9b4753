"""Whether words are the words that were meant: texts as units that can be compared, in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

#: Scripts that put no spaces between words: each character is a unit.
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
#: Recognisers write small numbers either way.
_NUMBERS = dict(
    zip(
        map(str, range(13)),
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        strict=True,
    )
)


def units(text: str) -> tuple[str, ...]:
    """Return ``text`` as what is compared: words in lower case without marks, "7" as "seven" (0 to 12).

    Compatible forms are one (NFKC); an apostrophe inside a word is dropped ("don't" is "dont"), every other mark
    parts words. In scripts written without spaces each character is a unit, as error rates of such languages
    count them.
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    spaced = "".join(f" {c} " if _unspaced(c) else c if _sounds(c) else " " for c in plain)
    return tuple(_NUMBERS.get(word, word) for word in spaced.split())


def _sounds(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _unspaced(character: str) -> bool:
    if character.isascii() or not character.isalpha():
        return False
    return unicodedata.name(character, "").split(" ")[0].split("-")[0] in _UNSPACED


def holds(said: Sequence[str], phrase: Sequence[str]) -> int | None:
    """Return the index of the last unit of ``phrase`` where ``said`` first holds it in one piece, else None.

    An empty phrase is held by nothing.
    """
    n = len(phrase)
    wanted = tuple(phrase)
    firsts = (i for i in range(len(said) - n + 1) if tuple(said[i : i + n]) == wanted) if n else iter(())
    return next((i + n - 1 for i in firsts), None)


def contains(text: str, phrase: str) -> bool:
    """Return whether ``text`` holds ``phrase`` as whole units in one piece."""
    return holds(units(text), units(phrase)) is not None


def word_errors(said: Iterable[str], meant: Sequence[str]) -> int:
    """Return the fewest insertions, deletions and substitutions of units that make ``meant`` into ``said``."""
    return _errors_of_beginnings(said, meant)[-1]


def closest_beginning(said: Iterable[str], meant: Sequence[str]) -> tuple[int, int]:
    """Return the fewest errors between ``said`` and a beginning of ``meant``, and the units of the longest such one.

    For words that were cut off: what was not reached is no error.
    """
    errors = _errors_of_beginnings(said, meant)
    least = min(errors)
    return least, max(n for n, found in enumerate(errors) if found == least)


def _errors_of_beginnings(said: Iterable[str], meant: Sequence[str]) -> list[int]:
    """Return the errors of ``said`` against the first 0, 1, 2 ... units of ``meant``."""
    row = list(range(len(meant) + 1))
    for i, unit in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, wanted in enumerate(meant, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (unit != wanted))
    return row
