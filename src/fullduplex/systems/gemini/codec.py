"""The wire of the Gemini Live API: JSON messages, in text or binary frames, samples in base64.

A session begins with ``setup`` and ``setupComplete``. Audio of the model has no id: it belongs to the turn that is
going on, and a turn ends with ``turnComplete``. ``interrupted`` takes back what has not sounded yet, of this turn and
of those before; what comes of this turn until ``turnComplete`` was under way and is not heard. An ``interrupted``
while the turn has no audio concerns the turns before: the server sends it out of the blue at times.
``generationComplete`` says that all of a turn has been sent, ``turnComplete`` that the server believes it was played:
neither ends what is heard here. Names come in snake_case or camelCase.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

from fullduplex.driving.link import Happening, Note, Ready, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import printable
from fullduplex.model.spans import SECOND
from fullduplex.systems.incoming import Incoming, pcm16_encoded
from fullduplex.systems.keys import without
from fullduplex.systems.talking import Translating
from fullduplex.systems.wire import Wire

#: The user's samples, and the model's where a chunk does not say.
RATE_IN, RATE_OUT = 16_000, 24_000
_MIME = f"audio/pcm;rate={RATE_IN}"
_RATE = re.compile(r"audio/(?:pcm|l16)\s*(?:;.*?\brate=(\d{4,6})\b.*)?", re.IGNORECASE | re.DOTALL)
_OFFSET = re.compile(r"(\d{1,6})(?:\.(\d{1,9}))?s")
#: The alphabet that is safe in URLs, which the vendor's client writes, in the usual one.
_PLAIN = str.maketrans("-_", "+/")
_SNAKE = re.compile(r"_([a-z])")
#: Members of a message, and of its content, that are kept as a note of that name, as they are.
_NOTED = {
    "usageMetadata": "usage",
    "sessionResumptionUpdate": "session_resumption",
    "toolCall": "tool_call",
    "toolCallCancellation": "tool_call_cancellation",
}
_NOTED_CONTENT = {
    "waitingForInput": "waiting_for_input",
    "groundingMetadata": "grounding",
    "urlContextMetadata": "url_context",
    "interactionStatus": "interaction_status",
    "interimInputTranscription": "interim_transcription",
}


class Talking(Translating[str | bytes, str | bytes]):
    """One talk over a wire. ``setup`` opens the session; ``key`` is kept out of what the talk tells of its end."""

    busy = "it may be busy"

    def __init__(self, wire: Wire, settings: Mapping[str, Any], setup: Mapping[str, Any], key: str = "") -> None:
        super().__init__(wire, settings)
        self._setup, self._key = setup, key
        self._turn, self._sounded = 1, False
        self._incoming = Incoming("pcm16", RATE_OUT, RATE_OUT)
        self._going = ""

    async def get_ready(self) -> None:
        """Return once the session is set up; what the server says before is kept for the talk."""
        await self.wire.send(json.dumps({"setup": self._setup}))
        told = await self.until(_complete)
        complete = told["setupComplete"]
        session = complete.get("sessionId") if isinstance(complete, Mapping) else None
        if isinstance(session, str):
            self.ready = Ready(dict(self.ready.settings) | {"session": printable(session, 100)})

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user."""
        data = base64.b64encode(pcm16_encoded(frame)).decode()
        await self._tell({"audio": {"data": data, "mimeType": _MIME}})

    async def finish(self) -> None:
        """Say that no more sound will come."""
        await self._tell({"audioStreamEnd": True})

    async def _tell(self, member: Mapping[str, Any]) -> None:
        await self.give(json.dumps({"realtimeInput": member}))

    def ended(self, why: str) -> str:
        """Return why the talk ended, without the key, and that the server had announced it."""
        return without(self._key, f"{why}{self._going}")

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is one note."""
        told = _object(message)
        if told is None:
            text = message if isinstance(message, str) else message[:400].decode("utf-8", "replace")
            return [Note("unreadable", {"text": printable(text[:200]), "length": len(message)})]
        events: list[Happening] = []
        unknown = []
        for name, value in told.items():
            found = self._member(name, value)
            if found is None:
                unknown.append(name)
            else:
                events += found
        if unknown or not told:
            names = [printable(str(name), 60) for name in unknown[:20]]
            events.append(Note("unknown", {"members": names}))
        return events

    def _member(self, name: str, value: Any) -> list[Happening] | None:
        """Return the events of a member of a message, None where it is not known."""
        if name == "serverContent" and isinstance(value, Mapping) and value:
            return self._content(value)
        if name == "voiceActivity" and isinstance(value, Mapping):
            kind = str(value.get("voiceActivityType", "")).upper()
            if kind in ("ACTIVITY_START", "ACTIVITY_END"):
                return [UserVad(kind == "ACTIVITY_START", _offset(value.get("audioOffset")))]
        if name == "voiceActivityDetectionSignal" and isinstance(value, Mapping):
            kind = str(value.get("vadSignalType", "")).upper()
            if kind in ("VAD_SIGNAL_TYPE_SOS", "VAD_SIGNAL_TYPE_EOS"):
                return [UserVad(kind.endswith("SOS"))]
        if name == "goAway" and isinstance(value, Mapping):
            left = printable(str(value.get("timeLeft", "")), 40)
            self._going = f" (it had said that it would go away, {left or 'no time'} before)"
            return [Note("go_away", {"time_left": left})]
        if name == "setupComplete":
            return [Note("setup_complete", {})]
        if name in _NOTED:
            return [Note(_NOTED[name], _kept(value))]
        return None

    def _content(self, content: Mapping[str, Any]) -> list[Happening] | None:
        """Return the events of a server content, in the order in which they apply, None where nothing is known."""
        events: list[Happening] = []
        known = False
        for name, who in (("inputTranscription", "user"), ("outputTranscription", "system")):
            if isinstance(content.get(name), Mapping):
                known = True
                events += self._words(content[name], who)
        if isinstance(content.get("modelTurn"), Mapping):
            known = True
            parts = content["modelTurn"].get("parts")
            for part in parts if isinstance(parts, list) else []:
                events += self._part(part)
        if content.get("interrupted") is True:
            known = True
            events.append(Flush(self._turn if self._sounded else self._turn - 1))
        if content.get("generationComplete") is True:
            known = True
            events += [*self._rest(), Note("generation_complete", {"id": self._id})]
        if content.get("turnComplete") is True:
            known = True
            reason = content.get("turnCompleteReason")
            told = {"reason": printable(str(reason), 100)} if reason else {}
            events += [*self._rest(), Note("turn_complete", {"id": self._id} | told)]
            if self._sounded:
                self._turn, self._sounded = self._turn + 1, False
        for name, kind in _NOTED_CONTENT.items():
            if name in content:
                known = True
                events.append(Note(kind, _kept(content[name])))
        return events if known else None

    @property
    def _id(self) -> str:
        return f"t{self._turn}"

    def _part(self, part: Any) -> list[Happening]:
        if not isinstance(part, Mapping):
            return [Note("unknown", {"part": printable(str(part), 100)})]
        data = part.get("inlineData")
        if isinstance(data, Mapping):
            return self._sound(data)
        text = part.get("text")
        if not isinstance(text, str):
            return [Note("unknown", {"part": [printable(str(name), 60) for name in list(part)[:20]]})]
        if part.get("thought") is True:
            return [Note("thought", {"text": printable(text, 1_000)})]
        return [Said(text, "system", self._id)] if text else []

    def _sound(self, blob: Mapping[str, Any]) -> list[Happening]:
        mime, data = blob.get("mimeType", ""), blob.get("data")
        announced = _RATE.fullmatch(mime) if isinstance(mime, str) else None
        if announced is None or not isinstance(data, str):
            return [Note("unreadable", {"mime": printable(str(mime), 100)})]
        rate = int(announced[1] or RATE_OUT)
        try:
            found = base64.b64decode(data.translate(_PLAIN), validate=True)
            if not 8_000 <= rate <= 192_000:
                raise ValueError(rate)
        except (binascii.Error, ValueError):
            return [Note("unreadable", {"mime": printable(mime, 100), "length": len(data)})]
        waited: list[Happening] = []
        if rate != self._incoming.rate:
            waited, self._incoming = self._rest(), Incoming("pcm16", rate, RATE_OUT)
        samples = self._incoming.take(found)
        if not len(samples):
            return waited
        self._sounded = True
        return [*waited, Chunk(samples, self._id, self._turn)]

    def _rest(self) -> list[Happening]:
        samples = self._incoming.end()
        return [Chunk(samples, self._id, self._turn)] if len(samples) else []

    def _words(self, told: Mapping[str, Any], who: Any) -> list[Happening]:
        """Return the words of a transcription; those of the user lie on the server's clock, where it tells."""
        text = told.get("text")
        if not isinstance(text, str) or not text:
            return [Note("transcription", {"who": who} | _kept(told))] if len(told) else []
        if who == "system":
            # Where its own words lie is counted from a beginning that nothing defines: kept, and not used.
            timed = [Note("word_times", _kept({"words": told["words"]}))] if told.get("words") else []
            return [Said(text, "system", self._id), *timed]
        words = told["words"] if isinstance(told.get("words"), list) else []
        timed_words = [
            (str(word.get("word", "")), start, end)
            for word in words
            if isinstance(word, Mapping)
            and (start := _offset(word.get("startOffset"))) is not None
            and (end := _offset(word.get("endOffset"))) is not None
        ]
        source = _offset(told.get("startOffset"))
        if source is None and timed_words:
            source = timed_words[0][1]
        shift = source or 0
        return [Said(text, "user", words=tuple((w, a - shift, b - shift) for w, a, b in timed_words), source=source)]


