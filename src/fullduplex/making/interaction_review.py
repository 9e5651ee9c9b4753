"""Made items are heard by a recogniser: a proxy of an ear, which finds what a person should listen to.

It finds each trigger word within a quarter of a second of where the item says that it ends, most of the words of
each cue, and speech whose speed and level are a person's. What fails may be the voice's fault or the recogniser's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.interactions import read_interaction
from fullduplex.driving.wording import units, word_errors
from fullduplex.making.effects.sound import speech_level
from fullduplex.making.interaction_items import InteractionPlan
from fullduplex.making.make_item import recogniser_of
from fullduplex.making.processed import LOUDER, SOFTER
from fullduplex.making.synthesis import Each, Progress, here
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token
from fullduplex.providers.voices import LEVEL

REVIEW = "interactions-review.json"
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {
    **{str(13 + n): (word,) for n, word in enumerate(_TEENS)},
    **{str(10 * n): (word,) for n, word in enumerate(_TENS, 2)},
    **{str(10 * n + m): (ten, one) for n, ten in enumerate(_TENS, 2) for m, one in enumerate(_ONES, 1)},
}
#: A trigger word is where it should be if it is heard to end no further from there than this, in seconds.
NEAR = 0.25
#: Two spellings are one word at this likeness of their letters (0 to 1) and above.
ALIKE = 0.7
#: A cue is understood whose word errors are no more than this share of its words.
MISHEARD = 0.4
#: Speech of at least so many words has so many words a second, pauses left out, both edges included.
ENOUGH, SLOWEST, FASTEST = 4, 1.2, 5.5
#: The level of speech lies this close to what it should be, in dB; a shout may not have reached its own.
CLOSE = 4.0


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """One item to hear."""

    folder: Path
    name: str
    language: str
    recogniser: Spec
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a cue: ``trigger``, ``words``, ``speed``, ``level``; and how."""

    item: str
    cue: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An item that was heard. ``off``: how far each trigger word that was found is from its place, in seconds."""

    name: str
    cues: int
    triggers: int
    off: tuple[float, ...]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """What was heard of a set of items, and what could not be, with the reason."""

    items: tuple[Reviewed, ...]
    failed: tuple[tuple[str, str], ...]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return every fault, in the order of the items."""
        return tuple(fault for one in self.items for fault in one.faults)

    def to_json(self) -> dict[str, Any]:
        """Return what was heard as JSON; medians and greatest distances are over the triggers that were found."""
        off = sorted(abs(far) for one in self.items for far in one.off)
        return {
            "items": len(self.items),
            "cues": sum(one.cues for one in self.items),
            "triggers": sum(one.triggers for one in self.items),
            "triggers_found": len(off),
            "off": {"median": round(float(np.median(off)), 3), "most": round(off[-1], 3)} if off else None,
            "faults": [asdict(fault) for fault in self.faults],
            "failed": dict(self.failed),
        }


def review(
    plan: InteractionPlan,
    out: Path,
    recogniser: Spec,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    each: Each | None = None,
) -> Review:
    """Hear the items of ``plan`` that are there, and write what was heard to ``OUT/interactions-review.json``."""
    tasks = [
        ReviewTask(task.folder, f"{task.item.dataset}/{task.item.id}", task.language, recogniser, cache)
        for task in plan.tasks
        if (task.folder / INTERACTION).is_file()
    ]
    heard_by = recogniser_of(recogniser, cache).spec
    return heard_all(tasks, hear_item, heard_by, out / REVIEW, progress=progress, each=each)


def heard_all(
    tasks: Sequence[ReviewTask],
    hear: Callable[[ReviewTask], Reviewed],
    recogniser: Spec,
    path: Path,
    *,
    progress: Progress | None = None,
    each: Each | None = None,
) -> Review:
    """Have ``recogniser`` ``hear`` each item, write what was heard to ``path``, and return it."""
    items, failed = dict[str, Reviewed](), list[tuple[str, str]]()
    for done, outcome in enumerate((each or here)(hear, tasks), 1):
        if outcome.error is None:
            items[outcome.task.name] = outcome.result
        else:
            failed.append((outcome.task.name, outcome.error))
        if progress:
            progress("hear", done, len(tasks))
    found = Review(tuple(items[task.name] for task in tasks if task.name in items), tuple(failed))
    write_json(path, {"schema": 1, "recogniser": recogniser.to_json(), **found.to_json()})
    return found


