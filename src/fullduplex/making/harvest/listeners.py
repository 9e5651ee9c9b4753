"""Where a listener says something brief, or begins a little early: Backchannel and Take turn, slight overlap."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from fullduplex.making.harvest.candidates import (
    BACKCHANNEL,
    Candidate,
    Structure,
    begins_alone,
    ends_alone,
    is_not_too_long,
    other_is_not_substantive,
    says_words_only,
    sentences_are_finished,
    stands_alone,
)
from fullduplex.making.harvest.rules import Rules
from fullduplex.making.harvest.turns import Stretch, Talk, Voice
from fullduplex.measures.words import count_all
from fullduplex.model.spans import Span


def listeners_utterances(talk: Talk, rules: Rules) -> Iterator[Candidate]:
    """Yield every utterance of a side that begins inside a substantive turn of the other.

    The item is the other's turn: its whole sentences from up to ``context`` before the utterance, and behind what the
    listener said before, to the end of the first one that ends after it and goes on substantively.
    """
    for speaker, listener in talk.pairs():
        for turn in speaker.turns:
            if turn.count <= rules.brief_words:
                continue
            for one in listener.between(turn.span):
                if one.span.start > turn.span.start:
                    yield _heard(talk, speaker, listener, turn, one, rules)


def _heard(talk: Talk, speaker: Voice, listener: Voice, turn: Stretch, one: Stretch, rules: Rules) -> Candidate:
    said = bisect_left(listener.utterances, one.first, key=lambda each: each.first)
    heard = listener.utterances[said - 1].span.end if said else 0
    earliest = max(heard, one.span.start - rules.context)
    starts = [word.span.start for word in speaker.words[turn.first : turn.last]]
    split = turn.first + bisect_left(starts, one.span.start)
    begins, ends = speaker.sentences_in(turn.first, turn.last)
    inside = speaker.sentences[begins:ends]
    starts_at = [
        each.first for each in inside if each.span.start >= earliest and split - each.first > rules.brief_words
    ]
    first = _beginning(speaker, starts_at, rules, turn.first)
    ends_at = [
        each.last
        for each in inside
        if each.span.end >= one.span.end and each.last - max(each.first, split) > rules.brief_words
    ]
    # A later end is taken only while the listener says nothing else.
    next_said = next((each.span.start for each in listener.utterances[said + 1 : said + 2]), turn.span.end)
    quiet = [end for end in ends_at if speaker.words[end - 1].span.end <= next_said]
    last = next((end for end in quiet if ends_alone(speaker, end, rules)), ends_at[0] if ends_at else turn.last)
    return Candidate(
        BACKCHANNEL, talk, speaker, listener, min(first, split), max(last, min(split + 1, turn.last)),
        "backchannel", one.span, split, one.first, one.last, turn.first,
    )  # fmt: skip


def _beginning(voice: Voice, starts: list[int], rules: Rules, otherwise: int) -> int:
    """Return the first of the words in ``starts`` that can be cut off from the word before, else the first of all."""
    alone = next((n for n in starts if begins_alone(voice, n, rules)), None)
    return alone if alone is not None else starts[0] if starts else otherwise


def _is_brief(candidate: Candidate, rules: Rules) -> str:
    said = candidate.other.words[candidate.reply_first : candidate.reply_last]
    return "" if count_all(word.text for word in said) <= rules.brief_words else "it has more words"


def _speaker_had_the_floor(candidate: Candidate, rules: Rules) -> str:
    before = candidate.voice.words[candidate.turn_first : candidate.split]
    enough = count_all(word.text for word in before) > rules.brief_words
    return "" if enough else "the speaker's turn had hardly begun"


def _heard_before(candidate: Candidate, rules: Rules) -> str:
    """Keep it where what is cut out has something substantive before the listener's utterance, too."""
    before = candidate.voice.words[candidate.first : candidate.split]
    enough = count_all(word.text for word in before) > rules.brief_words
    return "" if enough else "no whole sentence since the listener's last utterance"


