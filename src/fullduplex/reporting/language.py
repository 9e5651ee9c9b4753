"""The language of a report: every text is written in English, and a catalogue says what it is in another.

The English text is the key (gettext's msgid). What renders says its own texts by calling the language. What was
measured, declared or kept (reasons, titles, remarks) is English data, in JSON too, and is told where it is shown, by
:meth:`Language.of`: as a whole, else by a pattern, an entry of the catalogue with places for what varies. A place is
named by what stands there: ``{n}``, ``{n2}`` a number; ``{date}`` a day (2026-11-30); ``{name}`` a name, never
translated; ``{text}`` a text, which is told in its turn; ``{said}`` what somebody said, told where it is one of these.

The catalogues are ``catalogues/LANGUAGE/LC_MESSAGES/fullduplex.po``, each compiled beside itself (``.mo``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from typing import Any

from fullduplex.errors import InputError

DOMAIN = "fullduplex"
#: The language in which every text is written.
ORIGINAL = "en"
#: gettext joins the context of a text to it with this.
_CONTEXT = "\x04"
_PLACE = re.compile(r"\{(n|date|name|said|text)(\d*)\}")
_FORMS = {
    "n": r"([-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)",
    "date": r"(\d{4}-\d\d-\d\d)",
    "name": r"(.+?)",
    "said": r"(.+?)",
    "text": r"(.+?)",
}
#: A name, or what was said, that a text begins with: `NAME: sentence` is neither but a sentence of one.
_FIRST = r"((?:(?!: ).)+?)"
_NUMBER = re.compile(_FORMS["n"])
#: A longer text is nobody's pattern: what a person or a model wrote.
_LONGEST = 1_000
#: So deep do texts stand in each other, and no deeper.
_DEEPEST = 12
#: So many different texts are remembered; a run of many items has many reasons alike.
_REMEMBERED = 1 << 16


class Language:
    """How a report tells its texts and its numbers.

    Calling it tells a text of the report's own, ``values`` put in its places; :meth:`of` one that was measured,
    declared or kept; :meth:`digits` a number that is printed already. In the original language each is as written.
    """

    def __init__(self, code: str = ORIGINAL, catalogue: NullTranslations | None = None) -> None:
        self.code = code
        self._catalogue = catalogue or NullTranslations()
        self._texts: Mapping[str, str] = dict(_texts(self._catalogue))
        self._patterns = _Patterns(self._texts)
        self._point, self._thousands = (self._catalogue.pgettext("number", sign) for sign in ".,")
        self.of = lru_cache(maxsize=_REMEMBERED)(self._of)

    def __call__(self, text: str, /, **values: object) -> str:
        """Return a text of the report's own with ``values`` in its places."""
        told = self.gettext(text)
        return told.format(**values) if values else told

    def plural(self, one: str, many: str, number: int, /, **values: object) -> str:
        """Return the text for ``number`` things; its place ``{n}`` is the number itself, thousands set apart."""
        return self.ngettext(one, many, number).format(n=self.digits(f"{number:,}"), **values)

    def gettext(self, text: str) -> str:
        """Return a text of the report's own, as gettext does."""
        if text in self._texts or self.original:
            return self._catalogue.gettext(text)
        return self.unknown(text)

    def ngettext(self, one: str, many: str, number: int) -> str:
        """Return the form of a text for ``number`` things, as gettext does."""
        if one not in self._texts and not self.original:
            return self.unknown(one if number == 1 else many)
        return self._catalogue.ngettext(one, many, number)

    @property
    def original(self) -> bool:
        """Return whether it is the language in which every text is written."""
        return self.code == ORIGINAL

    def knows(self, text: str) -> bool:
        """Return whether a text that was written elsewhere can be told whole; always in the original language."""
        return self.original or self._found(text) is not None

    def kept(self, text: str) -> str:
        """Return a text of which some are names (an error, a key, a system): told where the catalogue has it."""
        if self.original:
            return text
        found = self._found(text)
        if found is None:
            found = self._found_in_part(text)
        return text if found is None else found

    def digits(self, text: str) -> str:
        """Return a printed number with the language's decimal sign and thousands."""
        if self.original:
            return text
        return text.translate({ord("."): self._point, ord(","): self._thousands})

    def date(self, text: str) -> str:
        """Return a day, ``2026-11-30``, as the language writes it; in the original language as it is."""
        if self.original:
            return text
        year, month, day = text.split("-")
        form = self._catalogue.pgettext("date", "{year}-{month}-{day}")
        named = self._catalogue.pgettext("month", month)
        return form.format(year=year, month=named, day=self._catalogue.pgettext("day", day.removeprefix("0")))

    def unknown(self, text: str) -> str:
        """Return a text that the catalogue does not have: as it is, which is better than nothing."""
        return text

    def _of(self, text: str) -> str:
        if self.original or not any(map(str.isalnum, text)):
            return text
        return self._told(text, 0)

    def _told(self, text: str, depth: int) -> str:
        found = self._found(text, depth)
        if found is None:
            found = self._found_in_part(text, depth)
        return self.unknown(text) if found is None else found

    def _found(self, text: str, depth: int = 0) -> str | None:
        """Return a text that was written elsewhere: as a whole, by a pattern, or part by part; None where none fits."""
        whole = self._texts.get(text)
        if whole is not None:
            return whole
        if _NUMBER.fullmatch(text):
            return self.digits(text)
        if len(text) > _LONGEST or depth > _DEEPEST:
            return None
        # Sentences come apart first: a place for any text would take several of them for one.
        told = self._in_parts(text, "; ", depth)
        if told is None:
            told = self._by_pattern(text, depth)
        return self._in_parts(text, ": ", depth) if told is None else told

    def _by_pattern(self, text: str, depth: int) -> str | None:
        for told, values in self._patterns.matches(text):
            return told.format(**{place: self._placed(place, value, depth) for place, value in values.items()})
        return None

    def _in_parts(self, text: str, sign: str, depth: int) -> str | None:
        found = []
        for part in text.split(sign):
            told = self._found(part, depth + 1) if part != text else None
            if told is None:
                return None
            found.append(told)
        return self.gettext(sign).join(found)

    def _found_in_part(self, text: str, depth: int = 0) -> str | None:
        """Return ``NAME: sentence`` or ``sentence; sentence`` where one part is no text of ours; None where none is."""
        if len(text) > _LONGEST or depth > _DEEPEST:
            return None
        sentences = text.split("; ")
        told: list[str | None] = []
        if len(sentences) > 1:
            for one in sentences:
                found = self._found(one, depth + 1)
                told.append(self._found_in_part(one, depth + 1) if found is None else found)
            if None not in told:
                return self.gettext("; ").join(filter(None, told))
        name, there, said = text.partition(": ")
        rest = self._found(said, depth + 1) if there else None
        if there and rest is None:
            rest = self._found_in_part(said, depth + 1)
        if rest is not None:
            return name + self.gettext(": ") + rest
        if any(one is not None for one in told):
            pairs = zip(sentences, told, strict=True)
            return self.gettext("; ").join(self.unknown(one) if its is None else its for one, its in pairs)
        return None

    def _placed(self, place: str, value: str, depth: int) -> str:
        if place.startswith("name"):
            return value
        if place.startswith("date"):
            return self.date(value)
        if place.startswith("said"):
            return self.kept(value)
        return self._told(value, depth + 1) if place.startswith("text") else self.digits(value)


