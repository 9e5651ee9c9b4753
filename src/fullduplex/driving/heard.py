"""The words that a listener heard, where the system knows when it says each.

A synthesiser places its words inside an utterance; playout says when each part of the
utterance sounded, and a flush which part never did.
"""

from __future__ import annotations

from collections.abc import Iterable

from fullduplex.driving.link import Closed, Note, Said, UserVad
from fullduplex.driving.playout import Placed
from fullduplex.model.spans import SECOND, Span
from fullduplex.model.speech import Word


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
