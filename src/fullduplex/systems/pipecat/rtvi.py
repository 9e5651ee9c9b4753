"""What a Pipecat bot says beside its sound: RTVI messages, JSON with a ``type``.

They come over the protobuf's ``message`` or over a WebRTC data channel. ``client-ready`` is answered with
``bot-ready`` once the pipeline runs; many bots do not listen before. Read in pipecat-ai 1.14.0 (RTVI 2.2.0); what older
bots say of their own words (``bot-transcription``) is taken where there is no ``bot-output``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fullduplex.driving.link import Closed, Happening, Note, Said, UserVad
from fullduplex.errors import printable
from fullduplex.systems.texts import unreadable

VERSION = "2.0.0"
LABEL = "rtvi-ai"
#: What a message is worth keeping whole for; of others only the type.
_KEPT = ("bot-ready", "metrics", "error", "error-response", "server-message")


def client_ready(id: str = "ready") -> str:
    """Return the message that asks the bot to begin."""
    data = {"version": VERSION, "about": {"library": "fullduplex"}}
    return json.dumps({"label": LABEL, "type": "client-ready", "id": id, "data": data})


class Rtvi:
    """Reads the messages of one talk; ``ready`` is what ``bot-ready`` held, None before it came."""

    def __init__(self) -> None:
        self.ready: Mapping[str, Any] | None = None
        self._outputs = False

    def events(self, message: str, utterance: str) -> list[Happening]:
        """Return the events of a message; words of the bot are of ``utterance``."""
        try:
            told = json.loads(message)
        except (ValueError, RecursionError):
            return [unreadable(message)]
        if not isinstance(told, Mapping) or type(told.get("type")) is not str:
            return [unreadable(message)]
        data = told.get("data")
        try:
            return self._meant(told["type"], data if isinstance(data, Mapping) else {}, utterance)
        except (TypeError, ValueError):
            return [unreadable(message)]

    def _meant(self, kind: str, data: Mapping[str, Any], utterance: str) -> list[Happening]:
        if kind in ("user-started-speaking", "user-stopped-speaking"):
            return [UserVad(kind == "user-started-speaking")]
        if kind == "user-transcription":
            return [Said(_text(data), "user")] if data.get("final") is True else []
        if kind == "bot-output":
            self._outputs = True
            first = data.get("spoken_status") == "new" and data.get("will_be_spoken") is True
            return [Said(_text(data), id=utterance)] if first or data.get("spoken") is True else []
        if kind == "bot-transcription":
            return [] if self._outputs else [Said(_text(data), id=utterance)]
        if kind == "bot-ready":
            self.ready = data
        if kind == "error" and data.get("fatal") is True:
            why = printable(str(data.get("error", data.get("message", ""))))
            return [Closed(f"the bot failed: {why}", broke=True)]
        return [Note(printable(kind, 100), dict(data) if kind in _KEPT else {})]


def _text(data: Mapping[str, Any]) -> str:
    text = data.get("text")
    if type(text) is not str:
        raise TypeError(text)
    return text


__all__ = ["LABEL", "VERSION", "Rtvi", "client_ready"]
