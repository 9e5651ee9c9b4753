"""The demo's stimuli: a small Full-Duplex-Bench tree, made from scripts by embedded voices.

Every time in it is exact, since phrases are put together from speech without silence
around it: a pause is the silence that was put in, a turn ends with its last audible
sample. They are made for trying things out and are no benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import write_json
from fullduplex.making.demo_scripts import Lines, scripts, user_voices
from fullduplex.making.joining import Phrase, at_rate, join, room, times
from fullduplex.model.spans import SECOND, Span, in_seconds, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Voice

RATE = 16_000
#: Before the user's first word, and after the last where the official inputs stop at once.
LEAD, TAIL = ms(500), ms(100)
#: Official: 7 s between context and interruption, 5 s after a turn. The official 15 s after an
#: interruption are 6 s here, to keep the demo short.
GAP, AFTER_TURN, AFTER_INTERRUPTION = seconds(7), seconds(5), seconds(6)
REFERENCE = "demo_backchannel_distribution.json"
_BIN = ms(200)
_ABOUT = """Items made for the demo of fullduplex, by synthetic voices from scripts of its own.
They have the layout of Full-Duplex-Bench v1.0 and are not its data: numbers on them compare with nothing published.
demo_backchannel_distribution.json says where in each story a listener might nod: it was made from
the ends of the phrases, not from people.
"""


@dataclass(frozen=True, slots=True)
class DemoItem:
    """An item as it was made: where it lies, its phrases, and its length in microseconds."""

    dataset: str
    id: str
    folder: Path
    phrases: tuple[Phrase, ...]
    duration: int


def make_demo_items(out: Path, voices: Mapping[str, Voice] | None = None, seed: int = 0) -> list[DemoItem]:
    """Write the demo's tree of items into ``out`` and return what was made.

    ``voices`` are the users' by the names in the scripts. ``seed`` draws the noise of the room.
    The same arguments write the same bytes.
    """
    voices = user_voices() if voices is None else voices
    made = [_make(out, lines, voices[lines.voice], seed) for lines in scripts()]
    reference = {item.id: backchannel_distribution(item) for item in made if item.dataset == "icc_backchannel"}
    write_json(out / REFERENCE, reference)
    (out / "README.txt").write_text(_ABOUT, encoding="utf-8")
    return made


def backchannel_distribution(item: DemoItem) -> list[float]:
    """Return how likely a nod is in each 0.2 s of a story; the sum is 1.

    Made for the demo: a bell of 0.2 s around 0.35 s after each phrase's end.
    """
    centres = (np.arange(max(1, item.duration // _BIN)) + 0.5) * _BIN
    ends = np.asarray([phrase.span.end for phrase in item.phrases]) + ms(350)
    weights = np.exp(-0.5 * ((centres[:, None] - ends) / ms(200)) ** 2).sum(axis=1) + 1e-10
    return [float(w) for w in weights / weights.sum()]


def _make(out: Path, lines: Lines, voice: Voice, seed: int) -> DemoItem:
    folder = out / lines.dataset / lines.id
    folder.mkdir(parents=True, exist_ok=True)
    spoken = [at_rate(voice.speak(text), RATE) for text in lines.phrases]
    gaps = [seconds(pause) for pause in lines.pauses]
    after = TAIL
    if lines.dataset == "candor_turn_taking":
        after = AFTER_TURN
    if lines.interrupt:
        spoken.append(at_rate(voice.speak(lines.interrupt), RATE))
        gaps, after = [*gaps, GAP], AFTER_INTERRUPTION
    # Official interruptions begin with the context; elsewhere a moment passes first.
    lead = 0 if lines.interrupt else LEAD
    texts = [*lines.phrases, *filter(None, [lines.interrupt])]
    phrases, samples = join(texts, spoken, gaps, lead, after, RATE)
    samples = samples + room(len(samples), seed, f"{lines.dataset}/{lines.id}")
    item = DemoItem(lines.dataset, lines.id, folder, phrases, len(samples) * SECOND // RATE)
    audio.write(folder / "input.wav", samples, RATE)
    if lines.interrupt:
        audio.write(folder / "context.wav", spoken[0].samples, RATE)
        audio.write(folder / "interrupt.wav", spoken[-1].samples, RATE)
    _write_events(item, lines)
    _write_words(item, voice)
    return item


def _write_events(item: DemoItem, lines: Lines) -> None:
    phrases = item.phrases
    if item.dataset.endswith("pause_handling"):
        gaps = [Span(a.span.end, b.span.start) for a, b in pairwise(phrases)]
        write_json(item.folder / "pause.json", [{"text": "[PAUSE]", "timestamp": times(gap)} for gap in gaps])
    elif item.dataset == "candor_turn_taking":
        # The second time is the other speaker's start; there is none, so it is the turn's end too.
        end = in_seconds(phrases[-1].span.end)
        write_json(item.folder / "turn_taking.json", [{"text": "[TURN-TAKING]", "timestamp": [end, end]}])
    elif lines.interrupt:
        at = times(phrases[-1].span)
        event = {"context": " ".join(lines.phrases), "interrupt": lines.interrupt, "timestamp": at}
        write_json(item.folder / "interrupt.json", [event])


def _write_words(item: DemoItem, voice: Voice) -> None:
    """Write transcription.json, and input.json where the voice places its words; phrases stand in where it does not."""
    words = [word for phrase in item.phrases for word in phrase.words or ()]
    placed = all(phrase.words for phrase in item.phrases)
    units = words if placed else [Word(phrase.text, phrase.span) for phrase in item.phrases]
    told: list[dict[str, Any]] = [{"text": unit.text, "timestamp": times(unit.span)} for unit in units]
    write_json(item.folder / "transcription.json", [{"speaker": 0, "item": told}])
    if placed:
        write_json(item.folder / "input.json", {"text": " ".join(word.text for word in words), "chunks": told})
    phrases = [{"text": phrase.text, "timestamp": times(phrase.span)} for phrase in item.phrases]
    about = {
        "made_for": "demo",
        "voice": voice.spec.to_json(),
        "words": "word" if placed else "phrase",
        "phrases": phrases,
    }
    write_json(item.folder / "script.json", about)
