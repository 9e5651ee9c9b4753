"""What Nova Sonic says and is told: JSON events, samples in base64.

A session begins with ``sessionStart``, ``promptStart``, the system's text, and the user's sound as one content that
lasts as long as the talk. The model answers in contents: a text that it plans (SPECULATIVE), the sound, the text as it
was spoken (FINAL). Sound comes ahead of time; an interruption is a text, ``{"interrupted": true}``, and takes back all
that has not sounded, whatever a content's own ``stopReason`` says. There is no word for being ready.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex.driving.link import Happening, Note, Said
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import printable
from fullduplex.systems.incoming import Incoming, pcm16_encoded
from fullduplex.systems.talking import Translating
from fullduplex.systems.wire import Wire

RATE_IN, RATE_OUT = 16_000, 24_000
#: The names of the prompt and of its contents within a session.
PROMPT, SYSTEM, SOUND = "talk", "instruction", "microphone"
_TEXT = {"mediaType": "text/plain"}
#: Rates that sound may be announced at.
_RATES = range(8_000, 48_001)


def event(name: str, **members: Any) -> str:
    """Return an event as it travels."""
    return json.dumps({"event": {name: members}})


def sound_format(rate: int) -> dict[str, Any]:
    """Return how sound of ``rate`` is described."""
    return {
        "mediaType": "audio/lpcm",
        "sampleRateHertz": rate,
        "sampleSizeBits": 16,
        "channelCount": 1,
        "audioType": "SPEECH",
        "encoding": "base64",
    }


def opening(session: Mapping[str, Any], voice: str, instruction: str) -> list[str]:
    """Return the events that begin a talk; ``session`` is what ``sessionStart`` holds."""
    told = [
        event("sessionStart", **session),
        event(
            "promptStart",
            promptName=PROMPT,
            textOutputConfiguration=_TEXT,
            audioOutputConfiguration=sound_format(RATE_OUT) | {"voiceId": voice},
        ),
    ]
    if instruction:
        names = {"promptName": PROMPT, "contentName": SYSTEM}
        start = {"type": "TEXT", "interactive": False, "role": "SYSTEM", "textInputConfiguration": _TEXT}
        told += [
            event("contentStart", **names, **start),
            event("textInput", **names, content=instruction),
            event("contentEnd", **names),
        ]
    microphone = {"type": "AUDIO", "interactive": True, "role": "USER"}
    names = {"promptName": PROMPT, "contentName": SOUND}
    return [*told, event("contentStart", **names, **microphone, audioInputConfiguration=sound_format(RATE_IN))]


def closing() -> list[str]:
    """Return the events that end a talk, in the order in which they have to come."""
    ends = event("contentEnd", promptName=PROMPT, contentName=SOUND)
    return [ends, event("promptEnd", promptName=PROMPT), event("sessionEnd")]


@dataclass(slots=True)
class _Content:
    """A content that the model has begun: of sound with an epoch, or a text of somebody at some stage."""

    epoch: int = 0
    role: str = ""
    stage: str = ""


class Talking(Translating[str | bytes, str]):
    """One talk over a wire of events, of which ``opens`` are sent before the user's first frame."""

    def __init__(self, wire: Wire, settings: Mapping[str, Any], opens: Sequence[str] = ()) -> None:
        super().__init__(wire, settings)
        self._opens = opens
        self._incoming = Incoming("pcm16", RATE_OUT, RATE_OUT)
        self._contents: dict[str, _Content] = {}
        self._epoch, self._id = 0, ""

    async def get_ready(self) -> None:
        """Send what opens the talk: the server has no word for being ready. Raises :class:`Gone`."""
        for one in self._opens:
            await self.wire.send(one)

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user."""
        content = base64.b64encode(pcm16_encoded(frame)).decode()
        await self.give(event("audioInput", promptName=PROMPT, contentName=SOUND, content=content))

    async def finish(self) -> None:
        """End the user's sound, the prompt and the session."""
        for one in closing():
            await self.give(one)

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the happenings of one message; what cannot be understood is a note."""
        name, told = _event(message)
        if not name:
            text = message if isinstance(message, str) else message.decode("utf-8", "replace")
            return [Note("unreadable", {"text": printable(text[:200]), "length": len(message)})]
        if name == "audioOutput":
            return self._sound(told)
        if name == "textOutput":
            return self._text(told)
        if name == "contentStart":
            return self._starts(told)
        if name == "contentEnd":
            return self._ends(told)
        if name == "usageEvent":
            return [Note("usage", _usage(told))]
        if name in ("completionStart", "completionEnd", "toolUse"):
            return [Note(name, _kept(told))]
        return [
            Note("unknown", {"type": printable(name, 80), "members": [printable(key, 60) for key in list(told)[:20]]})
        ]

    def _starts(self, told: Mapping[str, Any]) -> list[Happening]:
        content = _Content(role=_name(told, "role"), stage=_stage(told.get("additionalModelFields")))
        self._contents[_name(told, "contentId")] = content
        if _name(told, "type") != "AUDIO":
            return []
        before = self._rest()
        self._epoch += 1
        content.epoch, self._id = self._epoch, f"a{self._epoch}"
        format = told.get("audioOutputConfiguration")
        rate = format.get("sampleRateHertz") if isinstance(format, Mapping) else None
        if type(rate) is int and rate in _RATES and rate != self._incoming.rate:
            self._incoming = Incoming("pcm16", rate, RATE_OUT)
        return before

    def _ends(self, told: Mapping[str, Any]) -> list[Happening]:
        content = self._contents.get(_name(told, "contentId"), _Content())
        reason = _name(told, "stopReason")
        note = Note("content_end", {"id": f"a{content.epoch}" if content.epoch else "", "stop_reason": reason})
        if not content.epoch:
            return [note]
        rest = self._rest() if content.epoch == self._epoch else []
        return [*rest, *([Flush(content.epoch)] if reason == "INTERRUPTED" else []), note]

    def _sound(self, told: Mapping[str, Any]) -> list[Happening]:
        data = told.get("content")
        try:
            found = base64.b64decode(data if isinstance(data, str) else b"*", validate=True)
        except (binascii.Error, ValueError):
            return [Note("unreadable", {"type": "audioOutput", "length": len(str(data))})]
        content = self._contents.get(_name(told, "contentId"))
        if content is None or not content.epoch:
            # Sound of a content that never began: it is heard, and belongs to what is said now.
            self._epoch += 0 if self._epoch else 1
            epoch = self._epoch
        else:
            epoch = content.epoch
        samples = self._incoming.take(found)
        return [Chunk(samples, f"a{epoch}", epoch)] if len(samples) else []

    def _rest(self) -> list[Happening]:
        samples = self._incoming.end()
        return [Chunk(samples, self._id, self._epoch)] if len(samples) and self._id else []

    def _text(self, told: Mapping[str, Any]) -> list[Happening]:
        text = told.get("content")
        if not isinstance(text, str):
            return [Note("unreadable", {"type": "textOutput"})]
        if _interrupts(text):
            return [*self._rest(), Flush(self._epoch)]
        content = self._contents.get(_name(told, "contentId"), _Content())
        role = _name(told, "role") or content.role
        if not text:
            return []
        if role == "USER":
            return [Said(text, "user")]
        if content.stage == "SPECULATIVE":
            # What it means to say; what it said comes as FINAL.
            return [Note("planned", {"text": printable(text, 2_000)})]
        return [Said(text, "system", self._id)]


def _event(message: str | bytes) -> tuple[str, Mapping[str, Any]]:
    """Return an event's name and members; no name for what is none."""
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return "", {}
    inner = told.get("event") if isinstance(told, dict) else None
    if not isinstance(inner, dict) or not inner:
        return "", {}
    name, members = next(iter(inner.items()))
    return name, members if isinstance(members, dict) else {}