def _object(message: str | bytes) -> dict[str, Any] | None:
    """Return a message's members by their camelCase names, None where it is no JSON object."""
    try:
        told = _camel(json.loads(message))
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _complete(message: str | bytes) -> dict[str, Any] | None:
    """Return a message that says that the session is set up, None for any other."""
    told = _object(message)
    return told if told is not None and "setupComplete" in told else None


def _camel(told: Any) -> Any:
    """Return JSON with every name in camelCase, however deep."""
    if isinstance(told, Mapping):
        return {_SNAKE.sub(lambda m: m[1].upper(), str(name)): _camel(value) for name, value in told.items()}
    return [_camel(value) for value in told] if isinstance(told, list) else told


def _offset(value: Any) -> int | None:
    """Return a duration such as 1.5s in microseconds, None where it is none."""
    found = _OFFSET.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else int(found[1]) * SECOND + int((found[2] or "0").ljust(6, "0")[:6])


def _kept(value: Any) -> dict[str, Any]:
    """Return what came, short enough to be kept."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return {"text": printable(str(value), 1_000)}
    if len(text) > 4_000:
        return {"text": printable(text, 1_000)}
    return dict(value) if isinstance(value, Mapping) else {"value": value}


__all__ = ["RATE_IN", "RATE_OUT", "Talking"]
