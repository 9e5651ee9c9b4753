"""Where a side's sentences end: by punctuation, else by dialogue acts, else by the transcript's own lines.

``punctuation``: a sentence ends with ``.``, ``?``, ``!`` or ``…``; text counts as punctuated where such a mark stands
often enough. ``slash units``: a sentence is a unit that an act was given to; an act that continues (``+``) belongs to
the unit before it. ``utterances``: a sentence is a line of the transcript, which may well break one. Else: none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullduplex.data.corpora.conversation import Act, Side
from fullduplex.making.harvest.rules import Rules
from fullduplex.model.spans import Span
from fullduplex.model.speech import Word

#: Whose boundaries they are; the later, the weaker.
PUNCTUATION, SLASH_UNITS, UTTERANCES, NONE = "punctuation", "slash units", "utterances", "none"
_ENDS = re.compile(r"[.?!…][\"'”’)\]]*$")
#: A full stop after these ends no sentence.
_SHORT = re.compile(r"(?:mr|mrs|ms|dr|st|vs|etc|jr|sr|no|e\.g|i\.e|[a-z])\.", re.IGNORECASE)
#: Acts that are abandoned or cannot be told, and the one that continues what the same side began.
_ABANDONED, _CONTINUES = "%", "+"


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words ``[first, last)`` of a side. ``act`` is the tag of its last act, "" where none is known.

    ``finished``: its corpus does not say that it was abandoned.
    """

    first: int
    last: int
    span: Span
    finished: bool = True
    act: str = ""


def sentences_of(side: Side, rules: Rules) -> tuple[tuple[Sentence, ...], str]:
    """Return a side's sentences in order, and by what they are told apart; every word is in one, or there are none."""
    words = side.words or ()
    if not words:
        return (), NONE
    marks = sum(_ends(word.text) for word in words)
    if marks * rules.between_marks >= len(words):
        return tuple(_punctuated(words, rules)), PUNCTUATION
    if side.acts:
        return tuple(_units(side, words)), SLASH_UNITS
    if side.utterances:
        return tuple(_lines(side, words)), UTTERANCES
    return (), NONE


def _ends(text: str) -> bool:
    if not _ENDS.search(text):
        return False
    # An initial ends nothing; the pronoun does.
    return text == "I." or not _SHORT.fullmatch(text)


def _made(words: Sequence[Word], first: int, last: int, finished: bool = True, act: str = "") -> Sentence:
    return Sentence(first, last, Span(words[first].span.start, words[last - 1].span.end), finished, act)


def _punctuated(words: Sequence[Word], rules: Rules) -> Iterator[Sentence]:
    """Yield what lies between marks. One without a mark ends where a turn would end, and is unfinished."""
    first = 0
    for n, word in enumerate(words, 1):
        silent = n < len(words) and words[n].span.start - word.span.end > rules.turn_gap_at_most
        if _ends(word.text) or silent or n == len(words):
            yield _made(words, first, n, _ends(word.text) and not word.text.endswith("…"))
            first = n


def _units(side: Side, words: Sequence[Word]) -> Iterator[Sentence]:
    """Yield units; words that no act covers are unfinished sentences of their own: nobody has told where they end."""
    runs = list[tuple[int, int, list[Act]]]()
    for act in side.acts:
        before = runs[-1] if runs else None
        joins = before is not None and (act.unit == before[2][-1].unit or base_tag(act.tag) == _CONTINUES)
        if before is not None and joins and before[1] == act.first:
            runs[-1] = (before[0], act.last, [*before[2], act])
        else:
            runs.append((act.first, act.last, [act]))
    at = 0
    for first, last, acts in runs:
        if at < first:
            yield _made(words, at, first, False)
        tags = [base_tag(act.tag) for act in acts]
        told = [tag for tag in tags if tag != _CONTINUES]
        # A continuation whose beginning is not beside it begins in the middle of a sentence.
        finished = tags[-1] != _ABANDONED and tags[0] != _CONTINUES
        yield _made(words, first, last, finished, told[-1] if told else _CONTINUES)
        at = last
    if at < len(words):
        yield _made(words, at, len(words), False)


def base_tag(tag: str) -> str:
    """Return a tag without what only qualifies it: ``sd^e`` is ``sd``, ``b^r`` is ``b``, ``aa,o@`` is ``aa``."""
    return re.split(r"[\^@*,(;]", tag, maxsplit=1)[0] or tag


def _lines(side: Side, words: Sequence[Word]) -> Iterator[Sentence]:
    lines = sorted(side.utterances, key=lambda one: one.span)
    first, line = 0, 0
    for n, word in enumerate(words):
        moved = line
        while moved + 1 < len(lines) and lines[moved + 1].span.start <= word.span.start:
            moved += 1
        if moved != line and n > first:
            yield _made(words, first, n)
            first = n
        line = moved
    yield _made(words, first, len(words))
