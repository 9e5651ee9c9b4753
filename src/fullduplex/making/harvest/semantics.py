"""Whether what was found is what a condition means: decided by rules on words, where no language model is asked.

Rules are weaker than a reader: they hear no prosody, and know a sentence only by its last word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fullduplex.driving.wording import units
from fullduplex.making.harvest.candidates import BACKCHANNEL, Candidate
from fullduplex.making.harvest.lexicon import Lexicon, lexicon_of, pieces_of
from fullduplex.making.harvest.rules import Rules
from fullduplex.making.harvest.sentences import PUNCTUATION, Sentence, base_tag
from fullduplex.making.harvest.turns import Voice

RULE = "rule"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was decided: ``condition`` is the item's, "" where it is none; ``reason`` says why."""

    condition: str
    reason: str = ""


class Semantics(Protocol):
    """What decides. ``by`` is ``rule``, or says which model; items carry it."""

    @property
    def by(self) -> str:
        """Return who decides."""
        ...

    def judge(self, candidate: Candidate, rules: Rules) -> Judged:
        """Return what a candidate is."""
        ...


@dataclass(frozen=True, slots=True)
class ByRule:
    """Decides by the lexicon of a language; raises :class:`InputError` where there is none."""

    lexicon: Lexicon
    by: str = RULE

    @classmethod
    def of(cls, language: str) -> ByRule:
        """Return the rules for a language."""
        return cls(lexicon_of(language))

    def judge(self, candidate: Candidate, rules: Rules) -> Judged:
        """Return what a candidate is, by its words."""
        if why := self._unfinished(candidate):
            return Judged("", why)
        if candidate.condition == BACKCHANNEL:
            if self._answers(candidate, rules):
                return Judged("", "it may answer a question")
            kind = self.lexicon.kind(candidate.reply)
            return Judged(f"{BACKCHANNEL}_{kind}") if kind else Judged("", "its words do not tell its kind")
        if candidate.kind == "entry" and (why := self._no_response(candidate) or self._still_to_say(candidate, rules)):
            return Judged("", why)
        return Judged(candidate.condition)

    def _unfinished(self, candidate: Candidate) -> str:
        voice = candidate.voice
        broken = voice.side.cut_off
        if candidate.last - 1 in broken or candidate.first in broken:
            return "a word at its edge is broken off"
        begins, ends = voice.sentences_in(candidate.first, candidate.last)
        punctuated = voice.boundaries == PUNCTUATION
        for sentence in voice.sentences[begins:ends]:
            if not punctuated and self.lexicon.is_open(voice.words[sentence.last - 1].text):
                return "a sentence's last word leaves it open"
        if candidate.kind == "wait" and candidate.first < candidate.split < candidate.last:
            beside = {candidate.split - 1, candidate.split}
            return "a word beside the pause is broken off" if beside & broken else ""
        return ""

    def _answers(self, candidate: Candidate, rules: Rules) -> bool:
        """Tell whether the speaker's last whole sentence before a listener's token, not long ago, was a question."""
        voice, at = candidate.voice, candidate.mark.start
        ended = [one for one in voice.sentences if one.span.end <= at and at - one.span.end <= rules.asked_within]
        return bool(ended) and self._asks(voice, ended[-1])

    def _asks(self, voice: Voice, sentence: Sentence) -> bool:
        """Tell whether a sentence is a question, by its mark or its act."""
        marked = voice.words[sentence.last - 1].text.endswith("?")
        return marked or base_tag(sentence.act) in self.lexicon.question_acts

    def _no_response(self, candidate: Candidate) -> str:
        """Return "" where the first turn asks, or the second takes it up, by an act or a mark or its first words."""
        voice, other, lexicon = candidate.voice, candidate.other, self.lexicon
        last = voice.sentence_at(candidate.last - 1)
        if last is not None:
            sentence = voice.sentences[last]
            asked = units(voice.text(sentence.first, sentence.last))
            if self._asks(voice, sentence):
                return ""
            if asked and asked[0] in lexicon.asks:
                return ""
        answers = other.sentence_at(candidate.reply_first)
        if answers is not None and base_tag(other.sentences[answers].act) in lexicon.answer_acts:
            return ""
        said = units(candidate.reply)
        takes_up = any(said[: len(phrase)] == phrase for phrase in lexicon.answers)
        return "" if takes_up else "nothing shows that the second turn answers the first"

    def _still_to_say(self, candidate: Candidate, rules: Rules) -> str:
        """Return "" where what the first speaker still says is nothing new: tags, or words that were said before.

        A word of which half had been said when the other began counts as said.
        """
        first = candidate.split
        begun = candidate.voice.words[first - 1] if first > candidate.first else None
        if begun is not None and begun.span.end - candidate.mark.start > begun.span.duration // 2:
            first -= 1
        said = set(units(candidate.voice.text(candidate.first, first)))
        left = units(candidate.voice.text(first, candidate.last))
        if len(left) > rules.tail_words:
            return "much is still to be said when the other begins"
        pieces = pieces_of(left, self.lexicon.tails | frozenset((unit,) for unit in said))
        return "something new is still to be said when the other begins" if None in pieces else ""
