"""What a user's text marks between its words.

``[pause 0.6]``         silence, in seconds
``[aside: WORDS]``      said by the same voice to somebody else who is there; it takes its time
``[background: WORDS]`` said by another voice, from here on, while the user goes on; it takes no time of its own
``[entry]``             from here to the turn's end a response may begin
``[backchannel]``       a listener's brief token belongs here
``[target]``            the word before it is the point at which to break in
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data.files import brief
from fullduplex.errors import InputError
from fullduplex.making.script_file import LONGEST as LONGEST_PAUSE
from fullduplex.model.spans import in_seconds, ms, seconds

#: A silence is a pause from here on, in microseconds, this length included: the publication's shortest.
SHORTEST_PAUSE = ms(200)
#: Nobody speaks longer in one turn, in characters.
LONGEST = 2_000
#: Places between two words, at which nothing else is said.
PLACES = ("entry", "backchannel", "target")
MARKUP = ("pause", "aside", "background", *PLACES)

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
#: A sign that closes a phrase belongs to the words before the brackets: "sofa [aside: Hold this?]. And".
_LATE_SIGN = re.compile(r"\s*((?:\[[^\[\]]*\]\s*)+)([,.;:!?…]+)")
_FORMS = "[pause SECONDS], [aside: WORDS], [background: WORDS], [entry], [backchannel], [target]"


@dataclass(frozen=True, slots=True)
class Break:
    """What parts two phrases of the user's: a silence (microseconds), or else words for somebody else."""

    pause: int = 0
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the user's own words: ``after`` so many of them. ``text`` is what is said in the background there."""

    kind: str
    after: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A turn of the user's: own words in phrases, what parts these (one fewer), and the places that are marked.

    A line on which the user says nothing to the system has no phrase: one break (an aside), or one background.
    """

    phrases: tuple[str, ...]
    breaks: tuple[Break, ...] = ()
    places: tuple[Place, ...] = ()

    @property
    def text(self) -> str:
        """Return what the user's voice says, to whomever, in its order."""
        asides = [one.aside for one in self.breaks]
        if not self.phrases:
            return " ".join(asides)
        every = [self.phrases[0], *(part for pair in zip(asides, self.phrases[1:], strict=True) for part in pair)]
        return " ".join(part for part in every if part)

    @property
    def words(self) -> int:
        """Return how many words the user says to the system."""
        return sum(len(words_of(phrase)) for phrase in self.phrases)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kind of each of the marks: those that part phrases, then those between two words."""
        return (*("aside" if one.aside else "pause" for one in self.breaks), *(place.kind for place in self.places))


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as it is cut at spaces: what has neither a letter nor a digit is none."""
    return tuple(token for token in text.split() if any(c.isalnum() for c in token))


def marked(text: str, path: Path, where: str) -> Marked:
    """Return what a user's text says and marks; raises :class:`InputError` on markup that cannot be meant."""
    if len(text) > LONGEST:
        raise InputError(path, where, found=f"{len(text)} characters", expected=f"at most {LONGEST} in a turn")
    phrases, breaks, places, own = list[str](), list[Break](), list[Place](), list[str]()
    for piece in _pieces(text, path, where):
        if isinstance(piece, str):
            own.append(piece)
        elif isinstance(piece, Break):
            if own:
                phrases.append(" ".join(own))
            breaks.append(piece)
            own = []
        else:
            after = sum(len(words_of(one)) for one in (*phrases, *own))
            places.append(Place(piece.kind, after, piece.text))
    if own:
        phrases.append(" ".join(own))
    found = Marked(tuple(phrases), tuple(breaks), tuple(places))
    _check(found, path, where)
    return found


def _check(turn: Marked, path: Path, where: str) -> None:
    if not turn.phrases:
        alone = turn.kinds in (("aside",), ("background",))
        if not alone:
            raise InputError(path, where, found="nothing to say", expected="words, or one aside or background alone")
        return
    if len(turn.breaks) != len(turn.phrases) - 1:
        found = "a pause or an aside at an edge of the turn, or two side by side"
        raise InputError(path, where, found=found, expected="words of the user's on both sides of each")
    for place in turn.places:
        if place.kind in PLACES and not 0 < place.after < turn.words:
            expected = "words of the user's on both sides"
            raise InputError(path, where, found=f"[{place.kind}] at an edge of the turn", expected=expected)
        left, over = turn.words - place.after, len(words_of(place.text))
        if place.kind == "background" and left < over:
            found = f"{over} words in the background, over {left} of the user's"
            raise InputError(path, where, found=found, expected="at least as many words that the user goes on for")


def _pieces(text: str, path: Path, where: str) -> Iterator[str | Break | Place]:
    """Yield the parts of a text in their order: words, breaks, and places whose ``after`` is yet to be counted."""
    text = _LATE_SIGN.sub(r"\2 \1", text)
    at = 0
    for found in _BRACKETS.finditer(text):
        yield from _spoken(text[at : found.start()], path, where)
        yield _mark(found.group(1), path, where)
        at = found.end()
    yield from _spoken(text[at:], path, where)


def _spoken(text: str, path: Path, where: str) -> Iterator[str]:
    words = " ".join(text.split())
    if "[" in words or "]" in words:
        raise InputError(path, where, found=f"a bracket without its other half in {brief(words)}", expected=_FORMS)
    if words_of(words):
        yield words
    elif words:
        raise InputError(path, where, found=repr(words[:40]), expected="words to speak")


def _mark(told: str, path: Path, where: str) -> Break | Place:
    kind, colon, words = told.partition(":")
    kind, words = kind.strip(), " ".join(words.split())
    if kind in PLACES and not colon:
        return Place(kind, 0)
    if kind in ("aside", "background") and words_of(words):
        return Break(aside=words) if kind == "aside" else Place(kind, 0, words)
    if kind.startswith("pause") and not colon:
        return Break(pause=_pause(kind.removeprefix("pause"), path, where))
    raise InputError(path, where, found=f"[{told[:60]}]", expected=_FORMS)


def _pause(told: str, path: Path, where: str) -> int:
    try:
        length = float(told.strip().removesuffix("s"))
    except ValueError:
        length = -1.0
    if not in_seconds(SHORTEST_PAUSE) <= length <= LONGEST_PAUSE:
        expected = f"[pause SECONDS], {in_seconds(SHORTEST_PAUSE):g} to {LONGEST_PAUSE:g}"
        raise InputError(path, where, found=f"[pause{told[:40]}]", expected=expected)
    return seconds(length)
