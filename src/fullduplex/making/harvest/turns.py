"""What each side says without much silence, and whose turn it is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullduplex.data.corpora.conversation import Conversation, Side
from fullduplex.making.harvest.rules import Rules
from fullduplex.making.harvest.sentences import Sentence, sentences_of
from fullduplex.measures.squeezed import squeezed
from fullduplex.measures.words import count_all
from fullduplex.model.spans import Span, Timeline
from fullduplex.model.speech import Word


@dataclass(frozen=True, slots=True)
class Stretch:
    """The words ``[first, last)`` of a side, and the time from the first one's start to the last one's end.

    ``count``: how many words they are, as a reader would count them.
    """

    first: int
    last: int
    span: Span
    count: int


@dataclass(frozen=True, slots=True)
class Voice:
    """One side with all that is told apart in its words.

    ``utterances`` are words without a long silence, ``turns`` utterances of one floor. ``untold`` is where the side
    is heard for long and no words say what, or words that nobody can say in that time. ``boundaries`` is by what its
    sentences are told apart.
    """

    side: Side
    words: tuple[Word, ...]
    sentences: tuple[Sentence, ...]
    boundaries: str
    utterances: tuple[Stretch, ...]
    turns: tuple[Stretch, ...]
    untold: Timeline

    def between(self, span: Span) -> tuple[Stretch, ...]:
        """Return the utterances that sound in ``span``."""
        begins = bisect_right(self.utterances, span.start, key=lambda one: one.span.end)
        ends = bisect_left(self.utterances, span.end, key=lambda one: one.span.start)
        return self.utterances[begins:ends]

    def substantive(self, span: Span, rules: Rules) -> bool:
        """Tell whether the side says more than something brief in ``span``, or is heard for long without words."""
        return any(one.count > rules.brief_words for one in self.between(span)) or bool(self.untold.within(span))

    def text(self, first: int, last: int) -> str:
        """Return the words ``[first, last)`` as text."""
        return " ".join(word.text for word in self.words[first:last])

    def sentences_in(self, first: int, last: int) -> tuple[int, int]:
        """Return the range of the sentences that lie in the words ``[first, last)`` whole."""
        begins = bisect_left(self.sentences, first, key=lambda one: one.first)
        ends = bisect_right(self.sentences, last, key=lambda one: one.last)
        return begins, max(begins, ends)

    def sentence_at(self, word: int) -> int | None:
        """Return the index of the sentence that holds a word, None where sentences are not known."""
        found = bisect_right(self.sentences, word, key=lambda one: one.first) - 1
        return found if found >= 0 and word < self.sentences[found].last else None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation whose words are known, its two voices in the order of its sides."""

    name: str
    language: str
    voices: tuple[Voice, Voice]

    def pairs(self) -> Iterator[tuple[Voice, Voice]]:
        """Yield each voice with the other one."""
        first, second = self.voices
        yield first, second
        yield second, first


def talk_of(conversation: Conversation, rules: Rules) -> Talk:
    """Return a conversation's utterances, turns and sentences. Its words have to be known, on both sides."""
    said = [_utterances(side.words or (), rules) for side in conversation.sides]
    voices = list[Voice]()
    for n, side in enumerate(conversation.sides):
        words = side.words or ()
        sentences, boundaries = sentences_of(side, rules)
        untold = _untold(side, rules)
        turns = _turns(words, said[n], said[1 - n], rules)
        voices.append(Voice(side, words, sentences, boundaries, said[n], turns, untold))
    return Talk(conversation.name, conversation.language, (voices[0], voices[1]))


def _stretch(words: Sequence[Word], first: int, last: int) -> Stretch:
    span = Span(words[first].span.start, max(word.span.end for word in words[first:last]))
    return Stretch(first, last, span, count_all(word.text for word in words[first:last]))


def _utterances(words: Sequence[Word], rules: Rules) -> tuple[Stretch, ...]:
    found, first = list[Stretch](), 0
    for n in range(1, len(words) + 1):
        if n == len(words) or words[n].span.start - words[n - 1].span.end > rules.joined_within:
            found.append(_stretch(words, first, n))
            first = n
    return tuple(found)


def _turns(
    words: Sequence[Word], own: Sequence[Stretch], other: Sequence[Stretch], rules: Rules
) -> tuple[Stretch, ...]:
    """Return the turns: utterances of one side, with no long silence and nothing substantive of the other between."""
    spoken = Timeline(one.span for one in other if one.count > rules.brief_words)
    found = list[Stretch]()
    for one in own:
        before = found[-1] if found else None
        gap = None if before is None else Span(before.span.end, max(one.span.start, before.span.end + 1))
        if before is not None and gap is not None and gap.duration <= rules.turn_gap_at_most and not spoken.within(gap):
            found[-1] = _stretch(words, before.first, one.last)
        else:
            found.append(one)
    return tuple(found)


def _untold(side: Side, rules: Rules) -> Timeline:
    """Return where a detector heard the side for longer than a moment and no word was written down, or where words are
    squeezed (:func:`~fullduplex.measures.squeezed.squeezed`).
    """
    strange = squeezed(side.words or ())
    if side.speech is None:
        return strange
    wordless = side.speech - Timeline(word.span for word in side.words or ()).bridge(rules.joined_within)
    return wordless.without(shorter_than=rules.unheard_at_most + 1) | strange
