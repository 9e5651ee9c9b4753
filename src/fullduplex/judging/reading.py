"""What a judge's reply says. Pure and total: any text gives an answer, or why it holds none."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from fullduplex.judging.released import read_behaviour, read_rating
from fullduplex.judging.rubric import Labels, Read, Rubric, Scale, Unreadable

#: No reply to a rubric of ours is longer; what is longer is not searched.
LONGEST = 200_000
#: Beginnings of objects that are tried in a reply, the last ones.
_OPENINGS = 400
#: How deep in another object or list an answer may lie.
_DEPTH = 4
_REASONS = ("reason", "reasoning", "analysis", "explanation", "rationale")
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
#: What may stand around a value in prose.
_AROUND = " \t\r\n*_`\"'.!:;,()[]"
_OPENING = re.compile(r"\{(?=\s*[\"}])")
_WHOLE = re.compile(r"[+-]?\d{1,9}(?:\.0{1,9})?")
_OUT_OF = re.compile(r"(.+?)\s*(?:/|out of|von|sur)\s*(\d{1,9})", re.DOTALL)
_TWO = "two answers in one reply"


def read(rubric: Rubric, text: str) -> Read | Unreadable:
    """Return the verdict in a reply, or why there is none.

    ``json``: see :func:`read_json`. ``released-rating``, ``released-behaviour``: as the released scripts read.
    """
    if rubric.reads == "released-rating":
        return read_rating(text)
    if rubric.reads == "released-behaviour":
        return read_behaviour(text)
    return read_json(rubric, text)


def read_json(rubric: Rubric, text: str) -> Read | Unreadable:
    """Return the verdict of a reply to a rubric of ours.

    The last whole JSON object that has the rubric's key counts, fenced, after prose, or inside another object: a
    judge that drafts and then decides means its last word. Without one, ``key: value`` (single quotes, bold, a bare
    line) is read where all such mentions agree, then a reply that is nothing but the value. Thoughts between
    ``<think>`` tags are left out; where they do not end, there is no answer.

    A value of a scale is a whole number inside it, as a number or a text (``"4"``, ``**4**``, ``[4]``, ``4/5``,
    ``4.0``); ``4.5``, ``4/10`` and NaN are none. A label is one of the rubric's in any case, with or without ``C_``
    and ``_HANDLING``; true and false are yes and no. Two answers are no answer.
    """
    if len(text) > LONGEST:
        return Unreadable("the reply is too long to be an answer")
    spoken = _without_thoughts(text)
    if spoken is None:
        return Unreadable("the reply ends in its thoughts")
    if not spoken.strip():
        return Unreadable("the reply is empty")
    for form in dict.fromkeys((spoken, spoken.translate(_CURLY))):
        found = _last_answer(form, _spelt(rubric.key))
        if found is not None:
            return found if isinstance(found, Unreadable) else _verdict(rubric, *found)
    return _from_prose(rubric, spoken.translate(_CURLY))


def _verdict(rubric: Rubric, value: object, reason: str) -> Read | Unreadable:
    found = _value(rubric.answer, value)
    return found if isinstance(found, Unreadable) else Read(found, reason)


def _without_thoughts(text: str) -> str | None:
    """Return what follows the thoughts of a reasoning model; None where they never end."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when made small: then positions would differ
        lower = text
    end = lower.rfind("</think>")
    if end >= 0:
        return text[end + len("</think>") :]
    return None if lower.lstrip().startswith("<think>") else text


class _Object(dict[str, Any]):
    """A JSON object that remembers members which stand there twice with different values."""

    twice: frozenset[str] = frozenset()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    thing, twice = _Object(), set()
    for name, value in pairs:
        if name in thing and repr(thing[name]) != repr(value):
            twice.add(name)
        thing[name] = value
    thing.twice = frozenset(twice)
    return thing


def _last_answer(text: str, key: str) -> tuple[object, str] | Unreadable | None:
    """Return the value and the reason of the last whole object that has ``key``; None where none has it."""
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    found: tuple[object, str] | Unreadable | None = None
    behind = 0
    for opening in [match.start() for match in _OPENING.finditer(text)][-_OPENINGS:]:
        if opening < behind:  # inside the object before
            continue
        try:
            thing, behind = decoder.raw_decode(text, opening)
        except (ValueError, RecursionError):
            continue
        holders = _holders(thing, key, _DEPTH)
        if len(holders) > 1:
            found = Unreadable(_TWO)
        elif holders:
            found = _member(holders[0], key, before=text[:opening])
    return found