def _name(told: Mapping[str, Any], name: str) -> str:
    found = told.get(name)
    return printable(found, 120) if isinstance(found, str) else ""


def _stage(fields: Any) -> str:
    """Return the generation stage, which is JSON within a text."""
    if isinstance(fields, str):
        try:
            fields = json.loads(fields)
        except (ValueError, RecursionError):
            return ""
    return _name(fields, "generationStage") if isinstance(fields, Mapping) else ""


def _interrupts(text: str) -> bool:
    if len(text) > 200 or "interrupted" not in text:
        return False
    try:
        told = json.loads(text)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("interrupted") is True


def _usage(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was used since the last count, in the plain form of :mod:`fullduplex.driving.usage`."""
    details = told.get("details")
    delta = details.get("delta") if isinstance(details, Mapping) else None
    if not isinstance(delta, Mapping):
        return _kept(told)
    made: dict[str, Any] = {}
    for way in ("input", "output"):
        part = delta.get(way)
        if isinstance(part, Mapping):
            made[way] = {"audio": part.get("speechTokens"), "text": part.get("textTokens")}
    return made


def _kept(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        printable(str(name), 60): value if isinstance(value, int | bool) else printable(str(value), 500)
        for name, value in list(told.items())[:20]
    }


__all__ = ["RATE_IN", "RATE_OUT", "Talking", "closing", "event", "opening", "sound_format"]
