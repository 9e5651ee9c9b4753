"""Praat's TextGrids, long or short, in UTF-8 or UTF-16: intervals by tier. Tiers of points are not read.

Praat reads its text files by what stands free: numbers, texts in double quotes, flags in angle brackets. All else is
for people. So both forms are one. Praat's own ASCII spelling of accents (``\\e'``) is read as the letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from fullduplex.data.corpora.gathered import Gathered, moment
from fullduplex.data.corpora.tiers import OTHER, gather, meant
from fullduplex.data.files import read_text_file
from fullduplex.errors import InputError

_TOKEN = re.compile(r'"((?:[^"]|"")*)"|(<[a-z]+>)|(?<!\S)([-+]?\d[\d.eE+-]*)(?!\S)|(?<!\S)![^\n]*')
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", ",": "\u0327"}
_TRIGRAPH = re.compile(r"\\([A-Za-z])(['`^\"~,])|\\(ss|oe|OE|ae|AE|o/|O/)")
_LETTERS = {"ss": "ß", "oe": "œ", "OE": "Œ", "ae": "æ", "AE": "Æ", "o/": "ø", "O/": "Ø"}


def read_textgrid(path: Path) -> Gathered:
    """Return the transcript in a TextGrid; raises :class:`InputError` where it breaks off or is none."""
    transcript = Gathered(path, words_from="TextGrid")
    for name, labels in tiers_of(path):
        speaker, kind = meant(name)
        if kind != OTHER:
            gather(transcript, speaker, kind, labels, f"tier {name}")
    return transcript


def tiers_of(path: Path) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Return the interval tiers of a TextGrid in their order: name, and (start, end, label) with times in µs."""
    text = _text(path)
    tokens = _Tokens(path, text)
    kind, what = tokens.text("the file's type"), tokens.text("the object's class")
    if (kind, what) != ("ooTextFile", "TextGrid"):
        raise InputError(path, found=f"{kind} of {what}"[:80], expected="ooTextFile of TextGrid")
    tokens.number("xmin"), tokens.number("xmax")
    found = []
    for n in range(1, (tokens.count("the number of tiers") if tokens.flag() else 0) + 1):
        form, name = tokens.text(f"tier {n}, class"), tokens.text(f"tier {n}, name")
        where = f"tier {name}"
        if form not in ("IntervalTier", "TextTier"):
            raise InputError(path, where, found=form[:40], expected="IntervalTier or TextTier")
        tokens.number(where), tokens.number(where)
        labels = []
        for m in range(1, tokens.count(where) + 1):
            at = f"{where}, interval {m}"
            if form == "TextTier":
                tokens.number(at), tokens.text(at)
            else:
                start, end = moment(tokens.number(at), path, at), moment(tokens.number(at), path, at)
                labels.append((start, end, _spelled(tokens.text(at))))
        if form == "IntervalTier":
            found.append((name, labels))
    return found


def _text(path: Path) -> str:
    with_mark = b""
    try:
        with path.open("rb") as file:
            with_mark = file.read(12)
        if with_mark[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return path.read_bytes().decode("utf-16")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, found=str(error), expected="a TextGrid in UTF-8 or UTF-16") from error
    if with_mark.startswith(b"ooBinaryFile"):
        raise InputError(path, found="a binary TextGrid", expected="a text file", do="save it as text in Praat")
    return read_text_file(path)


def _spelled(text: str) -> str:
    if "\\" not in text:
        return text

    def letter(found: re.Match[str]) -> str:
        return _LETTERS[found[3]] if found[3] else unicodedata.normalize("NFC", found[1] + _ACCENTS[found[2]])

    return _TRIGRAPH.sub(letter, text)


class _Tokens:
    """The values that stand free in a text, taken one after another."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.found: Iterator[re.Match[str]] = (one for one in _TOKEN.finditer(text) if one.lastindex)

    def _next(self, group: int, what: str, expected: str) -> str:
        token = next(self.found, None)
        if token is None:
            raise InputError(self.path, what, found="the end of the file", expected=expected)
        if token.lastindex != group:
            raise InputError(self.path, what, found=token[0][:40], expected=expected)
        return str(token[group])

    def text(self, what: str) -> str:
        """Return the next text."""
        return self._next(1, what, "a text in double quotes").replace('""', '"')

    def number(self, what: str) -> str:
        """Return the next number, as it is written."""
        return self._next(3, what, "a number")

    def count(self, what: str) -> int:
        """Return the next number as a count."""
        number = self.number(what)
        if not number.isdecimal() or len(number) > 9:
            raise InputError(self.path, what, found=number[:40], expected="how many there are")
        return int(number)

    def flag(self) -> bool:
        """Return whether the next flag says that there are tiers."""
        return self._next(2, "tiers?", "<exists>") == "<exists>"
