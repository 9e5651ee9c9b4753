"""OpenAI's Realtime API over WebSocket, and those who speak its protocol.

The plain wire, not the SDK: it decodes before it hands an event on, and hides when the socket was read. That we speak
as the SDK does is tested against frames that the SDK made. *Not verified live*: there was no account.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import InitVar, dataclass, field
from typing import Any

from fullduplex.driving.link import Traits
from fullduplex.model.spec import Spec
from fullduplex.systems.keys import key_of
from fullduplex.systems.openai.door import address, admitted, opened, secured
from fullduplex.systems.openai.line import Line
from fullduplex.systems.openai.presets import PRESETS, Preset
from fullduplex.systems.openai.realtime_talk import Agreed, Talking
from fullduplex.systems.openai.session import Session, an_object, asked
from fullduplex.systems.openai.sound import FORMATS, TELEPHONE, Format
from fullduplex.systems.options import a_deadline, a_name, one_of
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire

_EAGERNESS = ("", "low", "medium", "high", "auto")


@dataclass(frozen=True, slots=True)
class Realtime:
    """A talk with a realtime API: OpenAI's, or that of another vendor who speaks its protocol.

    ``preset``: openai, azure, azure-voice-live, xai, qwen, glm, step. ``url`` (or ``base_url``) is where it listens,
    without ``/realtime``, and is needed where each customer has an own. ``model`` and ``voice`` are the vendor's names.

    ``turn_detection``: server_vad (``threshold`` 0 to 1, ``prefix_padding_ms``, ``silence_duration_ms``,
    ``idle_timeout_ms``), semantic_vad (``eagerness`` low, medium, high, auto), or none: then it answers only where it
    is duplex by itself, for nobody here decides when a turn has ended. ``create_response`` and ``interrupt_response``:
    whether it answers, and stops, by itself. Without ``interrupt_response`` nothing that it sent is taken back.

    ``input_format``, ``output_format``: pcm16, pcmu, pcma; ``rate`` of pcm16 where the vendor lets one choose.
    ``transcription`` is the model that writes down what the user says, none by default; ``language`` is told to it.
    ``noise_reduction``: near_field, far_field. ``speed`` of the voice. ``extra`` is a JSON object laid over the
    session.

    What is not given is left to the server; the settings that it tells are kept with the talk. ``key`` is handed in by
    the caller, or read from ``key_file``; it is in no spec and no message. ``ready_within`` in seconds.
    """

    url: str = ""
    base_url: InitVar[str] = ""
    preset: str = "openai"
    model: str = ""
    voice: str = ""
    turn_detection: str = "server_vad"
    threshold: float | None = None
    prefix_padding_ms: int | None = None
    silence_duration_ms: int | None = None
    idle_timeout_ms: int | None = None
    eagerness: str = ""
    create_response: bool = True
    interrupt_response: bool = True
    input_format: str = "pcm16"
    output_format: str = "pcm16"
    rate: int = 0
    transcription: str = ""
    language: str = ""
    noise_reduction: str = ""
    speed: float | None = None
    extra: Mapping[str, Any] | str = ""
    ready_within: float = 20.0
    verify: bool = True
    key_file: str = field(default="", repr=False)
    key: str = field(default="", repr=False)

    def __post_init__(self, base_url: str) -> None:
        if base_url and not self.url:
            object.__setattr__(self, "url", base_url)
        one_of("preset", self.preset, tuple(PRESETS))
        vendor = self.vendor
        one_of("turn_detection", self.turn_detection, (*vendor.detections, "none"))
        for name in ("input_format", "output_format"):
            one_of(name, getattr(self, name), tuple(f for f in FORMATS if f in vendor.codings))
        one_of("eagerness", self.eagerness, _EAGERNESS)
        one_of("noise_reduction", self.noise_reduction, ("", "near_field", "far_field"))
        server = ("threshold", "prefix_padding_ms", "silence_duration_ms", "idle_timeout_ms")
        if self.turn_detection == "semantic_vad":
            given = next((name for name in server if getattr(self, name) is not None), "")
        elif self.turn_detection == "none":
            given = next(
                (name for name in server if getattr(self, name) is not None), "eagerness" * bool(self.eagerness)
            )
        else:
            given = "eagerness" * bool(self.eagerness)
        if given:
            raise ValueError(f"{given} is nothing that turn_detection={self.turn_detection} has")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold: found {self.threshold:g}, expected 0 to 1")
        if self.rate and self.rate not in vendor.rates:
            raise ValueError(f"rate: {self.preset} takes {', '.join(map(str, vendor.rates)) or 'its own'}")
        for name in ("model", "voice", "transcription", "language"):
            a_name(name, getattr(self, name))
        a_deadline("ready_within", self.ready_within)
        an_object("extra", self.extra)
        key_of("openai-realtime", self.key, "")
        if self.url:
            self.door("")

    @property
    def vendor(self) -> Preset:
        """Return what is known of the vendor."""
        return PRESETS[self.preset]

    @property
    def formats(self) -> tuple[Format, Format]:
        """Return the formats of the user's sound and of the system's."""
        return self.input_format, self.output_format  # type: ignore[return-value]

    @property
    def rates(self) -> tuple[int, int]:
        """Return the rates that belong to :attr:`formats`."""
        own = (self.rate or self.vendor.rate_in, self.rate or self.vendor.rate_out)
        return tuple(rate if f == "pcm16" else TELEPHONE for f, rate in zip(self.formats, own, strict=True))  # type: ignore[return-value]

    def session(self, prompt: str) -> Session:
        """Return the session that is asked for."""
        return asked(
            self.vendor,
            model=self.model or self.vendor.model,
            voice=self.voice,
            instructions=prompt.strip(),
            detection=self._detection(),
            formats=self.formats,
            rates=self.rates,
            transcription={
                name: value for name, value in (("model", self.transcription), ("language", self.language)) if value
            },
            noise_reduction=self.noise_reduction,
            speed=self.speed,
            extra=an_object("extra", self.extra),
        )

    def _detection(self) -> dict[str, Any] | None:
        if self.turn_detection == "none":
            return None
        told: dict[str, Any] = {"type": self.turn_detection}
        for name in ("threshold", "prefix_padding_ms", "silence_duration_ms", "idle_timeout_ms"):
            if getattr(self, name) is not None:
                told[name] = getattr(self, name)
        told |= {"eagerness": self.eagerness} if self.eagerness else {}
        told |= {} if self.create_response else {"create_response": False}
        return told | ({} if self.interrupt_response else {"interrupt_response": False})

    @property
    def spec(self) -> Spec:
        """Return the vendor, the model and all that it is asked to be; not the key, and not where it runs."""
        options = {"preset": self.preset, "model": self.model or self.vendor.model, "session": self.session("")}
        given = {name: getattr(self, name) for name in ("turn_detection", "rate", "input_format", "output_format")}
        return Spec("openai-realtime", options | given | {"interrupt_response": self.interrupt_response}, "1")

    @property
    def traits(self) -> Traits:
        """Return bursts, taken back by the response's id; an hour at most where that is known."""
        rate_in, rate_out = self.rates
        flush = "id" if self.interrupt_response and self.turn_detection != "none" else "none"
        return Traits(rate_in, rate_out, timing="burst", flush=flush, longest=self.vendor.longest)  # type: ignore[arg-type]

    def _key(self) -> str:
        return key_of("openai-realtime", self.key, self.key_file)

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened; a key goes along where the line is encrypted or within this machine."""
        vendor = self.vendor
        query = {"model": name} if (name := self.model or vendor.model) else {}
        url = address("url", self.url or vendor.home or "ws://localhost", "/realtime", dict(vendor.query) | query)
        key = self._key()
        headers: dict[str, str] = {vendor.header: f"Bearer {key}" if vendor.header == "Authorization" else key}
        return Door(url, headers if key and secured(url) else {}, verify=self.verify)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Talking]:
        """Open a talk; raises :class:`ConversationError` where the service refuses it, with what that means."""
        vendor, key = self.vendor, self._key()
        if not self.url:
            admitted("openai-realtime", self.preset, vendor.home, key, vendor.key_name)
        async with (
            opened(self.door(prompt), f"the realtime API ({self.preset})", key, vendor.key_name) as wire,
            self.over(wire, prompt) as talking,
        ):
            yield talking

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        session = self.session(prompt)
        vendor = self.vendor
        agreed = Agreed(
            self.formats, self.rates, self.interrupt_response, vendor.wav_in, vendor.stamped, vendor.truncates
        )
        door = self.door(prompt)
        told: dict[str, Any] = {
            "preset": self.preset,
            "model": self.model or self.vendor.model,
            "url": door.url.partition("?")[0],
        }
        told |= {"asked": session, "key_sent": bool(door.headers)}
        talking = Talking(Line(wire, self._key()), agreed, told, session, self.vendor.longest)
        return begun(talking, f"the realtime API ({self.preset})", within=self.ready_within)

    @staticmethod
    def key_name(options: Mapping[str, Any]) -> str:
        """Return the name of the environment variable that holds the key for a system of these options."""
        preset = PRESETS.get(str(options.get("preset", "openai")))
        return preset.key_name if preset else ""
