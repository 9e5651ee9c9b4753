"""What of a recorded conversation's times is not to be relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fullduplex.data.corpora.conversation import Conversation
from fullduplex.measures.conversation import Row, abutting


def doubts_of(conversation: Conversation) -> tuple[str, ...]:
    """Return what the reader of a conversation remarked on, and whether its turns were cut rather than measured.

    Turns are the transcript's own lines. Where words have times, lines may touch as they like.
    """
    told = list(conversation.remarks)
    if any(side.words is None for side in conversation.sides):
        rows = [
            Row(n, line.span.start, line.span.end)
            for n, side in enumerate(conversation.sides)
            for line in side.utterances
        ]
        if why := abutting(rows).unreliable():
            told.append(why)
    return tuple(told)


def told_once(doubts: Sequence[tuple[str, str]]) -> list[str]:
    """Return each doubt with the conversations that it is about: a name, or the first and how many more."""
    counts = Counter(doubt for _, doubt in doubts)
    first = {doubt: name for name, doubt in reversed(doubts)}
    return [f"{first[doubt]}{f' and {n - 1} more' if n > 1 else ''}: {doubt}" for doubt, n in counts.items()]
