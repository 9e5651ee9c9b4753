"""Judging as the scripts of Full-Duplex-Bench do it.

Their prompts are read from the user's own checkout, none of their words ship here; their parsers are stated anew.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Literal

from fullduplex.errors import InputError
from fullduplex.judging.rubric import Labels, Read, Rubric, Scale, Unreadable

Reader = Literal["released-rating", "released-behaviour"]
READERS: tuple[Reader, ...] = ("released-rating", "released-behaviour")

#: The four transcripts that the script shows, each the compact JSON of its file, in the script's order.
TRANSCRIPTS: tuple[str, ...] = ("input_clean", "input_noisy", "output_clean", "output_noisy")
RELEASED_LABELS = ("C_RESPOND", "C_RESUME", "C_UNCERTAIN_HANDLING", "C_UNKNOWN")

_BEHAVIOUR_ITEM = (
    "\n        {\n" + ",\n".join(f'            "{name}": {{{name}}}' for name in TRANSCRIPTS) + "\n        }\n        "
)
#: Shown where a bare text has only the system prompt; the script's own lines come along with the script.
_RATING_ITEM = "User's earlier turn: {context}\nUser's interrupting turn: {interruption}\nReply: {reply}"
#: What the script calls the fields of its message.
_RATING_FIELDS = {
    "in_before_interrupt_text": "context",
    "in_interrupt_text": "interruption",
    "out_after_interrupt_text": "reply",
}


def released(path: Path, text: str, reads: Reader, sha256: str) -> Rubric:
    """Return the rubric that a released prompt is, with the released script's seeds.

    ``released-behaviour``: ``text`` is the system prompt, the fields are :data:`TRANSCRIPTS` (compact JSON), seed 1
    and one more at each retry. ``released-rating``: ``text`` is the system prompt, or the script itself, whose two
    messages are then taken without running it; the fields are ``context``, ``interruption``, ``reply``; seed 0 at
    every retry. Temperature is the provider's default in both. Raises :class:`InputError`.
    """
    if not text.strip():
        raise InputError(path, found="an empty file", expected="the system prompt of a released script")
    if reads == "released-behaviour":
        if path.suffix == ".py":
            raise InputError(path, found="a script", expected="the text file with its prompt, instruction/behavior.txt")
        system, item, fields, verdict = text, _BEHAVIOUR_ITEM, TRANSCRIPTS, "behaviour"
        settings = {"seed": 1.0, "seed_step": 1.0}
    else:
        system, item = _messages(path, text) if path.suffix == ".py" else (text, _RATING_ITEM)
        fields, verdict = tuple(_RATING_FIELDS.values()), "rating"
        settings = {"seed": 0.0, "seed_step": 0.0}
    return Rubric(
        name=reads,
        version=sha256[:12],
        verdict=verdict,
        system=system,
        user=item,
        fields=fields,
        answer=Labels(RELEASED_LABELS) if verdict == "behaviour" else Scale(0, 5),
        key=verdict,
        reads=reads,
        settings=settings,
        origin=f"{path.name}, SHA-256 {sha256[:12]}",
    )


def _messages(path: Path, source: str) -> tuple[str, str]:
    """Return the system prompt and the item template of a script, from its syntax tree."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(path, found="what is no Python", expected="eval_user_interruption.py") from error
    system = item = ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id.lower(), node.value
            if name == "system_msg" and isinstance(value, ast.Constant) and isinstance(value.value, str):
                system = value.value
            elif name == "user_msg" and isinstance(value, ast.JoinedStr):
                item = _template(value)
    missing = [field for field in _RATING_FIELDS.values() if f"{{{field}}}" not in item]
    if not system or missing:
        raise InputError(
            path,
            found="no prompt (system_msg) and message (user_msg) that could be taken",
            expected="eval_user_interruption.py of Full-Duplex-Bench",
            do="or put the prompt alone into a text file",
        )
    return system, item


def _template(text: ast.JoinedStr) -> str:
    parts = []
    for part in text.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
            parts.append("{" + _RATING_FIELDS.get(part.value.id, part.value.id) + "}")
    return "".join(parts)


_SIGN, _PHRASE = "Analysis:", "\nI would rate the AI's response as "
_DIGITS = re.compile(r"\d+")
#: Beginnings of objects that are tried, and the longest reply that is searched.
_OPENINGS, _LONGEST = 400, 1_000_000
#: What stands between the labels of a verdict that has several.
SEVERAL = ","


def read_rating(text: str) -> Read | Unreadable:
    """Return the number that the released interruption script takes.

    ``Analysis:``, anything, then a line that begins ``I would rate the AI's response as`` and digits; the last match
    counts. So 4.5 is 4, 10 is 10, and a blank line between does not matter; bold, brackets, a typographic
    apostrophe, or no ``Analysis:`` before are no match, and the script asks again. Departs: a number of 300 digits
    or more, which no mean survives, is unreadable.
    """
    text += "\n"  # as the script does
    found: tuple[str, str] | None = None
    at = 0
    while (sign := text.find(_SIGN, at)) >= 0:
        start = sign + len(_SIGN)
        words = start
        while words < len(text) and text[words].isspace():
            words += 1
        # White space after the sign is skipped first; only if nothing follows may its last line feed begin the line.
        rated = _rated(text, words) or _rated(text, max(start, words - 1))
        if rated is None:
            break
        line, digits = rated
        found = text[start:line].strip(), digits
        at = line + len(_PHRASE) + len(digits)
    if found is None:
        return Unreadable("no line that rates in the released form, after an analysis")
    return Read(float(int(found[1])), found[0]) if len(found[1]) < 300 else Unreadable("a number beyond all scales")


def _rated(text: str, at: int) -> tuple[int, str] | None:
    """Return where the first line that rates begins, at or after ``at``, and its digits."""
    while (line := text.find(_PHRASE, at)) >= 0:
        digits = _DIGITS.match(text, line + len(_PHRASE))
        if digits is not None:
            return line, digits[0]
        at = line + 1
    return None


def read_behaviour(text: str) -> Read | Unreadable:
    """Return what the released behaviour script takes: the list in the first JSON object that has ``behaviour``.

    Objects are sought from the left, and after a whole one behind it. Labels are not checked; several are all counted,
    and stand in the value with commas between (:func:`released_labels`). Departs: a reply of over a million
    characters, or with over 400 beginnings of objects before the answer, is unreadable.
    """
    decoder = json.JSONDecoder()
    position = text.find("{") if len(text) <= _LONGEST else -1
    for _ in range(_OPENINGS):
        if position < 0:
            break
        try:
            thing, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            position = text.find("{", position + 1)
            continue
        except (ValueError, RecursionError):
            break  # the script asks again
        if "behaviour" in thing:
            value = thing["behaviour"]
            return Read(SEVERAL.join(map(str, value)) if isinstance(value, list) else str(value))
        position = text.find("{", end)
    return Unreadable("no JSON object with the key behaviour")


def released_labels(value: float | str) -> tuple[str, ...]:
    """Return the labels that a released behaviour verdict counts, each as often as it stands there."""
    return tuple(label for label in str(value).split(SEVERAL) if label)
