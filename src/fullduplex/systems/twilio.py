"""Twilio Media Streams: the talk is a phone call, and we play Twilio.

Twilio opens a WebSocket to the voice agent's server, and so do we: ``connected`` and ``start``, then a ``media`` of
160 bytes of μ-law for each 20 ms of the caller, at last ``stop``. The agent sends ``media`` of any length, which is
queued; a ``mark`` behind it, which is sent back once all before it has sounded; and ``clear``, which empties the queue
and sends all marks back at once. Most telephone agents speak this.

Read in Twilio's documentation of Media Streams and held to Pipecat's serializer, which the driver is tried on; Twilio
itself is no party of it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fullduplex.driving.link import Happening, Link, Note, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.incoming import mulaw_decoded, mulaw_encoded
from fullduplex.systems.keys import key_of
from fullduplex.systems.stretches import Stretches
from fullduplex.systems.talking import Translating, begun
from fullduplex.systems.texts import unreadable
from fullduplex.systems.wire import Door, Wire, address, websocket

RATE, FRAME = 8_000, ms(20)
_FORMAT = {"encoding": "audio/x-mulaw", "sampleRate": RATE, "channels": 1}
#: More marks than this, sent and not reached, are a flood.
_MARKS = 10_000


@dataclass(frozen=True, slots=True)
class Twilio:
    """A call to the agent whose server is at ``url`` (``ws://`` or ``wss://``).

    ``parameters`` are the call's custom parameters, ``NAME=VALUE`` between semicolons; an item's prompt is one more,
    called ``prompt_parameter`` (empty: it is not told). ``account`` is the account's SID. ``key`` or ``key_file``: the
    account's auth token, with which Twilio signs its request (``X-Twilio-Signature``); no part of the spec, never
    shown. ``model`` is what answers there: kept with the run, not verified. ``verify``: whether its certificate has
    to be a trusted one. ``ready_within``: seconds for the connection.
    """

    url: str = ""
    model: str = ""
    parameters: str = ""
    prompt_parameter: str = "prompt"
    account: str = "AC00000000000000000000000000000000"
    key: str = field(default="", repr=False)
    key_file: str = ""
    verify: bool = True
    ready_within: float = 20.0

    def __post_init__(self) -> None:
        _parameters(self.parameters)

    @property
    def spec(self) -> Spec:
        """Return what is told to the agent; where it runs, the account and the key change nothing."""
        kept = ("model", "parameters", "prompt_parameter")
        return Spec("twilio", {name: getattr(self, name) for name in kept}, "1")

    @property
    def traits(self) -> Traits:
        """Return bursts of the telephone's sound, and a flush of everything."""
        return Traits(RATE, RATE, FRAME, timing="burst", flush="all")

    def door(self, prompt: str) -> Door:
        """Return where the agent is called."""
        url = address(self.url or "ws://localhost:8765", "/")
        key = key_of("twilio", self.key, self.key_file)
        headers = {"X-Twilio-Signature": signature(url, key)} if key else {}
        return Door(url, headers, verify=self.verify)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Call the agent; raises :class:`ConversationError` where none answers."""
        within = seconds(self.ready_within)
        async with (
            websocket(self.door(prompt), within=within, what="telephone agent") as wire,
            self.over(wire, prompt) as talking,
        ):
            yield talking

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Call over ``wire``: the agent is not asked whether it is ready; raises :class:`ConversationError`."""
        told = dict(_parameters(self.parameters))
        if prompt and self.prompt_parameter:
            told[self.prompt_parameter] = prompt
        talking = Talking(wire, told, self.account)
        if prompt and not self.prompt_parameter:
            talking.ready = Ready({**talking.ready.settings, "prompt_taken": False})
        return begun(talking, "the agent", within=self.ready_within)


def signature(url: str, token: str) -> str:
    """Return Twilio's signature of a request without parameters: HMAC-SHA1 of the URL under the auth token."""
    return base64.b64encode(hmac.new(token.encode(), url.encode(), hashlib.sha1).digest()).decode()


def _parameters(text: str) -> Mapping[str, str]:
    """Return the custom parameters that ``text`` names; raises ValueError for what is none."""
    found: dict[str, str] = {}
    for part in filter(None, text.split(";")):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or text != printable(text, 4_000):
            raise ValueError(f"parameters: found {printable(part, 80)}, expected NAME=VALUE between semicolons")
        found[name.strip()] = value
    return found


class Talking(Translating[str | bytes, str]):
    """One call over a wire."""

    def __init__(self, wire: Wire, parameters: Mapping[str, str], account: str) -> None:
        super().__init__(wire, {"parameters": dict(parameters), "prompt_verified": False})
        self._parameters, self._account = parameters, account
        self._stream, self._call = f"MZ{secrets.token_hex(16)}", f"CA{secrets.token_hex(16)}"
        self._number, self._frames = 0, 0
        self._stretches = Stretches(RATE)
        #: Marks that nothing has reached: the name, the stretch, how much of it came before.
        self._marks: deque[tuple[str, int, int]] = deque()

    async def get_ready(self) -> None:
        """Say what call this is; raises :class:`Gone`."""
        ids = {"accountSid": self._account, "callSid": self._call}
        await self.wire.send(json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}))
        about = {"streamSid": self._stream, **ids, "tracks": ["inbound"], "mediaFormat": _FORMAT}
        await self.wire.send(self._told("start", about | {"customParameters": dict(self._parameters)}))

    def _told(self, event: str, about: Mapping[str, Any]) -> str:
        self._number += 1
        told = {"event": event, "sequenceNumber": str(self._number), event: about, "streamSid": self._stream}
        return json.dumps(told)

    async def send(self, frame: Samples) -> None:
        """Send the caller's next frame."""
        self._frames += 1
        about = {"track": "inbound", "chunk": str(self._frames), "timestamp": str((self._frames - 1) * FRAME // ms(1))}
        payload = base64.b64encode(mulaw_encoded(frame)).decode()
        await self.give(self._told("media", about | {"payload": payload}))

    async def heard(self, position: Position) -> None:
        """Send back the marks that have been reached."""
        self._stretches.heard(position)
        while self._marks and self._stretches.reached(*self._marks[0][1:]):
            await self._mark(self._marks.popleft()[0])

    async def _mark(self, name: str) -> None:
        await self.give(self._told("mark", {"name": name}))

    async def leave(self) -> None:
        """Hang up."""
        await self.give(self._told("stop", {"accountSid": self._account, "callSid": self._call}))

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the event of one message; what cannot be understood is a note."""
        if isinstance(message, bytes):
            return [Note("unknown", {"bytes": len(message)})]
        try:
            told = json.loads(message)
            kind = told["event"]
            if kind == "media":
                return [self._sound(base64.b64decode(told["media"]["payload"], validate=True))]
            if kind == "mark":
                return [await self._marked(told["mark"]["name"])]
        except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
            return [unreadable(message)]
        if kind != "clear":
            return [Note("unknown", {"event": printable(str(kind), 100)})]
        # Twilio sends back at once what will never be reached.
        while self._marks:
            await self._mark(self._marks.popleft()[0])
        self._stretches.flush()
        return [Flush(None)]

    def _sound(self, data: bytes) -> Chunk:
        samples = mulaw_decoded(data)
        return Chunk(samples, self._stretches.take(len(samples)))

    async def _marked(self, name: Any) -> Note:
        if type(name) is not str:
            raise TypeError(name)
        if len(self._marks) >= _MARKS:
            raise ConversationError(f"the agent sent more than {_MARKS} marks that nothing has reached")
        if self._marks or self._stretches.came:
            self._marks.append((name, self._stretches.number, self._stretches.came))
        else:
            await self._mark(name)
        return Note("mark", {"name": printable(name, 100)})


__all__ = ["FRAME", "RATE", "Talking", "Twilio", "signature"]
