"""Whose a tier is, and what it holds: by its name where that says so, else by its labels.

``A - words``, ``words@A``, ``A_mots`` are words of A; ``A`` alone is A's, words where no label has a space in it, lines
else. Tiers of phones, glosses, comments and the like are not read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from fullduplex.data.corpora.gathered import Gathered, stretch
from fullduplex.data.corpora.spoken import label, said
from fullduplex.model.spans import Span

WORDS, LINES, SPEECH, OTHER, UNTOLD = "words", "lines", "speech", "other", ""
_KINDS = {
    WORDS: "word words wrd wd mot mots token tokens tokensalign ortmau woord woorden wort wörter palabra palabras",
    LINES: "utterance utterances utt ipu ipus transcription transcript trans text txt tx ortho orthography ort phrase "
    "phrases sentence sentences turn turns énoncé énoncés",
    SPEECH: "speech vad activity talk",
    OTHER: "phone phones phoneme phonemes phonèmes phon phons phn phonalign mau kan kanmau segment segments syllable "
    "syllables syll syl pos morph morphs gloss translation trad note notes comment comments commentaires event events "
    "pitch tone tones tobi breaks topic gesture gestures gaze da acts",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_BETWEEN = r"[\s_\-:/@.|()]+"
#: SPPAS writes a word that sounds unlike its spelling with both: ``[je suis,chui]``.
_PRONOUNCED = re.compile(r"\[([^,\[\]]*\w),[^\s,\[\]]+\]")
#: A label longer than this in a script without spaces is no word.
_LONGEST = 6


def meant(name: str) -> tuple[str, str]:
    """Return the speaker that a tier's name tells, "" where it tells none, and what the tier holds, "" where untold."""
    name = name.strip()
    if kind := _KIND_OF.get(_plain(name)):
        return "", kind
    # "user words 2": a further tier for what overlaps.
    bare = re.sub(r"[\s_]\d+$", "", name)
    for text in (name, bare):
        parts = re.split(f"({_BETWEEN})", text)
        for kind_at, rest in ((parts[-1], parts[:-2]), (parts[0], parts[2:])):
            kind = _KIND_OF.get(_plain(kind_at))
            if kind and any(part.strip() for part in rest):
                return "".join(rest).strip(" _-:/@.|("), kind
    return name, UNTOLD


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().replace("-", "")


def gather(transcript: Gathered, speaker: str, kind: str, labels: Iterable[tuple[int, int, str]], where: str) -> None:
    """Add the labels of a tier, each with its start and end in µs, to a transcript; ``where`` names it in errors."""
    transcript.of(speaker)
    found = [(stretch(start, end, transcript.path, where), text) for start, end, text in labels]
    found = [(span, text) for span, text in found if label(text) is not None]
    if kind == UNTOLD:
        kind = WORDS if found and all(_one_word(text) for _, text in found) else LINES
    for span, text in found:
        if kind == WORDS:
            _words(transcript, speaker, span, text)
        elif kind == SPEECH:
            transcript.turn(speaker, span)
        else:
            told = label(_PRONOUNCED.sub(r"\1", text))
            transcript.line(speaker, told or said(text), span)


def _words(transcript: Gathered, speaker: str, span: Span, text: str) -> None:
    transcript.word(speaker, label(text), span)


def _one_word(text: str) -> bool:
    text = text.strip()
    if len(text.split()) > 1 and not text.startswith(("[", "<", "{")):
        return False
    # Chinese, Japanese, Thai and others put no space between words.
    return len(text) <= _LONGEST or not any(unicodedata.category(c) == "Lo" and ord(c) > 0xE00 for c in text)
