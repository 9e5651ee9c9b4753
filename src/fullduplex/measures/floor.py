"""Who holds the floor: utterances, backchannels, takeovers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullduplex.measures.words import count_all
from fullduplex.model.spans import Span, Timeline, ms
from fullduplex.model.speech import Track, Word

#: A silence of at most this long lies inside an utterance. Source: own; it is
#: longer than a breath between sentences and shorter than a reply to someone.
JOINED_WITHIN = ms(500)


@dataclass(frozen=True, slots=True)
class Utterance:
    """Speech of one voice with no silence longer than a breath, and the words heard in it.

    ``words`` is None when nobody listened for words.
    """

    span: Span
    words: tuple[Word, ...] | None


def utterances(
    track: Track, *, joined_within: int = JOINED_WITHIN, by: Literal["speech", "words"] = "speech"
) -> tuple[Utterance, ...] | None:
    """Return the utterances of ``track`` in order of time.

    ``by="speech"``: cut where a detector heard silence longer than ``joined_within``
    (µs); without a detector's track, or with ``by="words"``, cut between words. A word
    belongs to the utterance that holds its middle. None when there is neither.
    """
    sound = track.speech if by == "speech" else None
    if sound is None:
        if track.words is None:
            return None
        sound = Timeline(word.span for word in track.words)
    spans = list(sound.bridge(joined_within))
    if track.words is None:
        return tuple(Utterance(span, None) for span in spans)
    found: list[Utterance] = []
    words = list(track.words)
    middles = [(word.span.start + word.span.end) // 2 for word in words]
    for span in spans:
        inside = tuple(word for word, middle in zip(words, middles, strict=True) if middle in span)
        found.append(Utterance(span, inside))
    return tuple(found)


def is_backchannel(utterance: Utterance, *, shorter_than: int, at_most: int) -> bool:
    """Return whether ``utterance`` is short enough in time and words to leave the floor where it was.

    Shorter than ``shorter_than`` (µs, exclusive) and at most ``at_most`` words. Where
    nobody listened for words, time alone decides. Source: Full-Duplex-Bench, whose
    paper says under 1 s and fewer than two words; the limits are the caller's.
    """
    if utterance.span.duration >= shorter_than:
        return False
    return utterance.words is None or count_all(word.text for word in utterance.words) <= at_most
