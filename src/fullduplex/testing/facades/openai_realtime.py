"""OpenAI's Realtime API as a facade, and the forms of it that other vendors speak.

A flush of the talker is the user's speech, noticed: ``input_audio_buffer.speech_started``, and the response that is
open is cancelled. Each utterance is a response with one item. It is checked that a client truncates an item nowhere
beyond what it was sent.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fullduplex.driving.playout import Samples
from fullduplex.systems.openai.presets import BETA, G711, PRESETS, Preset
from fullduplex.systems.openai.session import laid_over, told_formats
from fullduplex.systems.openai.sound import TELEPHONE, Format, announced
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Answer, Facade, Peer, Spoken, Unheard
from fullduplex.testing.facades.openai import Event, Numbered, Sound, read, refuses
from fullduplex.testing.stage import Terms

#: The padding in front of the user's speech that a session has where nobody says otherwise.
_PADDING = 300
_OLD = {new: old for old, new in BETA.items()}

#: What no client knows, or can do anything about; the first two are an event in the spelling of either form.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 3, "item_id": "i", "confidence": 0.5}',
    '{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": null}',
    '{"type": "response.output_audio.delta", "response_id": "r", "item_id": "i", "delta": "no base64!"}',
    '{"type": "response.audio.delta", "delta": 5}',
    '{"type": "error", "error": {"message": "\\u001b[31m../../x<script>"}}',
    '{"type": "error"}',
    '{"type": "response.holographic.delta", "delta": "AAAA"}',
    '{"type": "session.renewed", "expires": 1e999}',
    '{"type": 5}',
    '{"kind": "nothing"}',
    '{"type": "response.done"',
    "[" * 5_000,
    "null",
    "",
    b"",
    b"\x07\xff",
)
_PLACE = '"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0'
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"type": "response.output_audio_transcript.delta", ' + _PLACE + ', "delta": "only words"}',
    '{"type": "response.output_audio_transcript.done", ' + _PLACE + ', "transcript": "only words"}',
    '{"type": "response.output_audio.delta", ' + _PLACE + ', "delta": ""}',
    '{"type": "input_audio_buffer.speech_started", "audio_start_ms": 0, "item_id": "i"}',
    '{"type": "output_audio_buffer.cleared", "response_id": "never"}',
)
#: What comes of every response.
USUAL = ("response.created", "response.done", "rate_limits", "truncated")
TERMS = Terms(rate_in=24_000, oddities=_ODDITIES, vads=2, nothings=_NOTHINGS, flushes=2, usual=USUAL, positions=1)
_SYNC = "it answers when it will, and no frame for a frame"
BESIDE = {
    7: "between responses nothing is sent, so that silence never travels",
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    21: "it asks for no sign of life but the WebSocket's own",
    22: "its words carry no time",
}


class Responses:
    """One talk with a client of the Realtime API, in the form of ``preset``."""

    def __init__(
        self, behaviour: Behaviour, preset: Preset, formats: tuple[Format, Format], rates: tuple[int, int]
    ) -> None:
        self.rate_in = rates[0]
        self._behaviour, self._preset, self._asked = behaviour, preset, tuple(zip(formats, rates, strict=True))
        # What it sends, and announces, whatever it is asked for.
        own = formats[1] if behaviour.rate == rates[1] else _format_at(behaviour.rate)
        self._formats, self._rates = (formats[0], own), (rates[0], behaviour.rate)
        self._made = Numbered()
        self._sound = Sound(self._formats, self._rates, preset.wav_in)
        self._session: Event = {}
        self._first: list[str | bytes] = []
        self._open: int | None = None
        self._late, self._speaking, self._heard = 0, False, 0
        #: Bytes of the talker's sound that each item was sent.
        self._sent: dict[str, int] = {}

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Tell of the session, and change it as the client asks where that is the first that it says."""
        parts = urlsplit(peer.path)
        model = parse_qs(parts.query).get("model", [""])[0]
        if not parts.path.endswith("/realtime"):
            raise Unheard("404 Not Found")
        if not model:
            error = self._error("You must provide a model parameter.", "missing_model")
            await peer.send(json.dumps(error))
            raise Unheard("invalid_request_error")
        await getting_ready()
        self._session = self._usual(model)
        if self._preset.form == "mixed":
            await peer.send(json.dumps(self._made.event("conversation.created", conversation={"id": "conv_1"})))
        else:
            await peer.send(json.dumps(self._made.event("session.created", session=self._session)))
        first = await peer.receive()
        if read(first)["type"] != "session.update":
            self._first = [first]
            return
        for answer in self._hear(first):
            if isinstance(answer, Answer):
                await peer.send(answer.message)

    def _usual(self, model: str) -> Event:
        """Return the session as it is before anybody has said a word."""
        into, out = self._formats
        vad = {
            "type": "server_vad",
            "threshold": 0.5,
            "prefix_padding_ms": _PADDING,
            "silence_duration_ms": 500,
            "create_response": True,
            "interrupt_response": True,
        }
        common = {"id": "sess_facade", "object": "realtime.session", "model": model, "instructions": "", "tools": []}
        if self._preset.form == "beta":
            formats = {"input_audio_format": G711.get(into, self._preset.pcm_in)}
            formats["output_audio_format"] = G711.get(out, self._preset.pcm_out)
            return common | formats | {"modalities": ["text", "audio"], "voice": "alloy", "turn_detection": vad}
        told: Event = {
            "input": {
                "format": self._format(0),
                "transcription": None,
                "noise_reduction": None,
                "turn_detection": vad,
            },
            "output": {"format": self._format(1), "voice": "marin", "speed": 1.0},
        }
        return common | {"type": "realtime", "output_modalities": ["audio"], "audio": told}

    def _format(self, side: int) -> Event:
        kind, rate = self._formats[side], self._rates[side]
        return {"type": "audio/pcm", "rate": rate} if kind == "pcm16" else {"type": f"audio/{kind}"}

    # What it says.

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return audio in its response, words as its transcript, a flush as the user's speech, an end as an error."""
        return [json.dumps(self._named(one)) for one in self._told(event)]

    def _named(self, event: Event) -> Event:
        if self._preset.form != "beta":
            return event
        return event | {"type": _OLD.get(event["type"], event["type"])}

    def _told(self, event: Spoken | Mapping[str, Any]) -> list[Event]:
        if isinstance(event, Spoken):
            return self._spoken(event) if event.id else []
        kind = event["type"]
        if kind == "flush":
            return self._interrupted()
        if kind == "said":
            id = self._open or 0
            return [self._of(id, "response.output_audio_transcript.delta", delta=str(event["text"]))]
        if kind == "close":
            return [self._error(str(event.get("reason", "")), "session_expired")]
        return []

    def _spoken(self, spoken: Spoken) -> list[Event]:
        id, item = spoken.id, f"item_{spoken.id}"
        made: list[Event] = []
        if item not in self._sent:
            made += [] if self._open is None else self._done(self._open, "cancelled")
            made += self._stopped() + self._begun(id)
            self._open = id
        self._sent[item] = self._sent.get(item, 0) + len(spoken.data)
        made.append(self._of(id, "response.output_audio.delta", delta=self._sound.out(spoken.data)))
        if self._late and self._open == id:
            self._late -= 1
            made += self._done(id, "cancelled") if not self._late else []
        elif spoken.last and self._open == id:
            made += self._done(id, "completed")
        return made

    def _of(self, id: int, kind: str, **members: Any) -> Event:
        place = {"response_id": f"resp_{id}", "item_id": f"item_{id}", "output_index": 0, "content_index": 0}
        return self._made.event(kind, **place, **members)

    def _item(self, id: int, status: str) -> Event:
        content = [{"type": "output_audio", "transcript": ""}] if status != "in_progress" else []
        common = {"id": f"item_{id}", "object": "realtime.item", "type": "message"}
        return common | {"status": status, "role": "assistant", "content": content}

    def _response(self, id: int, status: str) -> Event:
        told: Event = {
            "object": "realtime.response",
            "id": f"resp_{id}",
            "status": status,
            "status_details": None,
            "output": [],
            "conversation_id": "conv_1",
            "output_modalities": ["audio"],
            "max_output_tokens": "inf",
            "audio": {"output": {"format": self._format(1), "voice": "marin"}},
            "usage": None,
            "metadata": None,
        }
        if status == "in_progress":
            return told
        reason = {"reason": "turn_detected"} if status == "cancelled" else {}
        ended = "completed" if status == "completed" else "incomplete"
        counted = {"total_tokens": 30, "input_tokens": 10, "output_tokens": 20}
        return told | {
            "status_details": {"type": status} | reason,
            "output": [self._item(id, ended)],
            "usage": counted,
        }

    def _begun(self, id: int) -> list[Event]:
        item = self._item(id, "in_progress")
        part = {"type": "audio", "transcript": ""}
        return [
            self._made.event("response.created", response=self._response(id, "in_progress")),
            self._made.event("response.output_item.added", response_id=f"resp_{id}", output_index=0, item=item),
            self._made.event("conversation.item.added", previous_item_id=None, item=item),
            self._of(id, "response.content_part.added", part=part),
        ]

    def _done(self, id: int, status: str) -> list[Event]:
        self._open, self._late = None, 0
        item = self._item(id, "completed" if status == "completed" else "incomplete")
        part = {"type": "audio", "transcript": ""}
        limit = {"name": "tokens", "limit": 40_000, "remaining": 39_970, "reset_seconds": 0.05}
        return [
            self._of(id, "response.output_audio.done"),
            self._of(id, "response.output_audio_transcript.done", transcript=""),
            self._of(id, "response.content_part.done", part=part),
            self._made.event("response.output_item.done", response_id=f"resp_{id}", output_index=0, item=item),
            self._made.event("response.done", response=self._response(id, status)),
            self._made.event("rate_limits.updated", rate_limits=[limit]),
        ]

    def _interrupted(self) -> list[Event]:
        at = max(0, self._heard * 1_000 // self.rate_in - _PADDING)
        started = self._made.event("input_audio_buffer.speech_started", audio_start_ms=at, item_id="item_user")
        again, self._speaking = self._speaking, True
        made = [*(self._stopped(True) if again else []), started]
        if self._open is not None:
            self._late = self._behaviour.late
            # What is under way of it comes before its end.
            made += [] if self._late else self._done(self._open, "cancelled")
        return made

    def _stopped(self, speaking: bool = False) -> list[Event]:
        if not self._speaking:
            return []
        self._speaking = speaking
        end = self._heard * 1_000 // self.rate_in
        return [
            self._made.event("input_audio_buffer.speech_stopped", audio_end_ms=end, item_id="item_user"),
            self._made.event("input_audio_buffer.committed", previous_item_id=None, item_id="item_user"),
        ]

    def _error(self, message: str, code: str, client: Any = None) -> Event:
        error = {"type": "invalid_request_error", "code": code, "message": message, "param": None, "event_id": client}
        return self._made.event("error", error=error)

    # What it hears.

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any] | Answer]:
        """Return the user's sound, what the client says was heard, and the answers that it gets."""
        first, self._first = self._first, []
        return [heard for one in (*first, message) for heard in self._hear(one)]

    def _hear(self, message: str | bytes) -> list[Samples | Mapping[str, Any] | Answer]:
        told = read(message)
        kind, client = told["type"], told.get("event_id")
        if kind == "input_audio_buffer.append":
            try:
                samples = self._sound.into(told.get("audio"))
            except ValueError:
                return [self._answer(self._error("Invalid 'audio'.", "invalid_value", client))]
            self._heard += len(samples)
            return [samples]
        if kind == "session.update":
            return [self._answer(self._updated(told.get("session"), client))]
        if kind == "conversation.item.truncate":
            return self._truncated(told, client)
        if kind == "input_audio_buffer.commit":
            made = self._made.event("input_audio_buffer.committed", previous_item_id=None, item_id="item_user")
            return [self._answer(made)]
        if kind == "input_audio_buffer.clear":
            return [self._answer(self._made.event("input_audio_buffer.cleared"))]
        if kind == "response.cancel":
            return [self._answer(self._error("Cancellation failed.", "response_cancel_not_active", client))]
        return [self._answer(self._error(f"Not in this facade's script: {kind!r}.", "invalid_value", client))]

    def _answer(self, event: Event) -> Answer:
        return Answer(json.dumps(self._named(event)))

    def _updated(self, session: Any, client: Any) -> Event:
        if not isinstance(session, Mapping) or (self._preset.form == "ga" and session.get("type") != "realtime"):
            return self._error("Missing required parameter: 'session.type'.", "missing_required_parameter", client)
        for told, asked in zip(told_formats(session), self._asked, strict=True):
            if announced(told, asked) != asked:
                return self._error("This facade was started for another audio format.", "invalid_value", client)
        self._session = laid_over(self._session, session)
        if (self._formats[1], self._rates[1]) != self._asked[1]:
            own = {"audio": {"output": {"format": self._format(1)}}}
            # A format that was asked for has members that this one has not.
            self._session["audio"]["output"].pop("format", None)
            self._session = laid_over(self._session, own)
        return self._made.event("session.updated", session=self._session)

    def _truncated(self, told: Event, client: Any) -> list[Samples | Mapping[str, Any] | Answer]:
        item, end = str(told.get("item_id")), told.get("audio_end_ms")
        sent = self._sent.get(item)
        if sent is None or not isinstance(end, int):
            return [self._answer(self._error(f"Item with item_id not found: {item}", "item_not_found", client))]
        # The talker counts what it is told was heard, and what of it lies beyond what it sent: no client may do that.
        heard = {"type": "heard", "id": int(item[5:]), "played": end * 1_000}
        length = sent // 2 * 1_000 // self._rates[1]
        if end > length:
            message = f"Audio content of {length}ms is already shorter than {end}ms"
            return [self._answer(self._error(message, "invalid_value", client)), heard]
        made = self._made.event("conversation.item.truncated", item_id=item, content_index=0, audio_end_ms=end)
        return [self._answer(made), heard]


