"""How a word that no dictionary has may sound: enough to find it in the sound, not to say it.

Letters are read from the left, the longest known group first.
"""

from __future__ import annotations

import unicodedata

# Groups of letters and their phones, in the phone set of the aligner's acoustic model (ARPABET for English).
_ENGLISH = {
    "tion": "SH AH N", "sion": "ZH AH N", "ough": "OW", "augh": "AO", "eigh": "EY", "tch": "CH", "igh": "AY",
    "sch": "SH", "dge": "JH", "ing": "IH NG", "ch": "CH", "sh": "SH", "th": "TH", "ph": "F", "wh": "W", "ck": "K",
    "ng": "NG", "qu": "K W", "kn": "N", "wr": "R", "gh": "G", "ee": "IY", "ea": "IY", "oo": "UW", "ou": "AW",
    "ow": "OW", "oa": "OW", "oi": "OY", "oy": "OY", "ai": "EY", "ay": "EY", "ei": "EY", "ey": "IY", "ie": "IY",
    "au": "AO", "aw": "AO", "ew": "Y UW", "er": "ER", "ir": "ER", "ur": "ER", "ar": "AA R", "or": "AO R",
    "mm": "M", "a": "AE", "b": "B", "c": "K", "d": "D", "e": "EH", "f": "F", "g": "G", "h": "HH", "i": "IH",
    "j": "JH", "k": "K", "l": "L", "m": "M", "n": "N", "o": "AA", "p": "P", "q": "K", "r": "R", "s": "S", "t": "T",
    "u": "AH", "v": "V", "w": "W", "x": "K S", "y": "IY", "z": "Z",
}  # fmt: skip
_FRENCH = {
    "eaux": "oo", "eau": "oo", "aux": "oo", "ain": "in", "ein": "in", "oin": "ww in", "ien": "yy in", "ouil": "ou yy",
    "eil": "ai yy", "ail": "aa yy", "euil": "ee yy", "ill": "ii yy", "tion": "ss yy on", "gn": "gn", "ch": "ch",
    "ph": "ff", "qu": "kk", "gu": "gg", "th": "tt", "ou": "ou", "oi": "ww aa", "ai": "ai", "ei": "ai", "au": "oo",
    "eu": "ee", "oe": "ee", "an": "an", "am": "an", "en": "an", "em": "an", "in": "in", "im": "in", "on": "on",
    "om": "on", "un": "un", "ss": "ss", "ll": "ll", "mm": "mm", "nn": "nn", "tt": "tt", "rr": "rr", "a": "aa",
    "b": "bb", "c": "kk", "d": "dd", "e": "ee", "f": "ff", "g": "gg", "h": "", "i": "ii", "j": "jj", "k": "kk",
    "l": "ll", "m": "mm", "n": "nn", "o": "oo", "p": "pp", "q": "kk", "r": "rr", "s": "ss", "t": "tt", "u": "uu",
    "v": "vv", "w": "ww", "x": "kk ss", "y": "ii", "z": "zz",
}  # fmt: skip
_RULES = {"en": _ENGLISH, "fr": _FRENCH}


def phones(word: str, language: str) -> str:
    """Return a guess of how ``word`` sounds, as phones between spaces; empty where no letter is known."""
    rules = _RULES[language]
    letters = "".join(
        c for c in unicodedata.normalize("NFD", word.lower().replace("œ", "oe").replace("ç", "s")) if "a" <= c <= "z"
    )
    if language == "en" and len(letters) > 3 and letters.endswith("e"):
        letters = letters[:-1]
    found: list[str] = []
    at = 0
    while at < len(letters):
        group = next(letters[at : at + n] for n in (4, 3, 2, 1) if letters[at : at + n] in rules)
        found += rules[group].split()
        at += len(group)
    return " ".join(found)
