"""English words as the rules need them: tokens, numbers, slots, what is negated, the language of a text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"\d{1,2}[:.]\d{2}(?!\d)|\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")

_LEXICON = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def listed(name: str) -> list[str]:
    """Return a list of words of the lexicon."""
    return str(_LEXICON[name]).split()


def sentences(name: str) -> list[Any]:
    """Return a list of the lexicon whose members are more than words."""
    return list(_LEXICON[name])


FUNCTION = frozenset(listed("function"))
SLOTS: dict[str, frozenset[str]] = {kind: frozenset(words.split()) for kind, words in _LEXICON["slots"].items()}
_ALIKE = {"mom": "mum", "mother": "mum", "father": "dad", "bicycle": "bike", "grandma": "grandmother", "grey": "gray"}

_VALUES = {word: n for n, word in enumerate(listed("units"))} | {
    word: 10 * n for n, word in enumerate(listed("tens"), 2)
}
#: "first" and "second" are seldom numbers in speech, "one" only before a noun.
_VALUES |= {word: n for n, word in enumerate(listed("ordinals")) if n > 2} | {"thirtieth": 30, "fortieth": 40}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}

_NEGATORS = frozenset(listed("negators"))
_STEM = re.compile(r"(?:ies|es|s|ing|ed|'s|’s)$")


def tokens(text: str) -> list[str]:
    """Return the words and numbers of a text, in small letters."""
    return [match[0].lower().replace("’", "'") for match in _TOKEN.finditer(text)]


def stem(word: str) -> str:
    """Return a word without its ending, as far as matching needs it."""
    if len(word) > 4:
        cut: str = _STEM.sub("", word)
        return cut if len(cut) >= 3 else word
    return _ALIKE.get(word, word)


def content(words: Iterable[str]) -> list[str]:
    """Return the stems of the words that carry content."""
    return [stem(word) for word in words if word not in FUNCTION and not word[0].isdigit()]


def numbers(text: str) -> set[str]:
    """Return the numbers and clock times of a text, as figures: ``3``, ``11:30``."""
    words = tokens(text)
    found, i = set(), 0
    while i < len(words):
        word = words[i]
        if word in ("half", "quarter") and words[i + 1 : i + 2] in (["past"], ["to"]) and i + 2 < len(words):
            hour = _VALUES.get(words[i + 2]) or (int(words[i + 2]) if words[i + 2].isdecimal() else None)
            if hour is not None:
                minutes = "30" if word == "half" else "15" if words[i + 1] == "past" else "45"
                found.add(f"{hour - 1 if minutes == '45' else hour}:{minutes}")
                i += 3
                continue
        if words[i : i + 3] == ["half", "an", "hour"]:
            found.add("30")
            i += 3
            continue
        if word[0].isdigit():
            found.add(word.replace(".", ":") if ":" in word or re.fullmatch(r"\d{1,2}\.\d{2}", word) else _plain(word))
            i += 1
            continue
        value, behind = _spoken(words, i)
        if value is not None:
            found.add(str(value))
        i = max(behind, i + 1)
    return found


def _plain(figures: str) -> str:
    return figures.replace(",", "").lstrip("0") or "0"


def _spoken(words: list[str], start: int) -> tuple[int | None, int]:
    """Return the number that begins at ``start`` in words, and where it ends."""
    if words[start] == "one" and not _is_noun(words, start + 1):
        return None, start + 1
    total, current, i, any_word = 0, 0, start, False
    while i < len(words):
        word = words[i]
        if word in _VALUES and (current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 > _VALUES[word] < 10)):
            current, any_word = current + _VALUES[word], True
        elif word in _SCALES and any_word:
            if word == "hundred":
                current = (current or 1) * 100
            else:
                total, current = total + (current or 1) * _SCALES[word], 0
        elif not (word == "and" and any_word and current % 100 == 0 and i + 1 < len(words) and words[i + 1] in _VALUES):
            break
        i += 1
    return (total + current if any_word else None), i


def _is_noun(words: list[str], at: int) -> bool:
    return at < len(words) and words[at] not in FUNCTION


def slots(text: str) -> dict[str, set[str]]:
    """Return the values that a text names, by kind: days, colours, persons and so on, numbers, and names."""
    words = tokens(text)
    found: dict[str, set[str]] = {}
    for kind, values in SLOTS.items():
        there = {
            _ALIKE.get(word, word.removesuffix("s") if kind in ("day", "currency") else word)
            for word in words
            if word in values
        }
        if there:
            found[kind] = there
    if count := numbers(text):
        found["number"] = count
    if called := names(text):
        found["name"] = called
    return found


def names(text: str) -> set[str]:
    """Return the capitalised words inside sentences that are in no other list: names, as far as a transcript tells."""
    values = set().union(*SLOTS.values())
    found = set()
    for sentence in re.split(r"[.!?:]\s+", text):
        for match in list(_TOKEN.finditer(sentence))[1:]:
            word = match[0]
            plain = word.lower().replace("’", "'").removesuffix("'s")
            if word[0].isupper() and plain not in values | FUNCTION and not word.isupper():
                found.add(plain)
    return found


def negated(text: str) -> set[str]:
    """Return the stems of content words that a text negates: those behind a negator, up to the clause's end."""
    found: set[str] = set()
    for clause in re.split(r"[,.;!?]|(?<!anything )(?<!everything )\bbut\b|\bso\b|\band\b", text):
        words = tokens(clause)
        at = next((i for i, word in enumerate(words) if word in _NEGATORS or word == "but"), None)
        if at is not None:
            found.update(content(words[at + 1 : at + 5]))
    return found


def affirmed(text: str) -> set[str]:
    """Return the stems of content words that a text says without negating them."""
    return set(content(tokens(text))) - negated(text)


_PROFILES: dict[str, list[str]] = {code: words.split() for code, words in _LEXICON["languages"].items()}


def language(text: str) -> str:
    """Return the language of a text among five by its function words, "" where they do not tell."""
    words = tokens(text)
    counts = {code: sum(word in known for word in words) for code, known in _PROFILES.items()}
    best, second = sorted(counts.values(), reverse=True)[:2]
    if best < 2 or best == second:
        return ""
    return max(counts, key=lambda code: counts[code])