def hear_item(task: ReviewTask) -> Reviewed:
    """Hear one item; raises :class:`InputError` where its files cannot be read."""
    told = read_interaction(task.folder / INTERACTION)
    script = read_json(task.folder / "script.json")
    recogniser = recogniser_of(task.recogniser, task.cache)
    faults, off, triggers = list[Fault](), list[float](), 0
    for cue in script["cues"]:
        samples, rate = audio.read(task.folder / f"{cue['id']}.wav")
        tokens = recogniser.recognise(samples, rate, task.language).tokens
        words = [unit for phrase in cue["phrases"] for unit in spelt(phrase["text"])]
        found = list(_sound(cue, words, samples, rate))
        for one in told["expects"]:
            # A backchannel is a hum, which recognisers write as they like.
            if one["cue"] == cue["id"] and cue["id"][0] == "u":
                triggers += 1
                far = distance(one["word"], one["end"], tokens)
                if far is None or abs(far) > NEAR:
                    how = "not heard" if far is None else f"heard {far:+.2f} s from its place"
                    found.append(("trigger", f"{one['word']!r}, at {one['end']:.2f} s: {how}"))
                else:
                    off.append(far)
        if cue["id"][0] == "u" and not understood(words, tokens):
            found.append(("words", "heard: " + " ".join(token.text for token in tokens)[:160]))
        faults += [Fault(task.name, cue["id"], kind, how) for kind, how in found]
    return Reviewed(task.name, len(script["cues"]), triggers, tuple(off), tuple(faults))


def distance(word: str, end: float, tokens: Sequence[Token]) -> float | None:
    """Return how much later than ``end`` (seconds) the nearest word like ``word`` was heard to end, None for none."""
    wanted = "".join(units(word))

    def like(text: str) -> bool:
        # A recogniser may write "twenty two" as one number, whose end is its last word's.
        return any(_alike(wanted, heard) >= ALIKE for heard in ("".join(units(text)), *spelt(text)[-1:]))

    ends = [token.end - end for token in tokens if token.end is not None and like(token.text)]
    return min(ends, key=abs, default=None)


def spelt(text: str) -> tuple[str, ...]:
    """Return the units of ``text`` with numbers below 100 as they are said: "22" as "twenty", "two"."""
    return tuple(word for unit in units(text) for word in _NUMBERS.get(unit, (unit,)))


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def understood(words: Sequence[str], tokens: Sequence[Token]) -> bool:
    """Tell whether most of what was said was heard; less than ``ENOUGH`` words are too few to tell."""
    heard = spelt(" ".join(token.text for token in tokens))
    return len(words) < ENOUGH or word_errors(heard, words) <= MISHEARD * len(words)


def _sound(cue: dict[str, Any], words: Sequence[str], samples: Any, rate: int) -> list[tuple[str, str]]:
    """Return what is wrong with how a cue sounds, as kinds with what was found."""
    found = []
    speaking = sum(end - start for start, end in (phrase["timestamp"] for phrase in cue["phrases"]))
    speed = len(words) / speaking
    if len(words) >= ENOUGH and not SLOWEST <= speed <= FASTEST:
        found.append(("speed", f"{speed:.1f} words a second"))
    level = 20 * float(np.log10(speech_level(samples, rate)))
    styles = {phrase.get("processed", "") for phrase in cue["phrases"]}
    lowest = LEVEL - (SOFTER if "whispered" in styles else 0) - CLOSE
    highest = LEVEL + (LOUDER if "shouted" in styles else 0) + CLOSE
    if not lowest <= level <= highest:
        found.append(("level", f"{level:.1f} dB of full scale"))
    return found
