"""Who holds the floor when: each side's utterances and turns, from words, from lines of text, or from speech alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fullduplex.data.corpora.conversation import Conversation, Side
from fullduplex.making.harvest.fdb.rules import FdbRules
from fullduplex.making.harvest.hearing import untold
from fullduplex.making.harvest.tokens import Tokens
from fullduplex.measures.squeezed import squeezed
from fullduplex.measures.words import count_all, count_words
from fullduplex.model.spans import Span, Timeline
from fullduplex.model.speech import Word

#: What tells a side's turns, the strongest first; with the last, a backchannel is known by its length alone.
WORDS, LINES, SPEECH = "words", "lines of the transcript", "speech alone"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a side says without a silence.

    ``text`` is None where nobody wrote it down. ``brief``: by its length and words it may be a backchannel. ``token``:
    its words are known to be one; None where its words are not known.
    """

    span: Span
    text: str | None
    brief: bool
    token: bool | None


@dataclass(frozen=True, slots=True)
class Turn:
    """Utterances of one floor, in order of time. ``brief``: it is one brief utterance, and nothing else."""

    said: tuple[Utterance, ...]

    @property
    def span(self) -> Span:
        """Return the time from its first sound to its last."""
        return Span(self.said[0].span.start, max(one.span.end for one in self.said))

    @property
    def brief(self) -> bool:
        """Tell whether all of it may be a backchannel."""
        return len(self.said) == 1 and self.said[0].brief

    @property
    def text(self) -> str | None:
        """Return its words as far as they are known, None where none are."""
        texts = [one.text for one in self.said if one.text is not None]
        return " ".join(texts) if texts else None

    @property
    def silences(self) -> tuple[tuple[Utterance, Span, Utterance], ...]:
        """Return the silences between its utterances, each with what is said before and after it."""
        pairs = zip(self.said, self.said[1:], strict=False)
        return tuple((a, Span(a.span.end, b.span.start), b) for a, b in pairs if a.span.end < b.span.start)


@dataclass(frozen=True, slots=True)
class Party:
    """One side: what it says, its turns, and by what they are told. ``number``: 1 or 2, in the corpus' order.

    ``squeezed``: where its words cannot have been said as they stand, so that what it says there is not known.
    """

    number: int
    side: Side
    said: tuple[Utterance, ...]
    turns: tuple[Turn, ...]
    told_by: str
    squeezed: Timeline = field(default_factory=Timeline)

    @property
    def words(self) -> tuple[Word, ...]:
        """Return its words with their times; none where they are not known."""
        return self.side.words or ()

    def between(self, span: Span) -> tuple[Utterance, ...]:
        """Return the utterances that sound in ``span``."""
        begins = bisect_right(self.said, span.start, key=lambda one: one.span.end)
        ends = bisect_left(self.said, span.end, key=lambda one: one.span.start)
        return self.said[begins:ends]


@dataclass(frozen=True, slots=True)
class Floor:
    """A conversation as two parties. ``cut``: why the edges of their turns were cut and not measured, "" where not.

    ``tokens``: the list of the language, None where no words are known.
    """

    name: str
    parties: tuple[Party, Party]
    cut: str = ""
    tokens: Tokens | None = None

    def pairs(self, system_side: int | None = None) -> Iterator[tuple[Party, Party]]:
        """Yield (user, partner): each side in turn is the partner, or only the one of that number."""
        first, second = self.parties
        for user, partner in ((first, second), (second, first)):
            if system_side in (None, partner.number):
                yield user, partner


def only_listens(floor: Floor, turn: Turn) -> bool:
    """Tell whether a turn may be a backchannel: one brief utterance, or tokens of the language's list, however long.

    "Mh, mh, mh." in 2.6 s is no attempt to take the turn.
    """
    tokens = floor.tokens
    return turn.brief or all(one.text is not None and tokens is not None and tokens.kind(one.text) for one in turn.said)


