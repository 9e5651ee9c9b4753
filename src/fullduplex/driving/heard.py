"""The words that a listener heard, where the system knows when it says each.

A synthesiser places its words inside an utterance; playout says when each part of the
utterance sounded, and a flush which part never did.
"""

from __future__ import annotations

from collections.abc import Iterable

from fullduplex.driving.cues import Ear
from fullduplex.driving.link import Closed, Note, Said, UserVad
from fullduplex.driving.playout import Placed
from fullduplex.model.spans import SECOND, Span
from fullduplex.model.speech import Word


class WordsAsTheySound:
    """Tells an ear each word of the system's at the moment at which it has sounded.

    A report that places its words inside an utterance is kept until the utterance's chunks sound; any
    other counts when it comes.
    """

    def __init__(self, ear: Ear, rate: int) -> None:
        self._ear, self._rate = ear, rate
        self._waiting: dict[str, list[tuple[int, str]]] = {}

    @property
    def waiting(self) -> bool:
        """Return whether there are words that have not sounded."""
        return bool(self._waiting)

    def take(self, said: Said, sounded: Iterable[Placed]) -> None:
        """Take a report; ``sounded`` are all placements so far, for a report that comes after its sound."""
        placed = said.who == "system" and bool(said.words)
        self._ear.report(said.who, said.text, said.arrived, placed=placed)
        if not placed:
            return
        waiting = self._waiting.setdefault(said.id, [])
        waiting += [(end, text) for text, _, end in said.words]
        waiting.sort()
        self.sound(sounded, self._ear.now)

    def sound(self, parts: Iterable[Placed], now: int) -> None:
        """Let the words sound that the chunks of ``parts`` have carried until ``now`` (microseconds)."""
        if not self._waiting:
            return
        for part in parts:
            waiting, source = self._waiting.get(part.chunk.id), part.chunk.source
            if not waiting or source is None or not part.played:
                continue
            start = part.start * SECOND // self._rate
            reach = source + min(part.played * SECOND // self._rate, now - start)
            while waiting and waiting[0][0] <= reach:
                end, text = waiting.pop(0)
                # What ended before this chunk was cut out of what sounded.
                if end >= source:
                    self._ear.word(text, start + end - source)
            if not waiting:
                del self._waiting[part.chunk.id]


def words_heard(
    placed: Iterable[Placed], notes: Iterable[Said | UserVad | Note | Closed], rate: int, *, length: int
) -> tuple[Word, ...]:
    """Return the system's words that sounded before ``length`` (microseconds), in order of time.

    A word is heard when at least half of it sounded; one that was cut ends where it was cut.
    Words come from :class:`Said` with ``words``, and belong to the chunks of the same id that
    carry their ``source``.
    """
    parts: dict[str, list[Placed]] = {}
    for part in placed:
        if part.played and part.chunk.source is not None:
            parts.setdefault(part.chunk.id, []).append(part)
    words = [
        found
        for said in notes
        if isinstance(said, Said) and said.who == "system"
        for text, start, end in said.words
        if (found := _heard(text, start, end, parts.get(said.id, ()), rate, length)) is not None
    ]
    return tuple(sorted(words, key=lambda word: word.span))


def _heard(text: str, start: int, end: int, parts: Iterable[Placed], rate: int, length: int) -> Word | None:
    # Some systems say of a short word that it begins and ends at one moment.
    end = max(end, start + 1)
    sounded: list[Span] = []
    for part in parts:
        source = part.chunk.source or 0
        inside = Span(start, end) & Span(source, source + max(1, part.played * SECOND // rate))
        if inside is None:
            continue
        span = inside.shift(part.start * SECOND // rate - source)
        if span.start < length:
            sounded.append(Span(span.start, min(span.end, length)))
    if 2 * sum(span.duration for span in sounded) < end - start or not sounded:
        return None
    return Word(text, Span(sounded[0].start, sounded[-1].end))
