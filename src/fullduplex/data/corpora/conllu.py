"""CoNLL-U of spoken treebanks (UD Rhapsodie): ``AlignBegin`` and ``AlignEnd`` in milliseconds, ``# speaker``.

A word is what spaces bound, as elsewhere: ``d'`` and ``autres`` are one, and a mark belongs to the word before it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.spoken import of_tokens
from fullduplex.data.files import read_text_file
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, Span

#: A word that lasts longer was not aligned.
_LONGEST_WORD = 10 * SECOND
_ALIGNED = ("AlignBegin", "AlignEnd")


def read_conllu(path: Path) -> Gathered:
    """Return the transcript in a CoNLL-U file; raises :class:`InputError` on a line that is none of it."""
    transcript = Gathered(path, words_from="AlignBegin, AlignEnd")
    rows, speaker = list[tuple[int, list[str]]](), ""
    for n, line in enumerate([*read_text_file(path).splitlines(), ""], 1):
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            if name.strip() == "speaker":
                speaker = value.strip().lstrip("$")
            elif name.strip() == "sound_url":
                transcript.media[:] = [value.strip().rpartition("/")[2]]
        elif line.strip():
            cells = line.split("\t")
            if len(cells) != 10:
                raise InputError(path, f"line {n}", found=f"{len(cells)} columns", expected="ten, between tabs")
            rows.append((n, cells))
        else:
            _sentence(transcript, speaker, rows)
            rows, speaker = [], ""
    return transcript


def _sentence(transcript: Gathered, speaker: str, rows: list[tuple[int, list[str]]]) -> None:
    words, glued = list[tuple[str, list[Span]]](), False
    inside = 0
    for n, cells in rows:
        first, _, last = cells[0].partition("-")
        if "." in cells[0] or (not last and first.isdecimal() and int(first) <= inside):
            continue
        if last:
            # "3-4 du": the word as written; its parts have no form of their own. Times may stand with the parts.
            inside = int(last) if last.isdecimal() else inside
        told = dict(part.partition("=")[::2] for part in cells[9].split("|"))
        if last and "AlignBegin" not in told:
            told |= _within(rows, first, last)
        # Signs are placed where something else was said, or backwards: they do not sound.
        sign = cells[3] == "PUNCT"
        spans = list[Span]()
        if not sign and "AlignBegin" in told and "AlignEnd" in told:
            begin, end = (moment(told[name], transcript.path, f"line {n}", unit=1e-3) for name in _ALIGNED)
            # Where nothing was aligned, the files have 0 for one or both.
            if begin <= end <= begin + _LONGEST_WORD and end > 0:
                spans.append(stretch(begin, end, transcript.path, f"line {n}"))
        if words and (glued or sign):
            words[-1] = words[-1][0] + cells[1], words[-1][1] + ([] if sign else spans)
        else:
            words.append((cells[1], spans))
        glued = told.get("SpaceAfter") == "No"
    _note(transcript, speaker, words)


def _note(transcript: Gathered, speaker: str, words: list[tuple[str, list[Span]]]) -> None:
    whole, timed = of_tokens([text for text, _ in words]), list[Span]()
    lost = 0
    for text, spans in words:
        found = of_tokens([text])
        if spans and found.words:
            span = Span(min(one.start for one in spans), max(one.end for one in spans))
            transcript.word(speaker, found, span)
            timed.append(span)
        elif found.words:
            lost += 1
        elif spans and found.unclear:
            # What was not understood (``XXX``) was said all the same, and when.
            transcript.word(speaker, found, Span(min(one.start for one in spans), max(one.end for one in spans)))
    if lost:
        whole = replace(whole, unclear=True)
        transcript.remarks.append(f"{lost} words of {whole.text[:40]!r} have no times that can be meant")
    if whole.words:
        stands = Span(min(one.start for one in timed), max(one.end for one in timed)) if timed else None
        transcript.line(speaker, whole, stands)


def _within(rows: list[tuple[int, list[str]]], first: str, last: str) -> dict[str, str]:
    """Return the times of the parts of a word, from the first one's begin to the last one's end."""
    parts = {cells[0]: dict(part.partition("=")[::2] for part in cells[9].split("|")) for _, cells in rows}
    begin, end = parts.get(first, {}).get("AlignBegin"), parts.get(last, {}).get("AlignEnd")
    return {"AlignBegin": begin, "AlignEnd": end} if begin and end else {}
