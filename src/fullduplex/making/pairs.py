"""A language model writes what users say: a question, and what interrupts its answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data.files import replacing
from fullduplex.errors import InputError, PluginError, printable
from fullduplex.making.script_file import INTERRUPTIONS, as_script
from fullduplex.providers.language_models import LanguageModel, Message

#: A question or an interruption has at least and at most so many words.
FEWEST, MOST = 3, 25
#: How often one pair is asked for before it is given up.
TRIES = 4
_TOPICS = (
    "cooking for friends", "a train journey", "a sick pet", "repairing a bicycle", "the weather", "the night sky",
    "a birthday present", "moving house", "a garden", "a visit to the doctor", "buying a coat", "learning a language",
    "sleeping badly", "a school project", "a loud neighbour", "making music", "an old photograph", "a museum",
    "saving money", "a camping trip", "a difficult letter", "keeping fit", "the history of a town", "a lost suitcase",
    "growing vegetables", "a job interview", "a wedding", "wild animals", "baking bread", "the sea", "a new kitchen",
)  # fmt: skip
_WAYS = (
    "asks about a detail of the answer",
    "corrects what they had asked for",
    "adds a fact that changes the answer",
    "wants to know something related instead",
)
_SYSTEM = "You write what people say aloud to a voice assistant: one short sentence, and nothing else."
# Examples, since a small model understands those better than instructions.
_ASKS = (
    ("Somebody asks about snails.", "How do I keep snails away from my salad?"),
    ("Somebody asks about trains to the coast.", "When is the last train to the coast tonight?"),
    ("Somebody asks about an old radio.", "Could you help me find out what my grandfather's radio is worth?"),
)
_INTERRUPTS = (
    ("How do I keep snails away from my salad?", _WAYS[0], "Wait, does that also work when it rains?"),
    ("When is the last train to the coast tonight?", _WAYS[1], "Sorry, I meant tomorrow night."),
    (
        "Could you help me find out what my grandfather's radio is worth?",
        _WAYS[2],
        "It has a crack on one side, by the way.",
    ),
)
_LABEL = re.compile(r"^[\W\d_]*(question|interruption|user|answer|assistant)[\W_]*:\s*", re.IGNORECASE)
_ABOUT_ITSELF = re.compile(
    r"\b(interruption|voice assistant|as an ai|language model|topic|placeholder)\b"
    r"|\b(can i (help|do for) you|assist you)\b|[<>{}\[\]*#|]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Written:
    """The dialogues that could be used, how many pairs were tried, and how many were dropped for what."""

    dialogues: tuple[dict[str, Any], ...]
    asked: int
    dropped: Mapping[str, int]


def write_pairs(model: LanguageModel, n: int, seed: int = 0) -> Written:
    """Return ``n`` dialogues with a context and an interruption that ``model`` wrote, or as many as were usable.

    ``seed`` draws the topics and the ways to interrupt. A reply that is not whole, of ``FEWEST`` to ``MOST``
    words, or repeats an earlier one, is dropped, counted, and asked for again, ``TRIES``
    times in all. Raises :class:`PluginError` where the model cannot be reached, or wrote nothing usable.
    """
    if n < 1:
        raise InputError("--write", found=n, expected="1 or more")
    random = np.random.default_rng(seed)
    dialogues, known, dropped, asked = list[dict[str, Any]](), set[str](), Counter[str](), 0
    for _ in range(n):
        for _ in range(TRIES):
            topic, way = _TOPICS[random.integers(len(_TOPICS))], _WAYS[random.integers(len(_WAYS))]
            asked += 1
            try:
                context = _usable(model, _question(topic), known)
                interrupt = _usable(model, _interruption(context, way), known | {_plain(context)})
            except _Unusable as why:
                dropped[str(why)] += 1
                continue
            known |= {_plain(context), _plain(interrupt)}
            place = {"dataset": INTERRUPTIONS, "id": str(len(dialogues))}
            dialogues.append({**place, "context": context, "interrupt": interrupt})
            break
    if not dialogues:
        reasons = ", ".join(f"{why}: {count}" for why, count in dropped.most_common())
        raise PluginError(f"{printable(str(model.spec), 120)} wrote no usable pair in {asked} tries ({reasons})")
    return Written(tuple(dialogues), asked, dict(sorted(dropped.items())))


def write_script(path: Path, written: Written) -> None:
    """Write dialogues as a script file, whole or not at all."""
    with replacing(path) as part:
        part.write_text(as_script(list(written.dialogues)), encoding="utf-8")


class _Unusable(Exception):
    """A reply that nobody would say: why, in a few words."""


def _question(topic: str) -> list[Message]:
    return _shown(_ASKS, f"Somebody asks about {topic}.")


def _interruption(context: str, way: str) -> list[Message]:
    shown = [(_told(asked, how), said) for asked, how, said in _INTERRUPTS]
    return _shown(shown, _told(context, way))


def _told(context: str, way: str) -> str:
    return f"Somebody asked: {context} While they listen to the answer, the person {way}."


def _shown(examples: Sequence[tuple[str, str]], told: str) -> list[Message]:
    messages = [Message("system", _SYSTEM)]
    for asked, said in examples:
        messages += [Message("user", asked), Message("assistant", said)]
    return [*messages, Message("user", told)]


def _usable(model: LanguageModel, messages: Sequence[Message], known: Set[str]) -> str:
    said = said_in("".join(model.reply(messages, limit=60)))
    if _plain(said) in known or any(said == message.text for message in messages):
        raise _Unusable("said before")
    return said


def said_in(reply: str) -> str:
    """Return the one sentence or two of a model's reply that a person could say.

    Raises an exception whose text is why there is none: empty, too short or too long, not whole, or about itself.
    """
    line = next((line.strip() for line in reply.splitlines() if line.strip()), "")
    text = " ".join(_LABEL.sub("", line).strip(' "“”*').split())
    if not text:
        raise _Unusable("nothing said")
    if not FEWEST <= len(text.split()) <= MOST:
        raise _Unusable("too short or too long")
    if not text.isprintable() or _ABOUT_ITSELF.search(text):
        raise _Unusable("not what a person says")
    if text[-1] not in ".?!":
        raise _Unusable("not a whole sentence")
    return text


def _plain(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
