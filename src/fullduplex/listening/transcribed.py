"""What people wrote down without times of words, found in the sound: forced alignment, line by line.

A transcript that times its lines, or not even these, says what was said and not when. Where a side has a channel of its
own and its language an aligner, each line is aligned with the sound that its times (or its neighbours) leave for it.
A line that cannot be found keeps no word: its stretch is marked as a sound, so that nobody takes it for silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from fullduplex.data import audio
from fullduplex.data.audio import Samples
from fullduplex.data.corpora.conversation import Conversation, Side
from fullduplex.data.corpora.spoken import of_tokens
from fullduplex.listening.recognisers.chunks import RATE
from fullduplex.model.spans import SECOND, Span, Timeline, ms, seconds
from fullduplex.model.speech import Word

#: Lines' edges are set by hand: so much sound around a line may belong to it.
AROUND = ms(150)
#: A longer stretch is not tried: aligning takes memory and time with its length, and fails in long silences.
LONGEST = 60 * SECOND
#: No word of a conversation lasts longer; an aligner that says so has lost its place.
LONGEST_WORD = 3 * SECOND
#: Where more lines than this share cannot be found, the transcript and the sound are not of one conversation.
LOST_AT_MOST = 0.5


class Aligning(Protocol):
    """What places words: :class:`fullduplex.listening.recognisers.alignment.Aligner` does."""

    @property
    def revision(self) -> str:
        """Return by which version of what words are placed."""
        ...

    def align(self, samples: Samples, words: Sequence[str]) -> list[tuple[float, float] | None] | None:
        """Return each word's start and end in seconds, None for one that cannot be placed; None where none can."""
        ...


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, its own stretch, and the stretch in which it is looked for."""

    text: str
    span: Span
    within: Span


def aligned(conversation: Conversation, aligner: Aligning) -> Conversation:
    """Return the conversation with the words of its lines placed in the sound, where it has lines and no words.

    A side without text or without a recording stays as it is, and so does one of which more than half of the lines
    cannot be found. Remarks say how many lines were not found. Raises :class:`InputError` where a recording cannot be
    read.
    """
    sides, remarks = list[Side](), list[str](conversation.remarks)
    for side in conversation.sides:
        placed, remark = _aligned(side, aligner)
        sides.append(placed)
        remarks += [remark] if remark else []
    return replace(conversation, sides=(sides[0], sides[1]), remarks=tuple(remarks))


def _aligned(side: Side, aligner: Aligning) -> tuple[Side, str]:
    if side.words is not None or side.recording is None:
        return side, ""
    samples, rate = audio.read(side.recording.file, side.recording.channel)
    lines = list(_lines(side, Span(0, max(1, len(samples) * SECOND // rate))))
    if not lines:
        return side, ""
    found, lost = list[Word](), list[_Line]()
    for line in lines:
        words = _words(line, samples, rate, aligner)
        if words is None:
            lost.append(line)
        else:
            found += words
    told = f"side {side.name}: {len(lost)} of {len(lines)} lines could not be found in the sound"
    if len(lost) > LOST_AT_MOST * len(lines):
        return side, f"{told}, so that none is placed: are the transcript and the recording of one conversation?"
    found.sort(key=lambda word: word.span)
    spoken = Timeline(word.span for word in found)
    placed = Timeline(line.within for line in lines if line.span == line.within and line not in lost)
    unclear = [one.span for one in side.utterances if one.unclear]
    untold = Timeline([*(line.span for line in lost), *unclear]) - spoken
    cut = frozenset(n for n, word in enumerate(found) if of_tokens([word.text]).cut_off)
    return replace(
        side,
        words=tuple(found),
        words_from=f"aligned by {aligner.revision}",
        cut_off=cut,
        # Lines without times were marked as sounds as long as nobody knew where they are.
        sounds=(side.sounds - (placed & Timeline(one.within for one in side.loose))) | untold,
    ), f"{told}; they are marked as sounds" if lost else ""


def _lines(side: Side, whole: Span) -> Iterator[_Line]:
    """Yield a side's lines; none is looked for in its neighbour's stretch, but for half of the silence between."""
    timed = [one for one in side.utterances if one.text and one.span & whole]
    for n, one in enumerate(timed):
        before = timed[n - 1].span.end if n else one.span.start - 2 * AROUND
        after = timed[n + 1].span.start if n + 1 < len(timed) else one.span.end + 2 * AROUND
        start = one.span.start - max(0, min(AROUND, (one.span.start - before) // 2))
        end = one.span.end + max(0, min(AROUND, (after - one.span.end) // 2))
        within = Span(start, end) & whole
        if within is not None:
            yield _Line(one.text, one.span, within)
    for loose in side.loose:
        if (stretch := loose.within & whole) is not None:
            yield _Line(loose.text, stretch, stretch)


def _words(line: _Line, samples: Samples, rate: int, aligner: Aligning) -> list[Word] | None:
    """Return a line's words, placed; None where one cannot be, or where the places cannot be meant."""
    texts = line.text.split()
    if line.within.duration > LONGEST:
        return None
    first, last = (time * rate // SECOND for time in (line.within.start, line.within.end))
    times = aligner.align(audio.resample(samples[first:last], rate, RATE), texts)
    if times is None or any(time is None for time in times):
        return None
    words = list[Word]()
    for text, time in zip(texts, times, strict=True):
        assert time is not None
        start, end = (line.within.start + seconds(value) for value in time)
        if end <= start or end - start > LONGEST_WORD:
            return None
        words.append(Word(text, Span(start, min(end, line.within.end)) if start < line.within.end else line.within))
    return words