def needs_tokens(conversation: Conversation) -> bool:
    """Tell whether words are known on a side, so that the language's list of tokens is asked for."""
    return any(_told_by(side) != SPEECH for side in conversation.sides)


def floor_of(conversation: Conversation, rules: FdbRules, tokens: Tokens | None, cut: str = "") -> Floor:
    """Return a conversation's utterances and turns. A side of which nothing is known says nothing.

    ``cut``: why its turns' edges are not to be relied on, "" where nothing speaks against them.
    """
    said = [_utterances(side, rules, tokens) for side in conversation.sides]
    parties = [
        Party(n + 1, side, said[n], _turns(said[n], said[1 - n], rules), _told_by(side), squeezed(side.words or ()))
        for n, side in enumerate(conversation.sides)
    ]
    return Floor(conversation.name, (parties[0], parties[1]), cut, tokens)


def _told_by(side: Side) -> str:
    if side.words is not None:
        return WORDS
    return LINES if any(one.text for one in side.utterances) else SPEECH


def _utterances(side: Side, rules: FdbRules, tokens: Tokens | None) -> tuple[Utterance, ...]:
    if side.words is not None:
        found = [_of_words(run, rules, tokens) for run in _runs(side.words, rules)]
        found += [_judged(span, None, 0, rules, tokens) for span in untold(side, rules.sentence_gap.least - 1)]
        found.sort(key=lambda one: one.span)
    elif _told_by(side) == LINES:
        lines = sorted(side.utterances, key=lambda one: one.span)
        found = [_judged(one.span, one.text or None, count_words(one.text), rules, tokens) for one in lines]
    else:
        heard = Timeline(one.span for one in side.utterances) if side.speech is None else side.speech
        speech = heard.bridge(rules.sentence_gap.least - 1)
        found = [_judged(span, None, 0, rules, tokens) for span in speech]
    return tuple(_apart(found))


def _apart(found: Sequence[Utterance]) -> Iterator[Utterance]:
    """Yield utterances none of which begins before the one before it has ended: a transcript's may."""
    end = -1
    for one in found:
        if one.span.end > end:
            yield one if one.span.start >= end else replace(one, span=Span(end, one.span.end))
            end = one.span.end


def _runs(words: Sequence[Word], rules: FdbRules) -> Iterator[Sequence[Word]]:
    first = 0
    for n in range(1, len(words) + 1):
        if n == len(words) or words[n].span.start - words[n - 1].span.end in rules.sentence_gap:
            yield words[first:n]
            first = n


def _of_words(run: Sequence[Word], rules: FdbRules, tokens: Tokens | None) -> Utterance:
    span = Span(run[0].span.start, max(word.span.end for word in run))
    return _judged(span, " ".join(word.text for word in run), count_all(word.text for word in run), rules, tokens)


def _judged(span: Span, text: str | None, words: int, rules: FdbRules, tokens: Tokens | None) -> Utterance:
    # What lasts too long to be a token is not looked up.
    token = None if text is None else tokens is not None and span.duration in rules.brief and bool(tokens.kind(text))
    few = words <= rules.brief_words or bool(token)
    brief = span.duration in rules.brief and few
    return Utterance(span, text, brief, token)


def _turns(own: Sequence[Utterance], other: Sequence[Utterance], rules: FdbRules) -> tuple[Turn, ...]:
    substantive = Timeline(one.span for one in other if not one.brief)
    turns = list[list[Utterance]]()
    for one in own:
        if turns and _joins(turns[-1][-1], one, substantive, rules):
            turns[-1].append(one)
        else:
            turns.append([one])
    return tuple(Turn(tuple(said)) for said in turns)


def _joins(before: Utterance, one: Utterance, other: Timeline, rules: FdbRules) -> bool:
    silence = one.span.start - before.span.end
    if silence not in rules.turn_gap:
        return False
    return not (rules.parted and silence and other.within(Span(before.span.end, one.span.start)))
