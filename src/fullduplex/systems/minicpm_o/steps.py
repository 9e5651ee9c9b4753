"""MiniCPM-o a second at a time, in Python: for the system ``python``, on a clock that counts what computing takes.

The model is whatever was loaded and switched to duplex; nothing here imports it. *Not verified live*: tried on a
stand-in with the same methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError

PREFIX = "<|im_start|>system\n{role}\n<|audio_start|>"
SUFFIX = "<|audio_end|><|im_end|>"
ROLE = "Streaming Omni Conversation."
#: What its own example asks for.
SAMPLING: Mapping[str, Any] = {"max_new_speak_tokens_per_chunk": 20, "decode_mode": "sampling"}


class SecondBySecond:
    """A talk with ``model``, which has ``prepare``, ``streaming_prefill`` and ``streaming_generate``.

    ``voice``: what it shall sound like, float32 at 16 kHz, and ``voice_file`` the same as a file, which its vocoder
    reads. ``sampling`` goes to each ``streaming_generate``. A class of yours that makes the model and this
    is what ``python:call=FILE:CLASS,frame=1,rate_in=16000`` takes.
    """

    def __init__(
        self,
        model: Any,
        prompt: str = "",
        *,
        voice: Samples | None = None,
        voice_file: str | None = None,
        sampling: Mapping[str, Any] = SAMPLING,
    ) -> None:
        self._model, self._sampling = model, dict(sampling)
        if voice_file is not None:
            self._sampling["prompt_wav_path"] = voice_file
        model.prepare(
            prefix_system_prompt=PREFIX.format(role=prompt.strip() or ROLE),
            suffix_system_prompt=SUFFIX,
            ref_audio=voice,
            prompt_wav_path=voice_file,
        )

    def step(self, frame: Samples) -> Samples | None:
        """Return what the model says to a second of the user, float32 at 24 kHz; None where it listens.

        Raises :class:`ConversationError` where its result is none.
        """
        self._model.streaming_prefill(audio_waveform=frame, frame_list=[])
        result = self._model.streaming_generate(**self._sampling)
        if not isinstance(result, Mapping) or "is_listen" not in result:
            raise ConversationError("MiniCPM-o gave no result that says whether it listens")
        sound = result.get("audio_waveform")
        if result["is_listen"] or sound is None:
            return None
        # It may be a tensor of the model's library.
        plain = sound.detach().cpu().float().numpy() if hasattr(sound, "detach") else sound
        made: Samples = np.asarray(plain, np.float32).reshape(-1)
        return made if len(made) else None
