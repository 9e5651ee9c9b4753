"""A transcript while it is read: what each of its speakers says, line by line and word by word.

Readers tell what they find; nothing is made up. A line that has no times is kept with the stretch that its neighbours
leave for it, and what a line says beyond its timed words is marked as a sound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fullduplex.data.corpora.conversation import Loose, Recording, Side, Utterance
from fullduplex.data.corpora.spoken import Said, composed
from fullduplex.data.files import LATEST
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import SECOND, Span, Timeline, in_seconds, ms, seconds
from fullduplex.model.speech import Word

#: Aligned words leave shorter gaps by themselves; nobody hides in them.
_GAP = ms(100)
#: Nobody says a word for so long, nor a line: what lasts longer has times of another unit, or of another file. Ours.
LONGEST_WORD, LONGEST_LINE = seconds(30), seconds(600)


@dataclass(slots=True)
class Speaker:
    """What one speaker says; ``words`` with whether each was said whole; ``loose`` lines by their place in the file."""

    name: str
    channels: set[int] = field(default_factory=set)
    utterances: list[Utterance] = field(default_factory=list)
    words: list[tuple[Word, bool]] = field(default_factory=list)
    sounds: list[Span] = field(default_factory=list)
    loose: list[tuple[int, str, Span | None]] = field(default_factory=list)

    @property
    def silent(self) -> bool:
        """Tell whether nothing is known of this speaker but the name."""
        return not (self.utterances or self.words or self.loose or self.sounds)

    @property
    def begins(self) -> int:
        """Return when the speaker is first heard."""
        firsts = [one.span.start for one in self.utterances] + [one.span.start for one, _ in self.words]
        return min(firsts + [span.start for span in self.sounds], default=seconds(LATEST))

    @property
    def heard(self) -> Timeline:
        """Return when the speaker is heard, as far as the transcript tells."""
        spans = [one.span for one in self.utterances] + [word.span for word, _ in self.words]
        return Timeline([*spans, *self.sounds])


@dataclass(slots=True)
class Gathered:
    """A transcript. ``language``: two letters, "" where untold; ``media``: the recordings that it names."""

    path: Path
    speakers: dict[str, Speaker] = field(default_factory=dict)
    language: str = ""
    media: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    words_from: str = "transcript"
    #: Of every line in the file's order: its span, None where it has none. Loose lines are placed by it.
    order: list[Span | None] = field(default_factory=list)

    def of(self, name: str) -> Speaker:
        """Return the speaker of that name."""
        name = composed(name).strip()
        if name not in self.speakers:
            self.speakers[name] = Speaker(name)
        return self.speakers[name]

    def line(self, speaker: str, said: Said, span: Span | None, *, within: Span | None = None) -> None:
        """Note a line; one without words is a sound.

        One without a span is loose: it was said in ``within``, or else between the lines before and after it.
        """
        who = self.of(speaker)
        self.order.append(span)
        if span is None:
            if said.words:
                who.loose.append((len(self.order) - 1, said.text, within))
        elif said.words:
            may_be_said(span, self.path, said.text, longest=LONGEST_LINE, what="line")
            who.utterances.append(Utterance(said.text, span, said.unclear))
        elif said.unclear:
            who.sounds.append(span)

    def word(self, speaker: str, said: Said | None, span: Span, confidence: float | None = None) -> None:
        """Note the label of a word's own interval, which may be a sound; None is silence."""
        if said is None:
            return
        who = self.of(speaker)
        if said.words:
            may_be_said(span, self.path, said.text)
            who.words.append((Word(said.text, span, confidence), not said.cut_off))
        elif said.unclear:
            who.sounds.append(span)

    def turn(self, speaker: str, span: Span) -> None:
        """Note that somebody speaks, and nobody has written down what."""
        may_be_said(span, self.path, "", longest=LONGEST_LINE, what="turn")
        self.order.append(span)
        self.of(speaker).utterances.append(Utterance("", span))

    @property
    def talking(self) -> list[Speaker]:
        """Return the speakers of whom something is known, the first to be heard first."""
        found = [speaker for speaker in self.speakers.values() if not speaker.silent]
        return sorted(found, key=lambda one: one.begins)


