"""Hearing the user while the audio comes: Silero one window at a time, and what it makes of turns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.listening.detectors import silero
from fullduplex.model.spans import SECOND
from fullduplex.once import once_per_process
from fullduplex.providers import models, weights

#: What the network takes: samples a second, the window's length, and what it sees again before it.
RATE, WINDOW, CONTEXT = silero.RATE, silero.WINDOW, silero.CONTEXT
#: A window at this probability or above begins speech; below the other it may have ended.
ENTERS, LEAVES = 0.5, 0.35
#: One window, in microseconds.
STEP = WINDOW * SECOND // RATE


@once_per_process
def network(cache: Path) -> Any:
    """Return Silero's session; raises :class:`PluginError` where its weights are not at hand."""
    import onnxruntime

    (file,) = models.model("silero-v6").files
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        str(weights.path("silero-v6", cache) / file.name), options, providers=["CPUExecutionProvider"]
    )


class Windows:
    """One voice at 16 kHz, cut into the windows that the network takes; it remembers what it heard."""

    def __init__(self, session: Any) -> None:
        self._run, self._rate = session.run, np.array(RATE, np.int64)
        self._state = np.zeros((2, 1, 128), np.float32)
        self._held = np.zeros(CONTEXT, np.float32)

    def ready(self, more: int) -> int:
        """Return how many windows ``more`` samples would complete."""
        return (len(self._held) - CONTEXT + more) // WINDOW

    def hear(self, samples: Samples) -> list[float]:
        """Return the probability of speech in each window that ``samples`` complete."""
        self._held = np.concatenate([self._held, samples])
        found = []
        while len(self._held) >= CONTEXT + WINDOW:
            frame = np.ascontiguousarray(self._held[None, : CONTEXT + WINDOW], np.float32)
            answer, self._state = self._run(None, {"input": frame, "state": self._state, "sr": self._rate})
            self._held = self._held[WINDOW:]
            found.append(float(answer[0, 0]))
        return found


@dataclass(slots=True)
class Talker:
    """What is known of the user's speech after each window; times in microseconds of the user's audio.

    ``since`` is where the stretch of speech that goes on, or was the last, began; ``until`` the end of its
    last window of speech; ``speaking``: no ``hang`` has passed since then. ``now`` is how much was heard.
    A pause of ``hang`` or longer ends a stretch; shorter ones are part of it.
    """

    hang: int
    now: int = 0
    since: int | None = None
    until: int = 0
    speaking: bool = False
    _within: bool = False

    def hear(self, probability: float) -> bool | None:
        """Take the next window; return True where speech begins, False where it has ended, else None."""
        self.now += STEP
        if probability >= ENTERS or (self._within and probability >= LEAVES):
            self._within, self.until = True, self.now
            if not self.speaking:
                self.speaking, self.since = True, self.now - STEP
                return True
            return None
        self._within = False
        if self.speaking and self.silence >= self.hang:
            self.speaking = False
            return False
        return None

    @property
    def silence(self) -> int:
        """Return how long the user has been silent."""
        return self.now - self.until

    @property
    def spoken(self) -> int:
        """Return the length of the latest stretch of speech, from its beginning to its last window."""
        return 0 if self.since is None else self.until - self.since
