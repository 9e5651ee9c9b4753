"""BayLing-Duplex: its project's command line, once for each talk.

The model hears and speaks in blocks. Each of its segments is placed by the block in which it began, never by the wav
file, in which nothing says when it sounds. Read in its source at 41669ac and 437a7d9; *not verified live*: the model
needs a GPU.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data import audio
from fullduplex.data.files import read_json
from fullduplex.driving.link import Ready, Traits
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import SECOND, in_seconds, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.command import left, ran
from fullduplex.systems.offline import Answer, Block, OfflineLink, offline_traits
from fullduplex.systems.projects.home import home_of, python_of, revision_of, weights_of

MODULE = "bayling_duplex.cli"
FILES = ("bayling_duplex/cli.py", "bayling_duplex/duplex.py")
#: What has to be in the folder of weights, each after the option that names it.
_OPTIONS = {
    "model-path": "bayling_duplex_model",
    "speech-tokenizer-path": "speech_tokenizer",
    "decoder-path": "speech_decoder",
}
WEIGHTS = tuple(_OPTIONS.values())
RATE_IN, RATE_OUT = 16_000, 24_000
#: Units of sound of each voice in a second.
UNITS = 12.5
_WHOSE = "bayling-duplex's command line"


@dataclass(frozen=True, slots=True)
class BayLingDuplex:
    """BayLing-Duplex, by its project's command line: ``home`` is the project's folder, ``python`` its Python.

    ``weights``: the folder with ``bayling_duplex_model``, ``speech_tokenizer`` and ``speech_decoder``, by default
    ``models`` in ``home``. ``model`` is the checkpoint that lies there: kept with the run, not verified. ``ratio``: how
    its three channels are interleaved. ``answers``: after how many ends of a segment it stops. ``temperature`` and
    ``top_p`` are left to the project unless given. ``timeout`` in seconds; ``declared`` is what a talk takes on the
    ``step-algorithmic`` clock. It takes no prompt.

    What is said in block n was decided once block n of the user was whole, and sounds from the end of that block on. A
    latency is the algorithm's own, without the time to compute. Raises :class:`InputError` where ``home`` or
    ``weights`` is not what it has to be.
    """

    home: str = ""
    python: str = "python3"
    weights: str = ""
    model: str = "BayLing-Models/BayLing-Duplex"
    ratio: str = "10:5:10"
    answers: int = 100
    temperature: float | None = None
    top_p: float | None = None
    timeout: float = 600.0
    declared: float = 1.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= 86_400 or not self.declared >= 0:
            raise InputError("bayling-duplex", "timeout", found=self.timeout, expected="seconds, at most a day")
        if self.answers < 1:
            raise InputError("bayling-duplex", "answers", found=self.answers, expected="1 or more")
        if self.model != printable(self.model, 200):
            raise InputError("bayling-duplex", "model", found=self.model, expected="the name of a checkpoint")
        self._block()
        python_of("bayling-duplex", self.python)
        self._weights()

    def _folder(self) -> Path:
        return home_of("bayling-duplex", self.home, FILES, "the project BayLing-Models/BayLing-Duplex")

    def _weights(self) -> Path:
        return weights_of("bayling-duplex", "weights", self.weights, self._folder() / "models", WEIGHTS)

    def _block(self) -> int:
        """Return how long a block is, in microseconds."""
        parts = str(self.ratio).split(":")
        if len(parts) != 3 or not all(part.isdecimal() and 0 < int(part) <= 1_000 for part in parts):
            raise InputError("bayling-duplex", "ratio", found=self.ratio, expected="three whole numbers, as 10:5:10")
        if parts[0] != parts[2]:
            raise InputError("bayling-duplex", "ratio", found=self.ratio, expected="the first and the last alike")
        return seconds(int(parts[0]) / UNITS)

    @property
    def spec(self) -> Spec:
        """Return the checkpoint and how it is asked; where it runs changes nothing."""
        options: dict[str, Any] = {"model": self.model, "ratio": self.ratio, "answers": self.answers}
        options |= {name: value for name in ("temperature", "top_p") if (value := getattr(self, name)) is not None}
        options |= {"timeout": self.timeout, "declared": self.declared}
        return Spec("bayling-duplex", options, revision_of(self._folder(), FILES))

    @property
    def traits(self) -> Traits:
        """Return that it hears nothing before the last frame, and that its sound has a place."""
        return offline_traits(RATE_IN, RATE_OUT, "aligned")

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[OfflineLink]:
        """Open a talk; the program starts when the user is done. It takes no prompt, and says so where there is one."""
        settings = {**self.spec.to_json(), "fed": "whole", "model_verified": False, "prompt_taken": not prompt}
        yield OfflineLink(Ready(settings), self.traits, self.answer, lambda _: seconds(self.declared), "aligned")

    def answer(self, heard: Samples) -> Answer:
        """Return what the program makes of the user's samples; raises :class:`ConversationError`."""
        if not len(heard):
            raise ConversationError("bayling-duplex: there was no audio to give to the program")
        block, weights = self._block(), self._weights()
        # Whole blocks, and a hundredth of a second more: what is not a whole block is never heard.
        lasts = in_seconds(math.ceil(len(heard) * SECOND / RATE_IN / block) * block) + 0.01
        with tempfile.TemporaryDirectory(prefix="fullduplex-") as name:
            folder = Path(name)
            audio.write(folder / "input.wav", heard, RATE_IN)
            result, output = folder / "result.json", folder / "response.wav"
            arguments = [
                python_of("bayling-duplex", self.python),
                "-m",
                MODULE,
                *(f"--{option}={weights / name}" for option, name in _OPTIONS.items()),
                f"--input-audio={folder / 'input.wav'}",
                f"--output-json={result}",
                f"--output-audio={output}",
                f"--interleave-ratio={self.ratio}",
                f"--max-duration={lasts:g}",
                f"--max-epad-count={self.answers}",
                "--synthesize=all",
                *([] if self.temperature is None else [f"--temperature={self.temperature:g}"]),
                *([] if self.top_p is None else [f"--top-p={self.top_p:g}"]),
            ]  # fmt: skip
            facts = ran(arguments, folder, self.timeout, whose=_WHOSE, cwd=self._folder())
            samples = left(output, len(heard) / RATE_IN, RATE_OUT, _WHOSE, "response.wav")
            told, units = _told(result)
        length = len(samples) * SECOND // RATE_OUT
        if abs(length - seconds(units / UNITS)) > block // 2:
            raise ConversationError(
                f"{_WHOSE} left {in_seconds(length):.2f} s of sound and tells of {units / UNITS:.2f} s: "
                "its segments cannot be placed"
            )
        spoken = [(start * block, length if end is None else min(length, (end + 1) * block)) for _, start, end in told]
        segments = [{"text": text, "at": in_seconds((start + 1) * block)} for text, start, _ in told]
        if not spoken:
            # Without blocks all of it would sound.
            return Answer(samples[:0], facts=facts | {"segments": []})
        placed = tuple(Block(start + block, start, end) for start, end in _joined(spoken))
        return Answer(samples, (), placed, facts | {"segments": segments})


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, those that touch as one: a block in which two segments meet sounds once."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _told(path: Path) -> tuple[list[tuple[str, int, int | None]], int]:
    """Return the segments (text, first block, last block or None), and how many units of sound there are."""
    try:
        found = read_json(path)
        units = _count(found["audio_token_count"])
        segments = [
            (
                printable(str(one["text"]), 2_000),
                _count(one["start_block"]),
                None if one["end_block"] is None else _count(one["end_block"]),
            )
            for one in found["segments"]
        ]
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise ConversationError(
            f"{_WHOSE} left a result.json without audio_token_count and segments with their blocks"
        ) from error
    return segments, units


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10_000_000:
        raise ValueError(value)
    return value
