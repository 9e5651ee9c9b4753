"""A reply that is still being written is cut where a voice may begin to speak, and where a listener stopped hearing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Marks after which a sentence is over, if a space follows; closing quotes belong to them.
_SENTENCE = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|\n+")
_CLAUSE = re.compile(r"[,;:—]+[\"'”’»)\]]*(?=\s)")
#: What ends in a dot and ends no sentence.
_SHORT = re.compile(r"\b(?:mr|mrs|ms|dr|st|prof|vs|e\.g|i\.e|mme|p\.ex|[A-Z]|\d{1,2})\.$", re.IGNORECASE)
#: Marks of written text that nobody reads aloud.
_WRITTEN = re.compile(r"[*_#`~|<>\[\]{}]+")
#: A clause of fewer words is not spoken by itself, and more than these without a mark are not waited for.
FEWEST, MOST = 4, 30


class Clauses:
    """What has been written of a reply and has yet to be spoken.

    The first piece may end at a comma, so that the voice begins early; later ones end with
    a sentence, which sounds better, since by then there is something to listen to.
    """

    def __init__(self) -> None:
        self._text, self._begun = "", False

    def add(self, text: str) -> list[str]:
        """Take what was written next and return the pieces that it completes."""
        self._text += _WRITTEN.sub(" ", text)
        found = []
        while (cut := self._cut()) is not None:
            piece, self._text = self._text[:cut], self._text[cut:]
            found += self._piece(piece)
        return found

    def end(self) -> list[str]:
        """Return what is left, as one piece or none."""
        piece, self._text = self._text, ""
        return self._piece(piece)

    def _piece(self, text: str) -> list[str]:
        plain = " ".join(text.split())
        if not any(c.isalnum() for c in plain):
            return []
        self._begun = True
        return [plain]

    def _cut(self) -> int | None:
        """Return where the first piece ends, if that is known: the same however the text was split when it came."""
        ends = [mark.end() for mark in _SENTENCE.finditer(self._text) if self._is_sentence(mark)]
        if not self._begun:
            ends += [mark.end() for mark in _CLAUSE.finditer(self._text) if self._is_clause(mark)]
        words = list(re.finditer(r"\S+\s+", self._text))
        if len(words) >= MOST:
            ends.append(words[MOST - 1].end())
        return min(ends, default=None)

    def _is_sentence(self, mark: re.Match[str]) -> bool:
        return bool(self._text[: mark.start()].strip()) and not _SHORT.search(self._text[: mark.end()])

    def _is_clause(self, mark: re.Match[str]) -> bool:
        return len(self._text[: mark.start()].split()) >= FEWEST


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an utterance: its text, its place in it in microseconds, and its words, each ``(text, start, end)``.

    ``words`` are in microseconds from the utterance's beginning, and empty where the voice tells none.
    """

    text: str
    start: int
    end: int
    words: tuple[tuple[str, int, int], ...] = ()


def heard_of(pieces: Sequence[Piece], played: int) -> str:
    """Return the words of an utterance that were heard when ``played`` microseconds of it had sounded.

    A word was heard if at least half of it sounded. Where a voice tells no word times, each word
    has its share, by letters, of its piece's time.
    """
    return " ".join(text for piece in pieces for text, start, end in _words(piece) if start + end <= 2 * played)


def _words(piece: Piece) -> Sequence[tuple[str, int, int]]:
    if piece.words:
        return piece.words
    words = piece.text.split()
    letters = max(1, sum(map(len, words)))
    found, before = [], 0
    for word in words:
        after = before + len(word)
        span = piece.end - piece.start
        found.append((word, piece.start + span * before // letters, piece.start + span * after // letters))
        before = after
    return found
