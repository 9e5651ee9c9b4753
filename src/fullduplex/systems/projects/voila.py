"""Voila-Autonomous: its project's ``infer.py``, once for each talk.

The script plays a stream to the model and writes what it said, one sound behind the other: how long it was silent
between them is not in the file. Read in its source at 6d299f1; *not verified live*: the model needs a GPU.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data import audio
from fullduplex.driving.link import Ready, Traits
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.command import left, ran
from fullduplex.systems.offline import Answer, OfflineLink, Placement, check_placement, offline_traits
from fullduplex.systems.projects.home import home_of, python_of, revision_of

SCRIPT = "infer.py"
#: The task of the script in which the model hears while it speaks.
TASK = "chat_aiao_auto"
RATE_IN, RATE_OUT = 16_000, 16_000


@dataclass(frozen=True, slots=True)
class Voila:
    """Voila-Autonomous, by the script of its project: ``home`` is the project's folder, ``python`` its Python.

    An item's prompt is the script's instruction. ``model`` is the checkpoint that the script is told to load, and
    ``voice`` the recording whose voice it takes, both by the script's names (of ``home``, or a whole path).
    ``placement`` is that of :class:`~fullduplex.systems.command.Command`: ``reply``, since the silences are lost;
    ``aligned`` is for a script that was changed to write them. ``timeout`` in seconds; ``declared`` is what a talk
    takes on the ``step-algorithmic`` clock. The spec holds the digest of the script.

    Raises :class:`InputError` where ``home`` is not the project's folder.
    """

    home: str = ""
    python: str = "python3"
    model: str = "maitrix-org/Voila-autonomous-preview"
    voice: str = "examples/test1.mp3"
    placement: Placement = "reply"
    timeout: float = 600.0
    declared: float = 1.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        check_placement("voila", self.placement)
        if not 0 < self.timeout <= 86_400 or not self.declared >= 0:
            raise InputError("voila", "timeout", found=self.timeout, expected="seconds above 0, at most a day")
        if self.model != printable(self.model, 200) or "Voila-auto" not in self.model:
            raise InputError("voila", "model", found=self.model, expected="an autonomous checkpoint of Voila")
        python_of("voila", self.python)
        self._folder()

    def _folder(self) -> Path:
        return home_of("voila", self.home, (SCRIPT,), "the project maitrix-org/Voila")

    @property
    def spec(self) -> Spec:
        """Return the checkpoint, the voice and where its sound goes; where it runs changes nothing."""
        options = {"model": self.model, "voice": self.voice, "placement": self.placement, "timeout": self.timeout}
        return Spec("voila", {**options, "declared": self.declared}, revision_of(self._folder(), (SCRIPT,)))

    @property
    def traits(self) -> Traits:
        """Return that it hears nothing before the last frame."""
        return offline_traits(RATE_IN, RATE_OUT, self.placement)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[OfflineLink]:
        """Open a talk; the script starts when the user is done."""
        settings = {**self.spec.to_json(), "fed": "whole", "model_verified": False}
        yield OfflineLink(
            Ready(settings),
            self.traits,
            lambda heard: self.answer(heard, prompt),
            lambda _: seconds(self.declared),
            self.placement,
        )

    def answer(self, heard: Samples, prompt: str) -> Answer:
        """Return what the script makes of the user's samples; raises :class:`ConversationError`."""
        if not len(heard):
            raise ConversationError("voila: there was no audio to give to the script")
        with tempfile.TemporaryDirectory(prefix="fullduplex-") as name:
            folder = Path(name)
            audio.write(folder / "input.wav", heard, RATE_IN)
            # With "=", a prompt that begins with a dash is still a prompt.
            arguments = [
                python_of("voila", self.python),
                SCRIPT,
                f"--model-name={self.model}",
                f"--task-type={TASK}",
                f"--instruction={prompt}",
                f"--ref-audio={self.voice}",
                f"--input-audio={folder / 'input.wav'}",
                f"--result-path={folder / 'result'}",
            ]
            facts = ran(arguments, folder, self.timeout, whose=f"voila's {SCRIPT}", cwd=self._folder())
            output = folder / "result" / "out.wav"
            samples = left(output, len(heard) / RATE_IN, RATE_OUT, f"voila's {SCRIPT}", "out.wav")
        return Answer(samples, facts=facts)
