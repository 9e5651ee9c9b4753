"""RTTM, CTM and STM: a record a line, of any number of conversations in one file.

RTTM tells who speaks when (``SPEAKER``), words (``LEXEME``) and sounds (``NON-LEX``); CTM words by channel; STM lines
by channel and speaker. A file is indexed once, a conversation is read from its place in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.spoken import Said, label, said
from fullduplex.errors import InputError
from fullduplex.model.spans import Span

RTTM, CTM, STM = "rttm", "ctm", "stm"
#: A record longer than this is none.
_LONGEST = 1 << 20
_CHANNELS = {"A": 0, "1": 0, "0": 0, "B": 1, "2": 1, "L": 0, "R": 1}
#: What an STM says in the place of words that are not to be scored: something is there.
_IGNORED = "ignore_time_segment_in_scoring"
_LABEL = re.compile(r"<[^<>\s]*(?:,[^<>\s]*)+>|<[Oo][^<>]*>")
_ALTERNATIVES = re.compile(r"\{([^{}/]*)/[^{}]*\}")


class Range(NamedTuple):
    """Lines of a file that stand together: bytes ``[start, end)``, and the number of the first line."""

    start: int
    end: int
    line: int


def index(path: Path, form: str) -> dict[str, list[Range]]:
    """Return where each conversation's records are in a file, by the name that the file gives it."""
    found = dict[str, list[Range]]()
    place = 1 if form == RTTM else 0
    start = 0
    for n, line in _raw(path):
        fields = line.split(None, place + 1)
        end = start + len(line)
        if len(fields) > place and not line.startswith(b";;"):
            name = _decoded(fields[place], path, n)
            ranges = found.setdefault(name, [])
            if ranges and ranges[-1].end == start:
                ranges[-1] = ranges[-1]._replace(end=end)
            else:
                ranges.append(Range(start, end, n))
        start = end
    return found


def _raw(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        if path.is_fifo():
            raise InputError(path, found="a pipe", expected="a file")
        with path.open("rb") as file:
            n = 0
            while line := file.readline(_LONGEST):
                n += 1
                if len(line) == _LONGEST:
                    raise InputError(path, f"line {n}", found="a line of a megabyte", expected="a record")
                yield n, line
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a file that can be read") from error


def _decoded(data: bytes, path: Path, n: int) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"line {n}", found="bytes that are not UTF-8", expected="UTF-8 text") from error


def lines_in(path: Path, ranges: list[Range]) -> Iterator[tuple[int, str]]:
    """Yield the lines of the ranges with their numbers, without those that are comments."""
    with path.open("rb") as file:
        for part in ranges:
            file.seek(part.start)
            n, at = part.line, part.start
            while at < part.end and (line := file.readline(_LONGEST)):
                text = _decoded(line, path, n).strip()
                if text and not text.startswith(";;"):
                    yield n, text
                n, at = n + 1, at + len(line)


def read_records(path: Path, form: str, ranges: list[Range]) -> Gathered:
    """Return the transcript in those lines of a file; raises :class:`InputError` on a record that cannot be meant."""
    transcript = Gathered(path, words_from=form.upper())
    reader = {RTTM: _rttm, CTM: _ctm, STM: _stm}[form]
    alternative = [False]
    for n, line in lines_in(path, ranges):
        reader(transcript, line, n, alternative)
    return transcript


def _span(path: Path, start: str, length: str, where: str) -> Span:
    begin = moment(start, path, where)
    return stretch(begin, begin + moment(length, path, where), path, where)


def _rttm(transcript: Gathered, line: str, n: int, _: list[bool]) -> None:
    fields, where, path = line.split(), f"line {n}", transcript.path
    if len(fields) < 8:
        expected = "type, file, channel, start, duration, text, subtype, speaker"
        raise InputError(path, where, found=f"{len(fields)} fields", expected=expected)
    kind, channel, text, speaker = fields[0].upper(), fields[2], fields[5], fields[7]
    if kind not in ("SPEAKER", "LEXEME", "NON-LEX"):
        return
    span = _span(path, fields[3], fields[4], where)
    _on(transcript, speaker, channel)
    if kind == "SPEAKER":
        transcript.turn(speaker, span)
    elif kind == "LEXEME":
        transcript.word(speaker, label(text), span, _confidence(fields[8] if len(fields) > 8 else ""))
    else:
        transcript.word(speaker, Said((), unclear=True), span)


def _ctm(transcript: Gathered, line: str, n: int, alternative: list[bool]) -> None:
    fields, where, path = line.split(), f"line {n}", transcript.path
    if len(fields) < 5:
        expected = "file, channel, start, duration, word"
        raise InputError(path, where, found=f"{len(fields)} fields", expected=expected)
    _, channel, start, length, word = fields[:5]
    if word.upper() in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
        # The first of several readings is taken.
        alternative[0] = word.upper() == "<ALT>"
        return
    if alternative[0]:
        return
    kind = fields[6].lower() if len(fields) > 6 else "lex"
    speaker = fields[7] if len(fields) > 7 and fields[7] not in ("<NA>", "unknown") else channel
    _on(transcript, speaker, channel)
    found = label(word) if kind in ("lex", "fp", "frag", "un-lex", "for-lex") else Said((), unclear=True)
    transcript.word(speaker, found, _span(path, start, length, where),
                    _confidence(fields[5] if len(fields) > 5 else ""))  # fmt: skip


def _stm(transcript: Gathered, line: str, n: int, _: list[bool]) -> None:
    fields, where, path = line.split(None, 5), f"line {n}", transcript.path
    if len(fields) < 5:
        expected = "file, channel, speaker, start, end, text"
        raise InputError(path, where, found=f"{len(fields)} fields", expected=expected)
    channel, speaker = fields[1], fields[2]
    start, end = (moment(fields[k], path, where) for k in (3, 4))
    text = _LABEL.sub(" ", fields[5], count=1) if len(fields) > 5 else ""
    if speaker.lower() == "inter_segment_gap":
        return
    _on(transcript, speaker, channel)
    if text.strip().lower() == _IGNORED:
        transcript.line(speaker, Said((), unclear=True), stretch(start, end, path, where))
    else:
        text = _ALTERNATIVES.sub(r" \1 ", text).replace("@", " ")
        transcript.line(speaker, said(text), stretch(start, end, path, where))


def _on(transcript: Gathered, speaker: str, channel: str) -> None:
    known = _CHANNELS.get(channel.upper())
    if known is not None:
        transcript.of(speaker).channels.add(known)


def _confidence(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
