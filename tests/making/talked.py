"""Two people who talk, written as a line each: what harvest finds in them is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Act, Conversation, Side
from fullduplex.model.spans import Span, Timeline, in_seconds, seconds
from fullduplex.model.speech import Word

#: What every word lasts; words follow on one another without a gap.
WORD = seconds(0.25)


@dataclass
class Person:
    """What one says. ``at(2.0, "i think (0.4) so / sd")``: words, a pause in seconds, and the act that ends a unit."""

    name: str
    words: list[Word] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    sounds: list[Span] = field(default_factory=list)
    asides: list[Span] = field(default_factory=list)

    def at(self, start: float, text: str) -> Person:
        time, first, parts = seconds(start), len(self.words), text.split()
        for n, part in enumerate(parts):
            if part.startswith("("):
                time += seconds(float(part[1:-1]))
            elif part == "/":
                self.acts.append(Act(parts[n + 1], first, len(self.words), f"u-{len(self.acts)}"))
                first = len(self.words)
            elif part == "[laughter]":
                self.sounds.append(Span(time, time + WORD))
                time += WORD
            elif n == 0 or parts[n - 1] != "/":
                self.words.append(Word(part, Span(time, time + WORD)))
                time += WORD
        return self

    def side(self, **about: object) -> Side:
        broken = frozenset(n for n, word in enumerate(self.words) if word.text.endswith("-"))
        known = {"words": tuple(self.words), "words_from": "sketch", "cut_off": broken, "acts": tuple(self.acts)}
        heard = {"sounds": Timeline(self.sounds), "asides": Timeline(self.asides)}
        return Side(self.name, **{**known, **heard, **about})  # type: ignore[arg-type]


def conversation(a: Person, b: Person, name: str = "talk") -> Conversation:
    return Conversation(name, (a.side(), b.side()), "en")


def write_ms98(folder: Path, number: int, a: Person, b: Person, *, sound: bool = False) -> None:
    """Write a conversation as Switchboard's files, with a recording in which each word is a tone, if asked."""
    folder.mkdir(parents=True, exist_ok=True)
    for person in (a, b):
        stem = f"sw{number}{person.name}"
        rows = [f"{stem}-ms98-a-0001 {_s(word.span.start)} {_s(word.span.end)} {word.text}" for word in person.words]
        (folder / f"{stem}-ms98-a-word.text").write_text("\n".join(rows) + "\n")
        lines = [
            f"{stem}-ms98-a-0001,{_s(word.span.start)},{_s(word.span.end)},{word.text},I,{act.tag},{act.unit}"
            for act in person.acts
            for word in person.words[act.first : act.last]
        ]
        (folder / f"{stem}-word-da.csv").write_text("\n".join(lines) + "\n")
    if sound:
        end = max(word.span.end for person in (a, b) for word in person.words) + seconds(1)
        rate = 8_000
        samples = np.zeros((end * rate // 1_000_000, 2), np.float32)
        for channel, person in enumerate((a, b)):
            for n, word in enumerate(person.words):
                first, last = (each * rate // 1_000_000 for each in (word.span.start, word.span.end))
                hz = 200 + 40 * n + 700 * channel + number % 100  # no two talks sound the same
                samples[first:last, channel] = 0.3 * np.sin(2 * np.pi * hz * np.arange(last - first) / rate)
        audio.write(folder / f"sw0{number}.wav", samples, rate)


def _s(time: int) -> str:
    return f"{in_seconds(time):.6f}"


def talkers() -> tuple[Person, Person]:
    """Return a talk with one item of each kind: where each lies is said in the tests that use it."""
    a, b = Person("A"), Person("B")
    a.at(1.0, "we drove up to the lake (0.5) with all of the children / sd")
    b.at(9.0, "that sounds like a nice trip to me / sv")
    a.at(14.0, "i like the small boats there / sd (0.6) my brother has bought one of them / sd")
    b.at(21.0, "how long did you all stay there / qw")
    a.at(26.0, "we stayed for two weeks at the cabin near the big woods / sd")
    b.at(33.0, "did the weather hold all the time / qy")
    a.at(38.0, "it rained on the first day / sd (1.1) and then the sun came out again / sd")
    b.at(39.6, "uh-huh / b")
    b.at(46.0, "where do you go this year you know / qw")
    a.at(47.6, "oh we go to the sea this time / sd")
    return a, b