def _format_at(rate: int) -> Format:
    """Return the format of a server that announces another ``rate`` than it was asked for: G.711 at the telephone's."""
    return "pcmu" if rate == TELEPHONE else "pcm16"


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a realtime server of the vendor and in the formats that ``options`` say."""
    preset = PRESETS[str(options.get("preset", "openai"))]
    formats: tuple[Format, Format] = (options.get("input_format", "pcm16"), options.get("output_format", "pcm16"))
    own = (int(options.get("rate") or preset.rate_in), int(options.get("rate") or preset.rate_out))
    into, out = (rate if format == "pcm16" else TELEPHONE for format, rate in zip(formats, own, strict=True))

    def fits(behaviour: Behaviour) -> Behaviour:
        # Without flushes the user interrupts nothing: what it says is heard to its end.
        other = behaviour.rate != Behaviour().rate
        return replace(behaviour, coding="pcm16", rate=behaviour.rate if other else out)

    beside = dict(BESIDE)
    if not preset.truncates:
        beside[23] = "it takes no word of what was heard"
    if preset.form == "beta":
        beside[20] = "its formats are names that hold no rate"

    return Facade(
        "openai-realtime",
        lambda behaviour: Responses(behaviour, preset, formats, (into, out)),
        replace(TERMS, rate_in=into),
        fits,
        beside,
        refuses=refuses,
    )


__all__ = ["BESIDE", "TERMS", "Responses", "facade"]
