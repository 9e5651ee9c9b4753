"""Silero VAD: a small recurrent network, and the rules that turn its probabilities into segments."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.listening.detectors import Samples, Segments
from fullduplex.model.spec import Spec
from fullduplex.providers import models, weights

#: Samples at 16 kHz that the network judges at once, and those before them that it sees again.
WINDOW = 512
CONTEXT = 64
RATE = 16_000
#: Windows in one call of the sequence network: more no longer fit a processor's cache and go slower.
_CALL = 2048
_MODELS = {"sequence": "silero-v6-sequence", "windows": "silero-v6"}


class Silero:
    """Speech by Silero VAD 6.

    A window of 32 ms is speech from ``threshold`` on; speech ends at the first window
    below ``threshold`` - 0.15 (at least 0.01) that is not followed by speech within
    ``min_silence_ms``. Segments of ``min_speech_ms`` or shorter are dropped; the rest
    grows by ``pad_ms`` on each side, or by half the silence where two would meet.
    ``round_to`` rounds the seconds to that many decimals.

    The released scripts of Full-Duplex-Bench use ``get_speech_timestamps`` as it comes:
    ``Silero(min_silence_ms=100, pad_ms=30, round_to=1)`` gives the same segments. Those
    lie on tenths of a second, so they are no measure of onsets. The default has no padding,
    no rounding, and ends speech after two silent windows (64 ms) instead of four: on the
    hand-labelled TEN VAD test set (15 clips, 59 segments) 100 ms bridges pauses that
    people marked, and its median onset error is 47 ms; 64 ms has 30 ms, and more frames
    right (91.8 % against 91.0 %). Ends come 90 ms late in the median, with either.

    ``network``: ``sequence`` takes a recording at once; ``windows`` goes one window at a
    time, as the scripts do. Their probabilities were identical on every recording
    tried (``bench/detector_speed.py`` prints the largest difference); only the speed differs.
    ``threads`` is the processor threads that one call may use; it changes no result.

    Raises :class:`PluginError` where the weights are not in ``cache`` (None: ``~/.cache/fullduplex``).
    """

    rate = RATE

    def __init__(
        self,
        threshold: float = 0.5,
        min_speech_ms: int = 250,
        min_silence_ms: int = 64,
        pad_ms: int = 0,
        round_to: int | None = None,
        network: Literal["sequence", "windows"] = "sequence",
        *,
        threads: int = 1,
        cache: Path | None = None,
    ) -> None:
        if not 0 < threshold < 1:
            raise InputError("silero", "threshold", found=threshold, expected="a probability between 0 and 1")
        if min(min_speech_ms, min_silence_ms, pad_ms) < 0:
            raise InputError("silero", found="a negative length", expected="milliseconds, 0 or more")
        if network not in _MODELS:
            raise InputError("silero", "network", found=network, expected=" or ".join(_MODELS))
        self.threshold, self.min_speech_ms, self.min_silence_ms = threshold, min_speech_ms, min_silence_ms
        self.pad_ms, self.round_to, self.network, self.threads = pad_ms, round_to, network, threads
        name = _MODELS[network]
        (file,) = models.model(name).files
        self._weights = weights.path(name, cache or weights.default_cache({})) / file.name
        self._revision = f"silero-vad 6.2, {file.name} {file.sha256[:12]}"
        self._loading = threading.Lock()
        self._session: Any = None

    @property
    def spec(self) -> Spec:
        """Return the options that decide the segments, and the weights."""
        options = {
            name: getattr(self, name)
            for name in ("threshold", "min_speech_ms", "min_silence_ms", "pad_ms", "round_to", "network")
        }
        return Spec("silero", options, self._revision)

    def detect(self, batch: Sequence[Samples]) -> list[Segments]:
        """Return each recording's segments: 16 kHz, one voice; no samples, no segments."""
        return [self.segments(self.probabilities(samples), len(samples)) for samples in batch]

    def probabilities(self, samples: Samples) -> NDArray[np.float32]:
        """Return how likely each window of 512 samples is speech; the last is filled up with zeros."""
        return self.judge(windows(samples))

    def judge(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the network's answer to frames as :func:`windows` makes them, in their order."""
        if not len(frames):
            return np.zeros(0, np.float32)
        return self._by_sequence(frames) if self.network == "sequence" else self._by_window(frames)

    def segments(self, probabilities: NDArray[np.float32], length: int) -> Segments:
        """Return the segments of a recording of ``length`` samples with these probabilities."""
        found = speech(
            probabilities,
            length,
            threshold=self.threshold,
            min_speech=RATE * self.min_speech_ms / 1000,
            min_silence=RATE * self.min_silence_ms / 1000,
        )
        return _seconds(padded(found, length, RATE * self.pad_ms / 1000), length, self.round_to)

    def _by_sequence(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        run = self._loaded().run
        hidden = cell = np.zeros((1, 1, 128), np.float32)
        found = []
        for at in range(0, len(frames), _CALL):
            part, hidden, cell = run(None, {"input": frames[at : at + _CALL], "h": hidden, "c": cell})
            found.append(part)
        return np.concatenate(found)

    def _by_window(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        run = self._loaded().run
        state, rate = np.zeros((2, 1, 128), np.float32), np.array(RATE, np.int64)
        found = np.zeros(len(frames), np.float32)
        for i, frame in enumerate(frames):
            out, state = run(None, {"input": frame[None], "state": state, "sr": rate})
            found[i] = out[0, 0]
        return found

    def _loaded(self) -> Any:
        with self._loading:
            if self._session is None:
                import onnxruntime

                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = self.threads
                options.inter_op_num_threads = 1
                self._session = onnxruntime.InferenceSession(
                    str(self._weights), options, providers=["CPUExecutionProvider"]
                )
            return self._session


def windows(samples: Samples) -> NDArray[np.float32]:
    """Return [windows, 576]: each window after the 64 samples before it, with zeros beyond both ends."""
    count = -(-len(samples) // WINDOW)
    held = np.zeros(CONTEXT + count * WINDOW, np.float32)
    held[CONTEXT : CONTEXT + len(samples)] = samples
    if not count:
        return np.zeros((0, CONTEXT + WINDOW), np.float32)
    return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(held, CONTEXT + WINDOW)[::WINDOW])


def speech(
    probabilities: NDArray[np.float32], length: int, *, threshold: float, min_speech: float, min_silence: float
) -> list[tuple[int, int]]:
    """Return the stretches of speech in samples, before any padding.

    A stretch starts with the first window at ``threshold`` or above. It ends with the
    first window below ``threshold`` - 0.15 after which ``min_silence`` samples go by,
    window starts counted, without a window at ``threshold``; windows between the two
    thresholds neither end nor prolong it. Stretches of ``min_speech`` samples or fewer are
    dropped. What is open at the end lasts to ``length``.
    Source: get_speech_timestamps of silero-vad 6.2.3, without a longest duration.
    """
    leave = max(threshold - 0.15, 0.01)
    found: list[tuple[int, int]] = []
    start: int | None = None
    end: int | None = None
    for i, probability in enumerate(probabilities.tolist()):
        at = WINDOW * i
        if probability >= threshold:
            end = None
            if start is None:
                start = at
        elif probability < leave and start is not None:
            if end is None:
                end = at
            if at - end >= min_silence:
                if end - start > min_speech:
                    found.append((start, end))
                start = end = None
    if start is not None and length - start > min_speech:
        found.append((start, length))
    return found


def padded(found: Sequence[tuple[int, int]], length: int, pad: float) -> list[tuple[int, int]]:
    """Return the stretches grown by ``pad`` samples on each side, within the recording.

    Where a silence is shorter than two pads, each side takes half of it.
    """
    edges = [list(stretch) for stretch in found]
    if not edges:
        return []
    edges[0][0] = int(max(0, edges[0][0] - pad))
    for before, after in pairwise(edges):
        silence = after[0] - before[1]
        if silence < 2 * pad:
            before[1] += silence // 2
            after[0] -= silence // 2
        else:
            before[1] = int(min(length, before[1] + pad))
            after[0] = int(after[0] - pad)
    edges[-1][1] = int(min(length, edges[-1][1] + pad))
    return [(start, end) for start, end in edges]


def _seconds(found: Sequence[tuple[int, int]], length: int, round_to: int | None) -> Segments:
    if round_to is None:
        return tuple((start / RATE, end / RATE) for start, end in found)
    # The rounded end may pass the end of the recording; then, as in the scripts, it is the recording's, unrounded.
    return tuple(
        (round(start / RATE, round_to), min(round(end / RATE, round_to), length / RATE)) for start, end in found
    )