def _holders(thing: object, key: str, depth: int) -> list[_Object]:
    """Return the outermost objects in a JSON value that have ``key``."""
    if isinstance(thing, _Object) and any(_spelt(name) == key for name in thing):
        return [thing]
    parts = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ()
    return [holder for part in parts for holder in _holders(part, key, depth - 1)] if depth else []


def _member(thing: _Object, key: str, before: str) -> tuple[object, str] | Unreadable:
    names = [name for name in thing if _spelt(name) == key]
    values = [thing[name] for name in names]
    if any(name in thing.twice for name in names) or any(repr(value) != repr(values[0]) for value in values):
        return Unreadable(_TWO)
    reasons = (thing[name] for name in thing if _spelt(name) in _REASONS and isinstance(thing[name], str))
    return values[0], next(reasons, before.rstrip("` \njson").strip()[-2000:])


def _spelt(name: str) -> str:
    """Return a member's name in the rubrics' spelling."""
    return name.strip().casefold().replace("_", "-").replace("behavior", "behaviour")


def _from_prose(rubric: Rubric, text: str) -> Read | Unreadable:
    """Return the verdict of a reply without an object that could be read."""
    spelling = re.escape(_spelt(rubric.key)).replace("behaviour", "behaviou?r").replace(r"\-", "[-_ ]")
    mention = re.compile(
        rf"(?<!\w)[\"'*_]{{0,4}}{spelling}[\"'*_]{{0,4}}\s{{0,3}}[:=]\s{{0,3}}(\[[^\]\n]{{0,80}}\]|[^\n,}}]{{1,80}})"
        r"(?P<end>[,}\n]|$)",
        re.IGNORECASE,
    )
    mentions = list(mention.finditer(text))
    if mentions:
        if mentions[-1]["end"] == "" and text.count("{") > text.count("}"):
            return Unreadable("the reply is cut in its answer")
        values = [_value(rubric.answer, match[1]) for match in mentions]
        whole = {value for value in values if not isinstance(value, Unreadable)}
        if len(whole) == 1 and not isinstance(values[-1], Unreadable):
            return Read(whole.pop(), text[: mentions[0].start()].strip(" \n{\"'`")[-2000:])
        return (
            Unreadable(_TWO) if len(whole) > 1 else values[-1] if isinstance(values[-1], Unreadable) else _none(rubric)
        )
    if len(text.strip()) <= 80:
        alone = _value(rubric.answer, text)
        if not isinstance(alone, Unreadable):
            return Read(alone)
    return _none(rubric)


def _none(rubric: Rubric) -> Unreadable:
    return Unreadable(f"no answer with the key {rubric.key}")


def _value(answer: Scale | Labels, value: object) -> float | str | Unreadable:
    """Return a value of the scale or a label, or why ``value`` is none."""
    if isinstance(value, list):
        if len(value) != 1:
            return Unreadable(_TWO if value else "an empty list for an answer")
        value = value[0]
    return _label(answer, value) if isinstance(answer, Labels) else _number(answer, value)


def _number(scale: Scale, value: object) -> float | Unreadable:
    if isinstance(value, str):
        return _spoken_number(scale, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Unreadable("an answer that is no number")
    if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        return Unreadable("a number that is not whole")
    if not scale.low <= value <= scale.high:
        return Unreadable(f"a number outside {scale.low} to {scale.high}")
    return float(value)


def _spoken_number(scale: Scale, value: str) -> float | Unreadable:
    plain = value[:200].strip(_AROUND)
    out_of = _OUT_OF.fullmatch(plain)
    if out_of is not None:
        if int(out_of[2]) != scale.high:
            return Unreadable(f"a number out of {out_of[2]}")
        plain = out_of[1].strip(_AROUND)
    if not _WHOLE.fullmatch(plain):
        return Unreadable("an answer that is no whole number")
    return _number(scale, int(float(plain)))


def _label(labels: Labels, value: object) -> str | Unreadable:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if not isinstance(value, str):
        return Unreadable("an answer that is no label")
    plain = value[:200].strip(_AROUND).casefold().replace("_", "-").replace(" ", "-")
    known = {name.casefold().replace("_", "-"): name for name in labels.names}
    for form in (plain, plain.removeprefix("c-"), plain.removeprefix("c-").removesuffix("-handling")):
        if form in known:
            return known[form]
    named = [name for name in known if re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", plain)]
    return Unreadable(_TWO if len(named) > 1 else "a label that the rubric does not have")