def side_of(
    transcript: Gathered, speaker: Speaker, name: str, recording: Recording | None, until: int, others: Timeline
) -> Side:
    """Return what a speaker of a transcript says as a side.

    ``until``: how long the conversation lasts as far as is known, µs; ``others``: when a person is heard who is
    neither side, and may be so on this side's microphone.
    """
    ordered = sorted(speaker.words, key=lambda one: one[0].span)
    utterances = sorted(speaker.utterances, key=lambda one: one.span)
    texts = any(one.text for one in utterances) or bool(speaker.loose)
    loose = tuple(_loose(transcript, speaker, until))
    words = tuple(word for word, _ in ordered) if ordered or not (texts or utterances) else None
    untold = list[Span](speaker.sounds) + [one.within for one in loose]
    if words is not None:
        spoken = Timeline(word.span for word in words)
        untold += _wordless(utterances, spoken)
        unclear = Timeline(one.span for one in utterances if one.unclear)
        untold += [span for span in unclear - spoken if span.duration >= _GAP]
    return Side(
        name, recording, words, transcript.words_from if words is not None else "",
        frozenset(n for n, (_, whole) in enumerate(ordered) if not whole) if words is not None else frozenset(),
        tuple(utterances), sounds=Timeline(untold) | others,
        # A transcript of turns alone is what somebody, or a machine, heard as speech.
        speech=None if words is not None or texts else Timeline(one.span for one in utterances),
        speaker=speaker.name, loose=loose,
    )  # fmt: skip


def _wordless(utterances: Sequence[Utterance], spoken: Timeline) -> Iterator[Span]:
    """Yield the stretches of lines in which no word has its time."""
    spans = list(spoken)
    starts = [span.start for span in spans]
    for one in utterances:
        before = bisect_left(starts, one.span.end) - 1
        if before < 0 or spans[before].end <= one.span.start:
            yield one.span


def _loose(transcript: Gathered, speaker: Speaker, until: int) -> Iterator[Loose]:
    """Yield the speaker's lines without times; those that share a stretch are one."""
    texts = dict[Span, list[str]]()
    befores, afters = _neighbours(transcript.order)
    for place, text, within in speaker.loose:
        before, after = befores[place], afters[place]
        start, end = before.end if before else 0, after.start if after else until
        if within is not None:
            start, end = within.start, within.end
        if start >= end:
            # Its neighbours leave it no time: it was said during one of them.
            start, end = before.start if before else 0, after.end if after else until
        texts.setdefault(Span(start, max(end, start + 1)), []).append(text)
    for within, lines in texts.items():
        yield Loose(" ".join(lines), within)


def _neighbours(order: list[Span | None]) -> tuple[list[Span | None], list[Span | None]]:
    """Return for each line the last one before it that has times, and the next one after it."""
    befores, afters = list[Span | None](), list[Span | None]()
    for spans, found in ((order, befores), (reversed(order), afters)):
        last: Span | None = None
        for span in spans:
            found.append(last)
            last = span or last
    return befores, afters[::-1]


def moment(text: str, path: Path, where: str, *, unit: float = 1.0) -> int:
    """Return a time in µs from its text in units of ``unit`` seconds; raises :class:`InputError`."""
    try:
        # Python's own spelling "1_000" is nobody's time.
        value = float("nan" if "_" in text else text) * unit
    except ValueError:
        value = float("nan")
    if not 0 <= value < LATEST:
        expected = "a time in seconds, not negative" if unit == 1 else "a time in milliseconds, not negative"
        raise InputError(path, where, found=text.strip()[:40], expected=expected)
    return seconds(value) if unit == 1 else ms(float(text) * unit * 1000)


def may_be_said(span: Span, path: Path, text: str, *, longest: int = LONGEST_WORD, what: str = "word") -> None:
    """Raise :class:`InputError` where a word, a line or a turn lasts longer than ``longest``, which it may itself."""
    if span.duration > longest:
        quoted = f" ({printable(text, 40)})" if text else ""
        raise InputError(
            path, f"{in_seconds(span.start):g} s", found=f"a {what} of {in_seconds(span.duration):g} s{quoted}",
            expected=f"{what}s of {longest // SECOND} s at most", do="look whether its times are seconds",
        )  # fmt: skip


def stretch(start: int, end: int, path: Path, where: str) -> Span:
    """Return the span between two times, a microsecond where they are one; raises :class:`InputError`."""
    if end < start:
        found = f"{start / 1e6:g} to {end / 1e6:g} s"
        raise InputError(path, where, found=found, expected="the start before the end")
    return Span(start, max(end, start + 1))
