"""Made action items are heard by a recogniser: a proxy of an ear, which finds what a person should listen to.

It finds the word that each mark hangs on within a quarter of a second of where the item says that it ends, most of the
words of each cue, pauses in which nothing sounds and no others, and speech whose speed and level are as they were
meant. A voice in the background is under the user's, where a recogniser does not hear it: its level is told as it was
made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.files import read_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.interactions import read_interaction
from fullduplex.making.acting.breath import silences
from fullduplex.making.acting.items import ActionPlan
from fullduplex.making.acting.markup import SHORTEST_PAUSE
from fullduplex.making.effects.sound import speech_level
from fullduplex.making.interaction_review import (
    CLOSE,
    ENOUGH,
    FASTEST,
    NEAR,
    SLOWEST,
    Fault,
    Review,
    Reviewed,
    ReviewTask,
    distance,
    heard_all,
    spelt,
    understood,
)
from fullduplex.making.make_item import recogniser_of
from fullduplex.making.synthesis import Each, Progress
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec
from fullduplex.providers.voices import AUDIBLE, LEVEL

REVIEW = "actions-review.json"
#: A silence may be longer than the longest by so much: an aside is softer, and less of it is audible at its edges.
SLACK = ms(100)


def review(
    plan: ActionPlan,
    out: Path,
    recogniser: Spec,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    each: Each | None = None,
) -> Review:
    """Hear the items of ``plan`` that are there, and write what was heard to ``OUT/actions-review.json``.

    Its triggers are the words that marks hang on.
    """
    tasks = [
        ReviewTask(task.folder, task.name, task.language, recogniser, cache)
        for task in plan.tasks
        if (task.folder / INTERACTION).is_file()
    ]
    heard_by = recogniser_of(recogniser, cache).spec
    return heard_all(tasks, hear_item, heard_by, out / REVIEW, progress=progress, each=each)


def hear_item(task: ReviewTask) -> Reviewed:
    """Hear one item; raises :class:`InputError` where its files cannot be read."""
    told = read_interaction(task.folder / INTERACTION)
    script = read_json(task.folder / "script.json")
    recogniser = recogniser_of(task.recogniser, task.cache)
    faults, off, hung = list[Fault](), list[float](), 0
    for cue in script["cues"]:
        samples, rate = audio.read(task.folder / f"{cue['id']}.wav")
        tokens = recogniser.recognise(samples, rate, task.language).tokens
        words = [unit for phrase in _in_order(cue) for unit in spelt(phrase["text"])]
        found = [*_sound(cue, samples, rate), *_silences(told, cue["id"], samples, rate)]
        for word, end in _hung(told, cue):
            hung += 1
            far = distance(word, end, tokens)
            if far is None or abs(far) > NEAR:
                how = "not heard" if far is None else f"heard {far:+.2f} s from its place"
                found.append(("word", f"{word!r}, at {end:.2f} s: {how}"))
            else:
                off.append(far)
        if not understood(words, tokens):
            found.append(("words", "heard: " + " ".join(token.text for token in tokens)[:160]))
        faults += [Fault(task.name, cue["id"], kind, how) for kind, how in found]
    return Reviewed(task.name, len(script["cues"]), hung, tuple(off), tuple(faults))


def _in_order(cue: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the foremost voice of a cue says, in its order: the user's, and where there is none, who is heard."""
    front = [phrase for phrase in cue["phrases"] if phrase["who"] != "background"] or cue["phrases"]
    return sorted(front, key=lambda phrase: float(phrase["timestamp"][0]))


def _hung(told: Mapping[str, Any], cue: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the words that the marks of a cue hang on, each with its end in seconds."""
    words = [(word["text"], *word["timestamp"], phrase["who"]) for phrase in cue["phrases"] for word in phrase["words"]]
    away = any(phrase["who"] == "aside" for phrase in cue["phrases"])
    for mark in (mark for mark in told["marks"] if mark["cue"] == cue["id"]):
        aside = mark["kind"] == "ignored" and away
        at = mark["end"] if mark["kind"] == "target" or aside else mark["start"]
        own = [one for one in words if one[3] == ("aside" if aside else "user") and one[1] < at - 0.001]
        if own:
            yield max(own, key=lambda one: one[1])[0], at


def _silences(told: Mapping[str, Any], cue: str, samples: NDArray[np.float32], rate: int) -> Iterator[tuple[str, str]]:
    asked = [(pause["start"], pause["end"]) for pause in told["pauses"] if pause["cue"] == cue]
    for start, end in asked:
        inside = samples[round(start * rate) : round(end * rate)]
        if float(np.abs(inside).max(initial=0.0)) > 10 ** (AUDIBLE / 20):
            yield "pause", f"something sounds between {start:.2f} and {end:.2f} s"
    for first, last in silences(samples, rate, longer_than=SHORTEST_PAUSE + SLACK):
        if not any(first / rate < end and start < last / rate for start, end in asked):
            yield "pause", f"silence that nobody asked for, from {first / rate:.2f} to {last / rate:.2f} s"


def _sound(cue: Mapping[str, Any], samples: NDArray[np.float32], rate: int) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with how a cue sounds, as kinds with what was found."""
    for who in dict.fromkeys(phrase["who"] for phrase in cue["phrases"]):
        own = [phrase for phrase in cue["phrases"] if phrase["who"] == who]
        count = sum(len(spelt(phrase["text"])) for phrase in own)
        speed = count / sum(end - start for start, end in (phrase["timestamp"] for phrase in own))
        if count >= ENOUGH and not SLOWEST <= speed <= FASTEST:
            yield "speed", f"{who}: {speed:.1f} words a second"
    for phrase in (phrase for phrase in cue["phrases"] if "level" in phrase):
        if abs(phrase["level"]["heard_db"] - phrase["level"]["asked_db"]) > CLOSE:
            yield "level", f"{phrase['who']} at {phrase['level']['heard_db']:.1f} dB from the user's speech"
    # Without a word of the user's, a cue is as loud as who is heard.
    alone = all("level" in phrase for phrase in cue["phrases"])
    meant = LEVEL + (cue["phrases"][0]["level"]["asked_db"] if alone else 0.0)
    level = 20 * float(np.log10(speech_level(samples, rate)))
    if abs(level - meant) > CLOSE:
        yield "level", f"{level:.1f} dB of full scale"
