"""How long each stage of the built-in cascade takes here.

``taskset -c 0 python bench/cascade_speed.py [LANGUAGE] [option=value ...]``

First each part by itself, on one core, best and median of several: what the defaults of ``declared_*`` come from.
Then a talk of three turns on the step-honest clock, in which work takes as long as it really took,
with each turn's latency by stage, what was recognised and said, and what another recogniser heard of it.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from fullduplex.data.audio import resample
from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import after_reply, at
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.user import Turn
from fullduplex.errors import FullDuplexError
from fullduplex.listening.recognisers.whisper import Whisper
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.providers import weights
from fullduplex.providers.language_models import Message
from fullduplex.providers.turn_detectors.smart_turn import SmartTurn
from fullduplex.providers.voices.hibari import Hibari
from fullduplex.providers.voices.pico import Pico
from fullduplex.systems.build import build
from fullduplex.systems.cascade import Cascade
from fullduplex.systems.cascade.ears import Windows, network
from fullduplex.systems.cascade.parts import PROMPTS

ROUNDS = 5
ASKED = {
    "en": (
        "Could you recommend a good book?",
        "I would like something about the sea, because I am going on holiday, and I have a lot of time to read.",
        "Thank you, that is all for today.",
    ),
    "fr": (
        "Bonjour, je voudrais réserver une table pour ce soir.",
        "Nous serons quatre personnes, et nous aimerions une table près de la fenêtre.",
        "Merci beaucoup, à ce soir.",
    ),
}


def took(work: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return sorted(times[1:])


def line_through(points: list[tuple[float, float]]) -> tuple[float, float]:
    x, y = np.array(points).T
    slope, constant = np.polyfit(x, y, 1)
    return float(slope), float(constant)


def line(name: str, times: list[float], more: str = "") -> None:
    print(f"{name:<34}{times[0]:9.4f}{median(times):9.4f}  {more}")


def parts(cascade: Cascade, user: list[Any]) -> None:
    made, cache = cascade.parts, weights.default_cache(os.environ)
    print(f"{'seconds':<34}{'best':>9}{'median':>9}")
    ears, second = Windows(network(cache)), user[0][:16_000]
    line("voice activity, a window", [t / 31 for t in took(lambda: ears.hear(second))])
    line("smart-turn", took(lambda: SmartTurn(cache=cache).finished(user[1]), 3), "with loading")
    detector = made.turns or SmartTurn(cache=cache)
    line("turn detector", took(lambda: detector.finished(user[1])))
    points = []
    for sound in user:
        times = took(partial(made.recogniser.recognise, sound, 16_000, cascade.language))
        points.append((len(sound) / 16_000, times[0]))
        line(f"recogniser, {points[-1][0]:.1f} s", times)
    slope, constant = line_through(points)
    print(f"  recogniser: {constant:.3f} s and {slope:.3f} s for each second of audio")
    talk = [Message("system", PROMPTS[cascade.language]), Message("user", ASKED[cascade.language][0])]
    firsts, nexts = [], []
    for _ in range(ROUNDS):
        began, at_, count = time.perf_counter(), 0.0, 0
        for _ in made.model.reply(talk, limit=40):
            count += 1
            at_ = at_ or time.perf_counter() - began
        firsts.append(at_)
        nexts.append((time.perf_counter() - began - at_) / max(1, count - 1))
    line("language model, first token", sorted(firsts))
    longer = [talk[0], *[Message("user", ASKED[cascade.language][1])] * 5, talk[1]]
    line("the same, after a longer talk", took(lambda: next(made.model.reply(longer, limit=1)), 2))
    reads = [sum(len(message.text) for message in messages) for messages in (talk, longer)]
    print(f"  of {reads[0]} and {reads[1]} characters")
    line("language model, each other one", sorted(nexts))
    points = []
    for text in ("Yes, of course.", "I would be happy to help you with that today.", ASKED["en"][1]):
        spoken = made.voice.speak(text)
        times = took(partial(made.voice.speak, text))
        points.append((len(text), times[0]))
        line(f"voice, {len(text)} characters", times, f"{spoken.duration / 1e6 / times[0]:.0f} times real time")
    slope, constant = line_through(points)
    print(f"  voice: {constant:.3f} s and {slope:.5f} s for each character")


def talk(cascade: Cascade, user: list[Any]) -> None:
    turns = [
        Turn(sound, at(seconds(0.5)) if i == 0 else after_reply(seconds(0.6), seconds(20)))
        for i, sound in enumerate(user)
    ]
    began = time.perf_counter()
    held = run_on("step-honest", drive(cascade, turns, length=seconds(60)))
    print(f"\na talk of 60 s took {time.perf_counter() - began:.1f} s; ready after {held.handshake / 1e6:.1f} s")
    for note in held.notes:
        if isinstance(note, Said):
            print(f"{note.arrived / 1e6:7.2f}  {note.who}: {note.text}")
        elif isinstance(note, Note) and note.kind == "stage":
            told = {name: round(value, 3) for name, value in note.data.items() if isinstance(value, float)}
            print(f"         {told}")
    heard = Whisper("base", align=False, cache=weights.default_cache(os.environ)).recognise(
        held.system, held.rate, cascade.language
    )
    print("heard by whisper base:", " ".join(token.text for token in heard.tokens))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def main() -> None:
    language, *options = sys.argv[1:] or ["en"]
    spec = Spec.parse(f"cascade:{','.join([f'language={language}', *options])}")
    try:
        cascade = build(spec, weights.default_cache(os.environ))
        assert isinstance(cascade, Cascade)
        voice = Pico("fr-FR") if language == "fr" else Hibari(pitch=0.9)
        spoken = [voice.speak(text) for text in ASKED[language]]
        user = [resample(said.samples, said.rate, 16_000) for said in spoken]
        parts(cascade, user)
        talk(cascade, user)
    except FullDuplexError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
