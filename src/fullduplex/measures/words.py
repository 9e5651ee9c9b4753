"""How many words a stretch of text holds, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby

#: Characters to a word, by script, where writing puts no spaces between words.
#: Ours: rounded means of dictionary word lengths in running text.
LETTERS_TO_A_WORD = {
    "CJK": 2,
    "HIRAGANA": 2,
    "KATAKANA": 3,
    "THAI": 4,
    "LAO": 4,
    "KHMER": 4,
    "MYANMAR": 4,
}
_RUN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*", re.UNICODE)


def count_words(text: str) -> int:
    """Return how many words ``text`` holds.

    A word is a run of letters and digits, with apostrophes and hyphens inside it
    (``mm-hmm`` is one, ``don't`` is one); punctuation is none. In scripts written
    without spaces a run of *k* characters of one script counts as
    ceil(*k* / :data:`LETTERS_TO_A_WORD`) words, combining marks not counted: 是的 is
    one word, 我明白了 two. Source: own; recognisers cut such text differently, so
    their number of chunks says nothing about words.
    """
    total = 0
    for run in _RUN.findall(unicodedata.normalize("NFC", text)):
        for script, letters in groupby((c for c in run if not unicodedata.combining(c)), key=_unspaced_script):
            n = sum(1 for _ in letters)
            total += 1 if script is None else -(-n // LETTERS_TO_A_WORD[script])
    return total


def count_all(texts: Iterable[str]) -> int:
    """Return how many words ``texts`` hold together."""
    return sum(map(count_words, texts))


def _unspaced_script(character: str) -> str | None:
    if character.isascii():
        return None
    first = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    return first if first in LETTERS_TO_A_WORD else None