def _speaker_goes_on(candidate: Candidate, rules: Rules) -> str:
    """Keep it where the speaker speaks during it, or soon after it, and says something substantive then."""
    after = candidate.voice.words[candidate.split : candidate.last]
    if not after or after[0].span.start - candidate.mark.end > rules.resumes_within:
        return "the speaker does not go on at once"
    enough = count_all(word.text for word in after) > rules.brief_words
    return "" if enough and after[-1].span.end >= candidate.mark.end else "the speaker hardly goes on"


def _only_listener(candidate: Candidate, rules: Rules) -> str:
    """Keep it where the listener says nothing else: a second token would be a second place for one."""
    return "" if len(candidate.other.between(candidate.span)) == 1 else "the listener says something else in it"


def overlapping_entries(talk: Talk, rules: Rules) -> Iterator[Candidate]:
    """Yield every pair of turns of which the second begins before the first one's end, and goes on behind it.

    The item is the first turn, or its last whole sentences that fit ``context``; the mark begins with the second.
    """
    for speaker, responder in talk.pairs():
        for turn in speaker.turns:
            at = bisect_left(responder.turns, turn.span.start + 1, key=lambda one: one.span.start)
            for second in responder.turns[at:]:
                if second.span.start >= turn.span.end:
                    break
                if second.span.end > turn.span.end:
                    yield _entered(talk, speaker, responder, turn, second, rules)


def _entered(talk: Talk, speaker: Voice, responder: Voice, turn: Stretch, second: Stretch, rules: Rules) -> Candidate:
    begins, ends = speaker.sentences_in(turn.first, turn.last)
    inside = speaker.sentences[begins:ends]
    earliest = turn.span.end - rules.context
    first = _beginning(speaker, [each.first for each in inside if each.span.start >= earliest], rules, turn.first)
    starts = [word.span.start for word in speaker.words[turn.first : turn.last]]
    split = turn.first + bisect_left(starts, second.span.start)
    return Candidate(
        "take_turn_slight_overlap", talk, speaker, responder, first, turn.last, "entry",
        Span(second.span.start, turn.span.end), split, second.first, second.last,
    )  # fmt: skip


def _both_substantive(candidate: Candidate, rules: Rules) -> str:
    reply = candidate.other.words[candidate.reply_first : candidate.reply_last]
    if count_all(word.text for word in candidate.words) <= rules.brief_words:
        return "the first turn is brief"
    return "" if count_all(word.text for word in reply) > rules.brief_words else "the second turn is brief"


def _slight(candidate: Candidate, rules: Rules) -> str:
    if candidate.mark.duration > rules.overlap_at_most:
        return "they overlap for longer"
    return "" if candidate.mark.duration >= rules.overlap_at_least else "they hardly overlap"


def _leaves(candidate: Candidate, rules: Rules) -> str:
    """Keep it where the first speaker says nothing substantive for a while, so that the floor has passed."""
    end = candidate.span.end
    spoken = candidate.voice.substantive(Span(end, end + rules.leaves_for), rules)
    return "the first speaker speaks on" if spoken else ""


def _second_was_silent(candidate: Candidate, rules: Rules) -> str:
    """Keep it where the second speaker said nothing else during what is cut out."""
    before = Span(candidate.span.start, max(candidate.mark.start, candidate.span.start + 1))
    return "the second speaker spoke before" if candidate.other.substantive(before, rules) else ""


BACKCHANNELS = Structure(
    BACKCHANNEL, listeners_utterances,
    (("at most three words", _is_brief), ("the speaker had the floor", _speaker_had_the_floor),
     ("the speaker goes on", _speaker_goes_on), ("substantive before it", _heard_before),
     ("the listener says nothing else", _only_listener),
     ("no substantive interruption", other_is_not_substantive), ("words only", says_words_only),
     ("whole sentences", sentences_are_finished), ("not too long", is_not_too_long), ("can be cut out", stands_alone)),
)  # fmt: skip
SLIGHT_OVERLAP = Structure(
    "take_turn_slight_overlap", overlapping_entries,
    (("two substantive turns", _both_substantive), ("0.1 to 1.5 s of overlap", _slight),
     ("the first speaker leaves the floor", _leaves), ("the second was silent before", _second_was_silent),
     ("words only", says_words_only), ("whole sentences", sentences_are_finished),
     ("not too long", is_not_too_long), ("can be cut out", stands_alone)),
)  # fmt: skip
