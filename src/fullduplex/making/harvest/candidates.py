"""A place in a conversation that may become an item, and the checks that decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fullduplex.making.harvest.rules import Rules
from fullduplex.making.harvest.turns import Talk, Voice
from fullduplex.model.spans import Span
from fullduplex.model.speech import Word

#: What a condition's backchannels are called before they are told apart.
BACKCHANNEL = "backchannel"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place: the words ``[first, last)`` of a voice are what the user would say; ``mark`` is what is judged in it.

    ``kind`` is the mark's, ``split`` the word of the voice that follows the mark (where it has one). ``reply`` is
    what the other side says there, with its words ``[reply_first, reply_last)``; ``turn_first`` is the first word of
    the turn that a listener's utterance falls into.
    """

    condition: str
    talk: Talk
    voice: Voice
    other: Voice
    first: int
    last: int
    kind: str
    mark: Span
    split: int
    reply_first: int = 0
    reply_last: int = 0
    turn_first: int = 0

    @property
    def words(self) -> tuple[Word, ...]:
        """Return what the user says, on the conversation's clock."""
        return self.voice.words[self.first : self.last]

    @property
    def span(self) -> Span:
        """Return the time from the first word's start to the end of the one that sounds last."""
        return Span(self.voice.words[self.first].span.start, max(word.span.end for word in self.words))

    @property
    def text(self) -> str:
        """Return what the user says."""
        return self.voice.text(self.first, self.last)

    @property
    def before(self) -> str:
        """Return what the user says before the mark."""
        return self.voice.text(self.first, max(self.first, min(self.split, self.last)))

    @property
    def after(self) -> str:
        """Return what the user says after the mark."""
        return self.voice.text(max(self.first, min(self.split, self.last)), self.last)

    @property
    def reply(self) -> str:
        """Return what the other side says."""
        return self.other.text(self.reply_first, self.reply_last)


#: Returns why a candidate is dropped, "" where it is kept.
Check = Callable[[Candidate, Rules], str]


@dataclass(frozen=True, slots=True)
class Structure:
    """How a condition is found: its candidates, and the named checks that they have to pass, in this order."""

    condition: str
    candidates: Callable[[Talk, Rules], Iterator[Candidate]]
    checks: tuple[tuple[str, Check], ...]


def other_is_not_substantive(candidate: Candidate, rules: Rules) -> str:
    """Keep what the other side says nothing substantive in."""
    return "the other side speaks too" if candidate.other.substantive(candidate.span, rules) else ""


def says_words_only(candidate: Candidate, rules: Rules) -> str:
    """Keep what holds no laughter, cough or aside of the speaker's."""
    if candidate.voice.side.asides.within(candidate.span):
        return "the speaker talks to somebody else"
    if candidate.voice.side.sounds.within(candidate.span):
        return "the speaker laughs or makes a sound that is no word"
    return "the speaker is heard, and no words say what" if candidate.voice.untold.within(candidate.span) else ""


def begins_alone(voice: Voice, n: int, rules: Rules) -> bool:
    """Tell whether a cut before the word ``n`` cuts nothing: no word of the side and no sound lies just before."""
    start = voice.words[n].span.start
    if n and start - voice.words[n - 1].span.end < rules.alone_at_least:
        return False
    return voice.side.speech is None or not voice.side.speech.within(Span(start - rules.alone_at_least, start))


def ends_alone(voice: Voice, n: int, rules: Rules) -> bool:
    """Tell whether a cut behind the word before ``n`` cuts nothing: no word and no sound lies just behind."""
    end = voice.words[n - 1].span.end
    if n < len(voice.words) and voice.words[n].span.start - end < rules.alone_at_least:
        return False
    return voice.side.speech is None or not voice.side.speech.within(Span(end, end + rules.alone_at_least))


def stands_alone(candidate: Candidate, rules: Rules) -> str:
    """Keep what can be cut out without cutting anything of the speaker's beside it."""
    if not begins_alone(candidate.voice, candidate.first, rules):
        return "the speaker is heard just before it"
    after = candidate.voice.words[candidate.last : candidate.last + 1]
    if after and after[0].span.start - candidate.span.end < rules.alone_at_least:
        return "the speaker is heard just after it"
    return "" if ends_alone(candidate.voice, candidate.last, rules) else "the speaker is heard just after it"


def is_not_too_long(candidate: Candidate, rules: Rules) -> str:
    """Keep what lasts the longest that is taken, or less."""
    return "it is too long" if candidate.span.duration > rules.longest else ""


def sentences_are_finished(candidate: Candidate, rules: Rules) -> str:
    """Keep what consists of whole sentences that the corpus does not call abandoned."""
    begins, ends = candidate.voice.sentences_in(candidate.first, candidate.last)
    inside = candidate.voice.sentences[begins:ends]
    if not inside or inside[0].first != candidate.first or inside[-1].last != candidate.last:
        return "its sentences are not known"
    return "" if all(one.finished for one in inside) else "a sentence of it is abandoned, or its ends are not known"


def pauses(candidate: Candidate, at_least: int) -> list[int]:
    """Return the words of a candidate (by their indices) that come ``at_least`` so long after the word before."""
    words = candidate.voice.words
    return [
        n for n in range(candidate.first + 1, candidate.last)
        if words[n].span.start - words[n - 1].span.end >= at_least
    ]  # fmt: skip
