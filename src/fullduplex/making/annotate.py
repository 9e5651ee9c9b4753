"""A language model reads a bare exchange and says what it is: its category, the word that triggers, the target.

It is asked about the script alone, before any system has spoken; action, window and overlap come from the category by
the fixed table. What it says is written into the script, marked, for a person to read and correct.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, read_json, write_json
from fullduplex.driving.wording import contains
from fullduplex.errors import InputError, printable
from fullduplex.making.interaction_policy import POLICY
from fullduplex.making.interaction_script import Anchor, Line, anchor_of, lines_of, raw_items, script_files
from fullduplex.providers.language_models import LanguageModel, Message

#: How often one item is asked about before it is left bare.
TRIES = 3
#: The longest answer, in tokens.
LIMIT = 200
#: What a fault in an answer is said to be in: no name of this machine is told to a model.
_REPLY = "the answer"
#: What each category is, for the model. Counting in turns has several trigger words, and long conversations
#: have probes: these are written by people.
CATEGORIES: Mapping[str, str] = {
    "backchannel": "the user tells something long that invites a listener's mm-hm; no trigger word",
    "pause": "the user pauses in mid-sentence; the trigger word is the last before the pause",
    "turn_taking": "a plain question or request; the trigger word is its last",
    "user_backchannel": "a question that calls for a long answer; no trigger word",
    "interruption": "the user's second line interrupts the answer to the first; the trigger word is the last of all",
    "logic": "a puzzle with one right answer; the trigger word is the question's last",
    "countdown": "the user begins a regular sequence to be completed; the trigger word is the last member said",
    "grammar": "a learner wants mistakes corrected at once; the trigger word is the mistake",
    "keyword_wait": "the user wants something said as soon as a certain thing is named; the trigger word names it",
    "stay_quiet": "the user thinks aloud and asks at the end; the trigger word is the question's last",
    "whisper": "the user asks for a whispered answer; the trigger word is the last",
    "volume": "the user speaks very softly or very loudly; the trigger word is the last",
    "wrong_word_correction": "a wrong word is to be corrected at once; the trigger word is that word",
    "forbidden_phrase_interruption": "a phrase that was forbidden is said; the trigger word is its last",
    "deliberate_overlap": "the system is asked to talk over the user from a certain word on",
    "predictive_number_continuation": "a number is to be gone on with; the trigger word is the last",
    "phrase_completion": "a phrase is to be completed; the trigger word is the last",
    "other": "none of these; the trigger word is the one that the reply reacts to",
}
_SYSTEM = (
    "You annotate a short scripted exchange between a user (A) and an assistant (B). Answer with one JSON object, "
    '{"category": "...", "anchor": {"line": N, "word": "...", "occurrence": 1} or null, "target": "..."}, no more. '
    "The anchor is the one word of a line of A's that B's reply reacts to, as it stands there; line is that line's "
    "number, occurrence says which one where the word comes more than once. The target is copied from B's line: the "
    "shortest part of it that a right reply has to say."
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a model said of an exchange; no ``anchor`` in categories that have none."""

    category: str
    anchor: Anchor | None
    target: str

    def to_json(self) -> dict[str, Any]:
        """Return it as a script has it."""
        word = self.anchor
        return {
            "category": self.category,
            "anchor": word and {"line": word.line, "word": word.word, "occurrence": word.occurrence},
            "target": self.target,
        }


@dataclass(frozen=True, slots=True)
class Annotated:
    """Which items were annotated, which could not be, with the reason, and how many had been annotated already."""

    done: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    kept: int