class _Patterns:
    """The texts with places for what varies, found by how they begin."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        #: By the word that they begin with; "" for those that begin with a place.
        self._by_word: dict[str, list[tuple[re.Pattern[str], str, list[str], int]]] = {}
        for text, told in texts.items():
            places = _PLACE.findall(text)
            if not places or len(places) != text.count("{"):
                continue
            literals = _PLACE.split(text)[::3]
            forms = [_FORMS[kind] for kind, _ in places]
            if not literals[0] and places[0][0] in ("name", "said"):
                forms[0] = _FIRST
            pattern = "".join(re.escape(a) + b for a, b in zip(literals, [*forms, ""], strict=True))
            names = [kind + number for kind, number in places]
            weight = sum(map(len, literals))
            word = literals[0].split(" ")[0] if " " in literals[0] else ""
            self._by_word.setdefault(word, []).append((re.compile(pattern, re.DOTALL), told, names, weight))

    def matches(self, text: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield what each pattern that fits ``text`` is told as, and what stands in its places; the closest first."""
        near = [one for word in dict.fromkeys((text.partition(" ")[0], "")) for one in self._by_word.get(word, ())]
        for pattern, told, names, _ in sorted(near, key=lambda one: -one[3]):
            found = pattern.fullmatch(text)
            if found is not None:
                yield told, dict(zip(names, found.groups(), strict=True))


def _texts(catalogue: NullTranslations) -> Iterator[tuple[str, str]]:
    """Yield every text of a catalogue with what it is told as; of plurals the form for one thing."""
    # gettext has no public list of what it read; without one no pattern could be found.
    for key, told in vars(catalogue).get("_catalog", {}).items():
        text = key[0] if isinstance(key, tuple) else key
        if text and _CONTEXT not in text and key in (text, (text, 0)):
            yield text, told


def languages() -> tuple[str, ...]:
    """Return the languages that reports can be in, the original one first."""
    there = files("fullduplex.reporting").joinpath("catalogues")
    return (ORIGINAL, *sorted(one.name for one in there.iterdir() if one.is_dir() and one.name != "__pycache__"))


def language_named(code: str) -> Language:
    """Return a report's language; raises :class:`InputError` where there is no catalogue of it."""
    if code == ORIGINAL:
        return ENGLISH
    if code not in languages():
        raise InputError("--report-language", found=code, expected=f"one of {', '.join(languages())}")
    there = files("fullduplex.reporting").joinpath("catalogues", code, "LC_MESSAGES", f"{DOMAIN}.mo")
    with there.open("rb") as file:
        return Language(code, GNUTranslations(file))


def told_all(tell: Language, texts: Iterable[Any]) -> list[str]:
    """Return each of ``texts`` as it is told."""
    return [tell.of(str(text)) for text in texts]


#: The language in which every text is written.
ENGLISH = Language()
