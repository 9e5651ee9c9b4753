"""Where a speaker pauses, or speaks on, and a listener waits: the structure of DuplexAct's three Wait conditions."""

from __future__ import annotations

from collections.abc import Iterator

from fullduplex.making.harvest.candidates import (
    Candidate,
    Structure,
    is_not_too_long,
    other_is_not_substantive,
    pauses,
    says_words_only,
    sentences_are_finished,
    stands_alone,
)
from fullduplex.making.harvest.rules import Rules
from fullduplex.making.harvest.turns import Stretch, Talk, Voice
from fullduplex.measures.words import count_all
from fullduplex.model.spans import Span


def _gaps(voice: Voice, rules: Rules) -> Iterator[int]:
    """Yield the words that follow on a silence long enough to be a pause, inside a turn."""
    for turn in voice.turns:
        for n in range(turn.first + 1, turn.last):
            if voice.words[n].span.start - voice.words[n - 1].span.end >= rules.pause_at_least:
                yield n


def _gap(voice: Voice, n: int) -> Span:
    """Return the silence before a word: between the words, and where a detector listened, the longest that it heard."""
    gap = Span(voice.words[n - 1].span.end, voice.words[n].span.start)
    silences = () if voice.side.speech is None else voice.side.speech.gaps(gap)
    return max(silences, key=lambda one: one.duration, default=gap)


def intra_pauses(talk: Talk, rules: Rules) -> Iterator[Candidate]:
    """Yield every pause of a turn that lies in a sentence: the sentence is the item."""
    for voice, other in talk.pairs():
        for n in _gaps(voice, rules):
            before, after = voice.sentence_at(n - 1), voice.sentence_at(n)
            if before is not None and before == after:
                sentence = voice.sentences[before]
                yield Candidate(
                    "wait_intra_pause", talk, voice, other, sentence.first, sentence.last, "wait", _gap(voice, n), n
                )


def inter_pauses(talk: Talk, rules: Rules) -> Iterator[Candidate]:
    """Yield every pause of a turn that lies between two sentences: the two are the item."""
    for voice, other in talk.pairs():
        for n in _gaps(voice, rules):
            before, after = voice.sentence_at(n - 1), voice.sentence_at(n)
            if before is not None and after is not None and before != after:
                first, last = voice.sentences[before].first, voice.sentences[after].last
                yield Candidate("wait_inter_pause", talk, voice, other, first, last, "wait", _gap(voice, n), n)


def speech_that_goes_on(talk: Talk, rules: Rules) -> Iterator[Candidate]:
    """Yield every longest run of whole sentences of a turn in which no gap is longer than allowed."""
    for voice, other in talk.pairs():
        for turn in voice.turns:
            for first, last in _runs(voice, turn, rules):
                span = Span(voice.words[first].span.start, voice.words[last - 1].span.end)
                yield Candidate("wait_continuous", talk, voice, other, first, last, "wait", span, last)


def _runs(voice: Voice, turn: Stretch, rules: Rules) -> Iterator[tuple[int, int]]:
    begins, ends = voice.sentences_in(turn.first, turn.last)
    first: int | None = None
    for n in range(begins, ends):
        one = voice.sentences[n]
        whole = all(_spacing(voice, k) <= rules.gap_at_most for k in range(one.first + 1, one.last))
        if first is not None and (not whole or _spacing(voice, one.first) > rules.gap_at_most):
            yield first, one.first
            first = None
        if whole and first is None:
            first = one.first
    if first is not None:
        yield first, voice.sentences[ends - 1].last


def _spacing(voice: Voice, n: int) -> int:
    return voice.words[n].span.start - voice.words[n - 1].span.end


def _in_range(candidate: Candidate, rules: Rules) -> str:
    return "the pause is longer" if candidate.mark.duration > rules.pause_at_most else ""


def _is_silent(candidate: Candidate, rules: Rules) -> str:
    """Keep a pause in which the speaker is not heard: no sound, no word that lasts on, no speech of a detector's."""
    side = candidate.voice.side
    if any(word.span & candidate.mark for word in candidate.words):
        return "a word of the speaker's lasts into the pause"
    if side.sounds.within(candidate.mark) or side.asides.within(candidate.mark):
        return "the speaker is heard in the pause"
    if side.speech is None:
        return ""
    heard = side.speech.within(candidate.mark) or candidate.mark.duration < rules.pause_at_least
    return "a detector hears the speaker in the pause" if heard else ""


def _only_pause(candidate: Candidate, rules: Rules) -> str:
    if pauses(candidate, rules.pause_at_least) != [candidate.split]:
        return "another pause is in it"
    others = [one for one in _silences(candidate, rules.pause_at_least) if not one & candidate.mark]
    return "a detector hears another pause in it" if others else ""


def _silences(candidate: Candidate, at_least: int) -> list[Span]:
    """Return the silences that a detector heard in a candidate, none where nobody listened: words may be stretched."""
    speech = candidate.voice.side.speech
    return [] if speech is None else [one for one in speech.gaps(candidate.span) if one.duration >= at_least]


def _words_on_both_sides(candidate: Candidate, rules: Rules) -> str:
    split, words = candidate.split, candidate.voice.words
    both = (words[candidate.first : split], words[split : candidate.last])
    enough = all(count_all(word.text for word in part) >= rules.sides_words for part in both)
    whole = count_all(word.text for word in candidate.words) > rules.brief_words
    return "" if enough and whole else "too few words are said before it or after it"


def _substantive_on_both_sides(candidate: Candidate, rules: Rules) -> str:
    split, words = candidate.split, candidate.voice.words
    both = (words[candidate.first : split], words[split : candidate.last])
    enough = all(count_all(word.text for word in part) > rules.brief_words for part in both)
    return "" if enough else "a sentence of few words is beside it"


def _long_enough(candidate: Candidate, rules: Rules) -> str:
    return "" if candidate.span.duration >= rules.continuous_at_least else "it is shorter"


def _no_gap(candidate: Candidate, rules: Rules) -> str:
    if pauses(candidate, rules.gap_at_most + 1):
        return "a pause is in it"
    return "a detector hears a pause in it" if _silences(candidate, rules.gap_at_most + 1) else ""


_ALONE = (
    ("the other side says nothing substantive", other_is_not_substantive),
    ("words only", says_words_only),
    ("whole sentences", sentences_are_finished),
    ("not too long", is_not_too_long),
    ("can be cut out", stands_alone),
)
INTRA = Structure(
    "wait_intra_pause", intra_pauses,
    (("length of the pause", _in_range), ("silence in the pause", _is_silent), ("the only pause", _only_pause),
     ("words before and after", _words_on_both_sides), *_ALONE),
)  # fmt: skip
INTER = Structure(
    "wait_inter_pause", inter_pauses,
    (("length of the pause", _in_range), ("silence in the pause", _is_silent),
     ("substantive before and after", _substantive_on_both_sides), ("no pause inside a sentence", _only_pause),
     *_ALONE),
)  # fmt: skip
CONTINUOUS = Structure(
    "wait_continuous", speech_that_goes_on,
    (("length", _long_enough), ("no pause", _no_gap), *_ALONE),
)  # fmt: skip