def annotate(path: Path, model: LanguageModel, *, told: Callable[[str, str], None] | None = None) -> Annotated:
    """Annotate the bare items of a script, or of a folder of them, in place, and return which.

    An item is bare that has no category, or no anchor where its category needs one. Each is asked about up to
    ``TRIES`` times, and written as soon as it is answered, with ``annotated_by``; one that cannot be
    annotated stays as it is, and what a person had written stays in any case. ``told`` is called with each item's
    name and what is wrong, if anything. Raises :class:`InputError` on a script that cannot be read, and
    :class:`PluginError` where the model cannot be reached: what was annotated before stays.
    """
    done, failed, kept = list[str](), list[tuple[str, str]](), 0
    # All scripts are checked whole before the first question is paid for.
    files = {file: list(raw_items(file)) for file in script_files(path)}
    exchanges = {file: [lines_of(item, file, where) for where, item, _ in rows] for file, rows in files.items()}
    for file, rows in files.items():
        script = read_json(file)
        for n, (where, item, scenario) in enumerate(rows):
            name = f"{file.name}, {item.get('id') or where}"
            if not is_bare(item):
                kept += 1
                continue
            found = ask(model, exchanges[file][n], allowed(item, scenario))
            if isinstance(found, str):
                failed.append((name, found))
            else:
                new = {key: value for key, value in found.to_json().items() if not item.get(key)}
                script["items"][n] = {**item, **new, "annotated_by": str(model.spec)}
                write_json(file, script)
                done.append(name)
            if told:
                told(name, found if isinstance(found, str) else "")
    return Annotated(tuple(done), tuple(failed), kept)


def is_bare(item: Mapping[str, Any]) -> bool:
    """Tell whether an item as it stands in a file waits to be annotated."""
    category = item.get("category")
    if not category:
        return True
    known = POLICY.get(category) if isinstance(category, str) else None
    return known is not None and known.anchored and not (item.get("anchor") or item.get("anchors"))


def allowed(item: Mapping[str, Any], scenario: str) -> tuple[str, ...]:
    """Return the categories that an item can have: its own, or those that fit its scenario, or all."""
    known = str(item.get("category") or item.get("scenario") or scenario)
    if not known:
        return tuple(CATEGORIES)
    return (known,) if known in CATEGORIES else ()


def ask(model: LanguageModel, lines: Sequence[Line], categories: Sequence[str]) -> Annotation | str:
    """Return the annotation of an exchange, or the sentence that says why there is none."""
    if not categories:
        return "what has several trigger words, or probes, is annotated by a person"
    messages = [Message("system", _SYSTEM), Message("user", question(lines, categories))]
    fault = ""
    for _ in range(TRIES):
        reply = "".join(model.reply(messages, limit=LIMIT))
        try:
            return parse_annotation(reply, lines, categories)
        except InputError as error:
            fault = str(error)
            messages = [*messages[:2], Message("assistant", printable(reply, 1_000)), Message("user", f"No: {fault}.")]
    return f"no usable answer in {TRIES} tries; the last: {fault}"


def question(lines: Sequence[Line], categories: Sequence[str]) -> str:
    """Return what the model is asked about an exchange: its numbered lines, and the categories to choose from."""
    choices = "\n".join(f"{name}: {CATEGORIES[name]}" for name in categories)
    exchange = "\n".join(f"{n} {'A' if line.who == 'user' else 'B'}: {line.text}" for n, line in enumerate(lines))
    return f"Categories:\n{choices}\n\nThe exchange:\n{exchange}"


def parse_annotation(reply: str, lines: Sequence[Line], categories: Sequence[str]) -> Annotation:
    """Return the annotation in a model's reply: the first JSON object in it.

    Raises :class:`InputError` where there is none, its category is none of ``categories``, its word does not stand
    where it says, or its target is not the assistant's: no answer is the model's own.
    """
    told = _object(reply)
    if told is None:
        raise InputError(_REPLY, found=brief(reply[:60]), expected="one JSON object with category, anchor, target")
    category, target = told.get("category"), told.get("target")
    if category not in categories or not isinstance(category, str):
        expected = f"one of {', '.join(categories)}"
        raise InputError(_REPLY, "category", found=brief(category), expected=expected)
    if not isinstance(target, str) or not target.strip():
        raise InputError(_REPLY, "target", found=brief(target), expected="a text")
    target = " ".join(target.split())
    if not any(line.who == "assistant" and contains(line.text, target) for line in lines):
        expected = "words that stand so in a line of the assistant's"
        raise InputError(_REPLY, "target", found=brief(target), expected=expected)
    if not POLICY[category].anchored:
        return Annotation(category, None, target)
    anchor = anchor_of(told.get("anchor"), lines, target, Path(_REPLY), "anchor")
    return Annotation(category, anchor, target)


def _object(reply: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder()
    for at, character in enumerate(reply):
        if character == "{":
            try:
                found, _ = decoder.raw_decode(reply, at)
            except (ValueError, RecursionError):
                continue
            return found if isinstance(found, dict) else None
    return None
