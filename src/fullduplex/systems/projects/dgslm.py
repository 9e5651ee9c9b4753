"""dGSLM: a model that continues a dialogue of two channels, in units of sound without words; fairseq's own code.

It was made to generate both sides. In ``steps`` the user's side is real: after each chunk of the user both channels
go on for as long, the system's side sounds while the next chunk is heard, and what the model took the user to say is
thrown away. ``continuation`` is the model's own use: both channels are given up to the user's last sound, the
system's as silence, and go on from there; it can say nothing before, and hears nothing after. How others made it live
is not published in detail: this is one way. Tested on a stand-in; *not verified live*: neither fairseq nor its weights
are here.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fullduplex.driving.clock import Aside
from fullduplex.driving.link import Ready, Traits
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import SECOND, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.function import Steps
from fullduplex.systems.offline import Answer, OfflineLink, end_of_sound, offline_traits
from fullduplex.systems.projects.home import home_of, python_of, revision_of, weights_of
from fullduplex.systems.projects.worker import Worker, worker
from fullduplex.systems.recipes import TwoChannels, Units

RATE = 16_000
#: Samples of a unit: 50 units a second.
UNIT = RATE // 50
FILES = ("fairseq/models/speech_dlm/__init__.py", "examples/textless_nlp/dgslm/dgslm_utils.py")
WEIGHTS = ("hubert_fisher.pt", "hubert_fisher_km_500.bin", "hifigan_vocoder", "config.json", "speech_dlm_base.pt")
DICTIONARIES = ("dict.unitA.txt", "dict.unitB.txt")
#: What of the past is encoded with a chunk, in units, so that the encoder knows what came before.
BEFORE = 50
_WORKER = Path(__file__).with_name("dgslm_worker.py")


@dataclass(frozen=True, slots=True)
class Dgslm:
    """dGSLM, in the folder of fairseq: ``home`` is fairseq's folder, ``python`` the Python that has it.

    ``weights``: the folder with the files that its page publishes (``hubert_fisher.pt``, ``hubert_fisher_km_500.bin``,
    ``hifigan_vocoder``, ``config.json``, ``speech_dlm_base.pt``, ``dict.unitA.txt``, ``dict.unitB.txt``).

    ``mode``: ``steps`` with chunks of ``frame`` seconds, whole in 20 ms, or ``continuation`` from the user's last sound
    above -40 dB to the end of the input.
    ``context``: how many units of 20 ms it remembers. ``user``: which of its channels, ``A`` or ``B``, the user is.
    ``speaker``: the vocoder's voice. ``device``: ``auto``, ``cuda``, ``cpu``. Each talk samples from ``seed`` on.
    ``timeout``: how many seconds a step, or the continuation, may take, and ``declared`` how many it takes on the
    ``step-algorithmic`` clock. Its models are loaded once, before the first talk; it takes no prompt.

    Raises :class:`InputError` where ``home`` or ``weights`` is not what it has to be.
    """

    home: str = ""
    python: str = "python3"
    weights: str = ""
    mode: Literal["steps", "continuation"] = "steps"
    frame: float = 0.5
    context: int = 1_500
    user: Literal["A", "B"] = "A"
    speaker: int = 4
    device: Literal["auto", "cuda", "cpu"] = "auto"
    seed: int = 0
    timeout: float = 600.0
    declared: float = 0.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("mode", self.mode, ("steps", "continuation")),
            ("user", self.user, ("A", "B")),
            ("device", self.device, ("auto", "cuda", "cpu")),
        ):
            if value not in known:
                raise InputError("dgslm", name, found=value, expected=" or ".join(known))
        if not 0.02 <= self.frame <= 60 or seconds(self.frame) % (SECOND // 50):
            raise InputError("dgslm", "frame", found=self.frame, expected="seconds, 0.02 to 60, whole in 20 ms")
        if not 0 < self.timeout <= 86_400 or not self.declared >= 0:
            raise InputError("dgslm", "timeout", found=self.timeout, expected="seconds above 0, at most a day")
        if self.context < 1 or self.speaker < 0 or not 0 <= self.seed < 2**63:
            raise InputError("dgslm", "context, speaker, seed", expected="whole numbers, the first 1 or more")
        python_of("dgslm", self.python)
        self._weights()

    def _folder(self) -> Path:
        return home_of("dgslm", self.home, FILES, "fairseq (facebookresearch/fairseq)")

    def _weights(self) -> Path:
        return weights_of("dgslm", "weights", self.weights, self._folder(), (*WEIGHTS, *DICTIONARIES))

    @property
    def call(self) -> str:
        """Return what sentences call it."""
        return "dgslm"

    @property
    def rate_out(self) -> int:
        """Return samples a second."""
        return RATE

    @property
    def spec(self) -> Spec:
        """Return how it is asked, and the digest of the project's code; where it runs changes nothing."""
        names = ("mode", "context", "user", "speaker", "seed", "timeout", *(("frame",) if self.mode == "steps" else ()))
        options: dict[str, Any] = {name: getattr(self, name) for name in names} | {"declared": self.declared}
        return Spec("dgslm", {"model": "speech_dlm_base"} | options, revision_of(self._folder(), FILES))

    @property
    def traits(self) -> Traits:
        """Return a chunk for a chunk, one talk at a time; or that it hears nothing before the last frame."""
        if self.mode == "continuation":
            return offline_traits(RATE, RATE, "speech")
        return Traits(
            RATE,
            RATE,
            seconds(self.frame),
            timing="sync",
            virtual=True,
            exclusive=True,
            computes=True,
            source="session",
        )

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[OfflineLink | Steps]:
        """Open a talk, once the models are loaded; it takes no prompt, and says so where it is given one."""
        models = _Models(self._worker())
        aside = Aside("dgslm", seconds(self.timeout))
        settings = {**self.spec.to_json(), "model_verified": False, "prompt_taken": not prompt}
        try:
            silence = aside.wait(partial(models.begin, self.seed))
            settings |= {"silence": silence}
            if self.mode == "continuation":
                settings |= {"fed": "whole", "silent_while_the_user_speaks": "by construction"}
                work, declared = partial(self._gone_on, models, silence), seconds(self.declared)
                yield OfflineLink(Ready(settings), self.traits, work, lambda _: declared, "speech", aside)
                return
            hearing = _Hearing(models, round(self.frame * 50))
            steps = TwoChannels(hearing.encode, models.go_on, models.decode, silence=silence, context=self.context)
            yield Steps(Ready({**settings, "fed": "streamed"}), self, steps.step, aside)
        finally:
            aside.close()
            if models.worker.busy:
                # What did not come back in time is not waited for by the next talk.
                models.worker.stop()

    def _worker(self) -> Worker:
        weights = str(self._weights())
        options = {"weights": weights, "dictionaries": weights, "user": self.user, "speaker": self.speaker}
        told = [f"--{name}={value}" for name, value in {**options, "device": self.device}.items()]
        return worker((python_of("dgslm", self.python), str(_WORKER), *told), self._folder(), "dgslm's models")

    def _gone_on(self, models: _Models, silence: int, heard: Samples) -> Answer:
        """Return what the system says from the user's last sound on; it is given nothing that comes later."""
        given = heard[: end_of_sound(heard, RATE) * RATE // SECOND]
        user = list(models.encode(given))[-self.context :] if len(given) >= 2 * UNIT else []
        count = -(-(len(heard) - len(given)) // UNIT)
        if not user or not count:
            why = "is shorter than a unit of sound" if not user else "ends with the user's last sound"
            raise ConversationError(f"dgslm: the input {why}: there is nothing to go on from, or for")
        _, said = models.go_on(user, [silence] * len(user), count)
        return Answer(models.decode(said), facts={"units": len(said)})


class _Models:
    """The worker's three models as functions."""

    def __init__(self, asked: Worker) -> None:
        self.worker = asked

    def begin(self, seed: int) -> int:
        """Return the unit of silence: the one that it makes most often of a second without sound; set the seed."""
        units = self.encode(np.zeros(RATE, np.float32))
        if not units:
            raise ConversationError("dgslm's models made no units of a second of silence")
        self.worker.ask({"do": "seed", "seed": seed})
        return Counter(units).most_common(1)[0][0]

    def encode(self, samples: Samples) -> Units:
        """Return the units of the user's samples."""
        sound = base64.b64encode(np.asarray(samples, "<f4").tobytes()).decode("ascii")
        return _units(self.worker.ask({"do": "encode", "samples": sound}), "units")

    def go_on(self, user: Units, system: Units, count: int) -> tuple[Units, Units]:
        """Return ``count`` further units of the user and of the system."""
        found = self.worker.ask({"do": "go_on", "user": list(user), "system": list(system), "count": count})
        return _units(found, "user"), _units(found, "system")

    def decode(self, units: Units) -> Samples:
        """Return the sound of units."""
        found = self.worker.ask({"do": "decode", "units": list(units)})
        try:
            samples = np.frombuffer(base64.b64decode(found["samples"], validate=True), "<f4").astype(np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ConversationError("dgslm's models gave no samples") from error
        if not np.isfinite(samples).all():
            raise ConversationError("dgslm's models gave samples that are NaN or infinite")
        return samples


class _Hearing:
    """The user's chunks as units, each chunk with what came before it, so that the encoder knows no edges.

    Its last unit needs 5 ms beyond a chunk: the units of a chunk are the latest ``count`` that there are, 20 ms at
    most behind its end.
    """

    def __init__(self, models: _Models, count: int) -> None:
        self._models, self._count = models, count
        self._before = np.zeros(BEFORE * UNIT, np.float32)

    def encode(self, frame: Samples) -> Units:
        """Return the units of the next chunk."""
        whole = np.concatenate([self._before, frame])
        self._before = whole[-BEFORE * UNIT :]
        return self._models.encode(whole)[-self._count :]


def _units(found: dict[str, Any], name: str) -> Sequence[int]:
    units = found.get(name)
    if not isinstance(units, list) or not all(isinstance(unit, int) and not isinstance(unit, bool) for unit in units):
        raise ConversationError(f"dgslm's models gave no units: {printable(str(units), 80)}")
    return units
