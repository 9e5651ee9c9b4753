"""What of a recorded conversation's times is not to be relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fullduplex.data.corpora.conversation import Conversation, Side
from fullduplex.measures.conversation import UNIT_ENDS_AFTER, Row, abutting
from fullduplex.model.spans import Span, Timeline


def doubts_of(conversation: Conversation) -> tuple[str, ...]:
    """Return what the reader of a conversation remarked on, and whether its turns were cut rather than measured.

    The first of them are the reader's remarks, which may name files and speakers; :func:`cut_of` names nobody.
    """
    cut = cut_of(conversation)
    return (*conversation.remarks, *([cut] if cut else []))


def cut_of(conversation: Conversation) -> str:
    """Return why the edges of a conversation's turns are not to be relied on, "" where nothing speaks against them.

    A side's turns are its words' units where words have times, whatever its lines do; else the transcript's lines; else
    its speech. Too many of them begin where the other side's end (:func:`~fullduplex.measures.conversation.abutting`).
    """
    spoken = [_turns(side) for side in conversation.sides]
    return abutting([Row(n, one.start, one.end) for n, side in enumerate(spoken) for one in side]).unreliable()


def _turns(side: Side) -> Sequence[Span]:
    if side.words is not None:
        return tuple(Timeline(word.span for word in side.words).bridge(UNIT_ENDS_AFTER))
    if any(one.text for one in side.utterances) or side.speech is None:
        return [one.span for one in side.utterances]
    return tuple(side.speech)


def told_once(doubts: Sequence[tuple[str, str]]) -> list[str]:
    """Return each doubt with the conversations that it is about: a name, or the first and how many more."""
    counts = Counter(doubt for _, doubt in doubts)
    first = {doubt: name for name, doubt in reversed(doubts)}
    return [f"{first[doubt]}{f' and {n - 1} more' if n > 1 else ''}: {doubt}" for doubt, n in counts.items()]
