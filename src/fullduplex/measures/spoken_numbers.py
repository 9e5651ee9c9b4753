"""Numbers in recognised speech, in figures or in English words, and whether a list of things was said in order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

_SMALL = (
    "zero zeroth|one first|two second|three third|four fourth|five fifth|six sixth|seven seventh|eight eighth|"
    "nine ninth|ten tenth|eleven eleventh|twelve twelfth|thirteen thirteenth|fourteen fourteenth|fifteen fifteenth|"
    "sixteen sixteenth|seventeen seventeenth|eighteen eighteenth|nineteen nineteenth"
)
_TEN_BY_TEN = (
    "twenty twentieth|thirty thirtieth|forty fortieth|fifty fiftieth|sixty sixtieth|seventy seventieth|"
    "eighty eightieth|ninety ninetieth"
)
_UNITS = {pair.split()[0]: value for value, pair in enumerate(_SMALL.split("|"))} | {"nought": 0}
_ORDINALS = {pair.split()[1]: value for value, pair in enumerate(_SMALL.split("|"))}
_TENS = {pair.split()[0]: 10 * value for value, pair in enumerate(_TEN_BY_TEN.split("|"), 2)}
_TENTHS = {pair.split()[1]: 10 * value for value, pair in enumerate(_TEN_BY_TEN.split("|"), 2)}
#: Words that carry nothing between the members of a list.
_FILLERS = frozenset({"a", "an", "the", "and", "o'clock", "oclock"})
#: A figure with its thousands and decimals, an ordinal in figures, a word, or a mark that ends a number.
_PART = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*|[,.;:!?]", re.UNICODE)
_LONGEST = 100_000
#: Stands after the figures of an ordinal.
_MARK = "ordinalmark"


def plain(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, every number as ``#`` and its figures, ordinals as ``#6th``.

    ``twenty four``, ``twenty-four`` and ``24`` are ``#24``; ``a hundred and fifty`` is ``#150``; ``five four`` are two
    numbers, and a comma or full stop between two words keeps them two (``twenty, two``). ``2:24`` is ``#2 #24``,
    ``1:00`` is ``#1``. Articles, ``and`` and ``o'clock`` are left out. English alone; what is longer than 100,000
    characters is cut. Source: own.
    """
    folded = unicodedata.normalize("NFKC", text[:_LONGEST]).casefold().replace("-", " ").replace("’", "'")
    folded = re.sub(r"(\d):00\b", r"\1", folded)
    parts = _PART.findall(re.sub(r"(\d)(?:st|nd|rd|th)\b", rf"\1 {_MARK}", folded))
    made: list[str] = []
    at = 0
    while at < len(parts):
        number, after = _number(parts, at)
        if number is not None:
            made.append(number)
        elif parts[at] not in ",.;:!?" and parts[at] not in _FILLERS and parts[at] != _MARK:
            made.append(parts[at])
        at = after
    return made


def numbers(text: str) -> list[str]:
    """Return the numbers of ``text`` in order, as :func:`plain` writes them."""
    return [word for word in plain(text) if word.startswith("#")]


def says(text: str, target: str) -> bool:
    """Return whether the words of ``target`` stand in ``text`` in a row, numbers in either form."""
    return _in_a_row(plain(text), plain(target))


def says_in_order(text: str, members: Sequence[str]) -> bool:
    """Return whether ``text`` lists ``members`` in order, with none between them that does not belong there.

    What else is said does not count: if every member is a number, all but the numbers of ``text`` is left out, else
    all words that are in no member. What remains must hold the members in a row: they may be led up to (a countdown
    begun again), and followed by more.
    """
    wanted = [word for member in members for word in plain(member)]
    if not wanted:
        return False
    if all(word.startswith("#") for word in wanted):
        return _in_a_row(numbers(text), wanted)
    known = set(wanted)
    return _in_a_row([word for word in plain(text) if word in known], wanted)


def _in_a_row(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return size > 0 and any(list(words[at : at + size]) == list(wanted) for at in range(len(words) - size + 1))


def _number(parts: Sequence[str], at: int) -> tuple[str | None, int]:
    """Return the number that begins at ``at`` and where it ends; None, and the next place, where none does."""
    first = parts[at]
    if first[0].isdigit():
        value = first.replace(",", "")
        if value.isdecimal():
            value = "".join(str(unicodedata.digit(figure)) for figure in value).lstrip("0") or "0"
        if at + 1 < len(parts) and parts[at + 1] == _MARK:
            return f"#{value}th", at + 2
        return f"#{value}", at + 1
    found = _in_words(parts, at)
    if found is None:
        return None, at + 1
    value_, after, ordinal = found
    return f"#{value_}{'th' if ordinal else ''}", after


#: A number in words: its value, where it ends, and whether it is an ordinal.
_Found = tuple[int, int, bool]
_Part = Callable[[Sequence[str], int], "_Found | None"]


def _in_words(parts: Sequence[str], at: int) -> _Found | None:
    return _scaled(parts, at, "thousand", 1000, _below_a_thousand)


def _below_a_thousand(parts: Sequence[str], at: int) -> _Found | None:
    return _scaled(parts, at, "hundred", 100, _below_a_hundred)


def _scaled(parts: Sequence[str], at: int, name: str, scale: int, smaller: _Part) -> _Found | None:
    """Return a number of the form [smaller] NAME [and] [smaller], or a smaller one."""
    many = smaller(parts, at)
    if many is None:
        start = at + 1 if parts[at] == "a" else at
        many = (1, start, False) if parts[start : start + 1] == [name] else None
    if many is None or many[2] or parts[many[1] : many[1] + 1] != [name]:
        return many
    value, after = many[0] * scale, many[1] + 1
    start = after + 1 if parts[after : after + 1] == ["and"] else after
    rest = smaller(parts, start) if start < len(parts) else None
    # What is multiplied itself begins another number: "one hundred, two hundred".
    if rest is None or rest[0] == 0 or parts[rest[1] : rest[1] + 1] == [name]:
        return value, after, False
    return value + rest[0], rest[1], rest[2]


def _below_a_hundred(parts: Sequence[str], at: int) -> _Found | None:
    word = parts[at]
    if word in _UNITS or word in _ORDINALS:
        return (_UNITS[word], at + 1, False) if word in _UNITS else (_ORDINALS[word], at + 1, True)
    if word in _TENTHS:
        return _TENTHS[word], at + 1, True
    if word not in _TENS:
        return None
    following = parts[at + 1] if at + 1 < len(parts) else ""
    for known, ordinal in ((_UNITS, False), (_ORDINALS, True)):
        if 0 < known.get(following, 0) < 10:
            return _TENS[word] + known[following], at + 2, ordinal
    return _TENS[word], at + 1, False
