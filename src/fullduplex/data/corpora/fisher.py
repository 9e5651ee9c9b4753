"""Fisher's transcripts: ``start end side: text`` a line, sides A and B, which are the recording's channels in order."""

from __future__ import annotations

import re
from pathlib import Path

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.spoken import said
from fullduplex.data.files import read_text_file
from fullduplex.errors import InputError

#: The corpus' own names. Files of this form with other names are read where the format is asked for.
NAMES = re.compile(r"fe_03_\d{5}(?:[_-].*)?", re.IGNORECASE)
_LINE = re.compile(r"(\S+)\s+(\S+)\s+([AB]\d?):\s*(.*)")


def read_fisher(path: Path) -> Gathered:
    """Return the transcript in a file of Fisher's form; raises :class:`InputError` on a line of another one."""
    transcript = Gathered(path, language="en")
    for n, line in enumerate(read_text_file(path).splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise InputError(path, f"line {n}", found=line[:60], expected="start, end, A or B with a colon, and text")
        start, end = (moment(found[k], path, f"line {n}") for k in (1, 2))
        transcript.of(found[3]).channels.add("AB".index(found[3][0]))
        transcript.line(found[3], said(found[4]), stretch(start, end, path, f"line {n}"))
    return transcript
