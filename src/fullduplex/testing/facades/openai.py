"""What the facades of OpenAI's two speech APIs share: who is let in, events with ids, sound in the agreed format."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.systems.openai.sound import Format, Voice, bytes_of, encoded, text_of

#: Whoever comes with one of these keys is sent away, as the vendor does it.
WRONG_KEY, LIMITED_KEY = "sk-wrong", "sk-limited"

Event = dict[str, Any]


def refuses(path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
    """Return the status and body with which a wrong key, or one without quota, is refused; None for any other."""
    given = {name.lower(): value for name, value in headers.items()}
    key = given.get("api-key") or given.get("authorization", "").removeprefix("Bearer ")
    if key == WRONG_KEY:
        return 401, _error(f"Incorrect API key provided: {key}.", "invalid_request_error", "invalid_api_key")
    if key == LIMITED_KEY:
        return 429, _error("You exceeded your current quota.", "insufficient_quota", "insufficient_quota")
    return None


def _error(message: str, kind: str, code: str) -> str:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def read(message: str | bytes) -> Event:
    """Return an event of the client; one without a type where it is none."""
    try:
        told = json.loads(message)
    except ValueError:
        told = None
    return told if isinstance(told, dict) and isinstance(told.get("type"), str) else {"type": ""}


class Numbered:
    """Makes events, each with an id of its own."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def event(self, kind: str, **members: Any) -> Event:
        """Return an event."""
        return {"type": kind, "event_id": f"event_{next(self._numbers):06d}", **members}


class Sound:
    """The sound of one talk: the talker's pcm16 out in ``formats[1]``, the client's in ``formats[0]``."""

    def __init__(self, formats: tuple[Format, Format], rates: tuple[int, int], wav_in: bool = False) -> None:
        self._format, self._wav = formats[1], wav_in
        self._heard = Voice(formats[0], rates[0], rates[0])
        self._said = Voice("pcm16", rates[1], rates[1])

    def out(self, data: bytes) -> str:
        """Return the talker's bytes in base64."""
        return text_of(data if self._format == "pcm16" else encoded(self._format, self._said.take(data)))

    def into(self, told: object) -> Samples:
        """Return what the client sent; raises ValueError where it is no base64."""
        data = bytes_of(told)
        if self._wav:
            if data[:4] != b"RIFF":
                raise ValueError("no WAV file")
            data = data[44:]
        return self._heard.take(data) if data else np.zeros(0, np.float32)
