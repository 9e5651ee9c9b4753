"""What of a transcript's text was said: its words as they sounded, without the marks around them.

Text becomes Unicode's composed form (NFC), so that an accent is the same however it was typed; marks of direction,
which are no letters, are dropped, and letters keep their logical order. In text of no format of its own, ``[…]``,
``<…>`` and ``{…}`` are marks of sounds, ``(…)`` is what the transcriber was not sure of, and is kept.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

#: Labels of a tier of words that stand for silence, by MFA, WebMAUS, SPPAS, Kaldi and common usage.
SILENT = frozenset([
    "", "sil", "<sil>", "[sil]", "sp", "<sp>", "<eps>", "<p>", "<p:>", "<p>:", "#", "##", "_", "+", "(.)", "silence",
    "[silence]", "<silence>", "<pause>", "[pause]", "pause",
])  # fmt: skip
#: Labels that stand for a sound which is no word, or for a word that nobody understood.
SOUNDS = frozenset(["spn", "nsn", "*", "@", "laugh", "laughter", "noise", "breath", "xxx", "@@"])
_DIRECTION = dict.fromkeys([0x200E, 0x200F, 0x061C, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_MARK = re.compile(r"\[[^\[\]]*\]|<[^<>]*>|\{[^{}]*\}")
_QUIET = re.compile(r"[\[<{](?:silence|sil|pause|p:?|sp)[\]>}]", re.IGNORECASE)
_UNSURE = re.compile(r"[()]")
#: Written instead of a word that nobody understood; in CHAT ``yyy`` and ``www`` too.
UNKNOWN = frozenset(["xxx", "xx", "yyy", "www"])
#: The same in other conventions: x, plus signs or question marks from two on, asterisks.
_UNKNOWN = re.compile(r"x{2,}|\*+|\+{2,}|\?{2,}|\(\?+\)")
#: In brackets of any kind, what says that something was not understood, in English, French, German and Dutch.
_INAUDIBLE = re.compile(
    r"\(+\s*(?:inaudible|unintelligible|indistinct|incomprehensible|unclear|unk|inintelligible|incompréhensible|"
    r"unverständlich|onverstaanbaar|x{2,}|\?+|\*+)[\s.]*\)+",
    re.IGNORECASE,
)
_PUNCTUATION = frozenset(".,;:?!…؟،؛。，、？！：；।")
_CUT = re.compile(r"[-–~=]$|^[-–](?=\w)")
_DASHES = re.compile(r"(?:--+|[—―])$")
_TAG = re.compile(r"[\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a line in their order, punctuation with the word before it.

    ``cut_off``: the indices of those that were broken off; ``unclear``: the line has a sound or something that was not
    understood, so that its words are not all that was heard.
    """

    words: tuple[str, ...]
    cut_off: frozenset[int] = frozenset()
    unclear: bool = False

    @property
    def text(self) -> str:
        """Return the words as a line of text."""
        return " ".join(self.words)


def composed(text: str) -> str:
    """Return text in composed form, without marks of direction and control characters."""
    if text.isascii() and text.isprintable():
        return text
    return _TAG.sub(" ", unicodedata.normalize("NFC", text.translate(_DIRECTION)))


def said(text: str) -> Said:
    """Return what was said of a line of text."""
    whole = _QUIET.sub(" ", composed(text))
    text = _INAUDIBLE.sub(" ", whole)
    bare = _UNSURE.sub(" ", _MARK.sub(" ", text))
    # "(( ))": something was said there that nobody understood.
    empty = re.search(r"\(\s*\)", text) is not None or text != whole
    return of_tokens(bare.split(), unclear=empty or _MARK.search(text) is not None)


def of_tokens(tokens: list[str], *, unclear: bool = False) -> Said:
    """Return what was said of tokens without marks: words, with the punctuation that stands alone after one."""
    words, cut = list[str](), set[int]()
    for token in tokens:
        if is_unknown(token):
            unclear = True
        elif not spells(token):
            # Punctuation alone ends the word before it; other signs ("-", "/", "=") are no words.
            if words and all(c in _PUNCTUATION for c in token):
                words[-1] += token
            unclear = unclear or token in SOUNDS
        else:
            text, whole = whole_of(token)
            if not whole:
                cut.add(len(words))
            words.append(text)
    return Said(tuple(words), frozenset(cut), unclear)


def is_unknown(token: str) -> bool:
    """Tell whether a token is a transcriber's mark of what nobody understood, punctuation beside it or not."""
    bare = token.strip(".,;:!…-–").lower()
    return bare in UNKNOWN or _UNKNOWN.fullmatch(bare) is not None


def whole_of(token: str) -> tuple[str, bool]:
    """Return a word without what only says that its sentence was left, and whether it was said whole."""
    bare = _DASHES.sub("", token)
    if not spells(bare):
        return token, True
    return bare, _CUT.search(bare) is None


def spells(token: str) -> bool:
    """Tell whether a token has a letter or a digit of any script, so that it can be a word."""
    return any(c.isalnum() for c in token)


def label(text: str) -> Said | None:
    """Return what the label of a word's own interval says; None where it stands for silence."""
    bare = composed(text).strip()
    low = bare.lower()
    if low in SILENT:
        return None
    if low in SOUNDS:
        return Said((), unclear=True)
    return said(bare)
