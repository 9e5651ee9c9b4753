"""The built-in cascade: it hears by voice activity, recognises, writes, and speaks while it still writes.

It is the kind of system that the published benchmarks compare with, and a real one to
measure: every part is a plug-in, every stage takes its time on the talk's clock, and
it hears the user's audio as it comes, never a turn as a whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fullduplex.driving.clock import took
from fullduplex.driving.link import Traits
from fullduplex.errors import InputError
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process
from fullduplex.providers import weights
from fullduplex.providers.language_models import Message
from fullduplex.systems.cascade.ears import RATE, network
from fullduplex.systems.cascade.parts import DEFAULTS, Parts, part, part_spec
from fullduplex.systems.cascade.talk import Link

#: The rate of what it says; a voice with another is resampled.
RATE_OUT = 24_000


@dataclass(frozen=True, slots=True)
class Cascade:
    """Voice activity, an optional turn detector, a recogniser, a language model and a voice.

    Parts are named ``NAME`` or ``NAME:key=value;key=value``; an empty recogniser or voice is the language's own (see
    :data:`~fullduplex.systems.cascade.parts.DEFAULTS`). Times are decimal seconds, since they come from a command line.

    A turn ends after ``silence``. With ``turns`` (``smart-turn``) the detector is asked once the user has been
    silent for ``ask_after``: from ``finished_at`` on, the turn is over, else it is over after ``patience``.
    Speech of ``barge_in`` or longer while it speaks interrupts it, unless it is not ``interruptible``; what the
    listener did not hear is then no part of its memory. The reply has at most ``limit`` tokens. Its audio is sent
    ahead as soon as it is made, or in real time if ``paced``, ``chunk`` at a time, with ``gap`` between pieces.
    With ``backchannel`` above 0 it says ``backchannel_text`` in a pause of the user's, once every so many seconds
    of the user's turn; only the turn detector can keep it from doing so at a turn's end.

    ``declared_*`` is the time that each stage takes on the ``step-algorithmic`` clock: a window of voice activity, a
    turn detector's answer, a recogniser's (and for each second that it is given), the model's first token (and for
    each character that it has to read), each other token, a voice's piece (and for each character). The defaults
    are what the English parts took on one core of a Xeon in ``bench/cascade_speed.py``, to a digit or two.

    Raises :class:`InputError` for options that cannot be meant, :class:`PluginError` for parts that cannot be had.
    """

    language: str = "en"
    recogniser: str = ""
    model: str = "smollm2"
    voice: str = ""
    turns: str = ""
    silence: float = 0.5
    ask_after: float = 0.2
    finished_at: float = 0.5
    patience: float = 2.0
    interruptible: bool = True
    barge_in: float = 0.2
    limit: int = 40
    paced: bool = False
    chunk: float = 0.08
    gap: float = 0.15
    backchannel: float = 0.0
    backchannel_text: str = ""
    declared_window: float = 0.0001
    declared_turns: float = 0.045
    declared_recogniser: float = 0.0
    declared_recogniser_second: float = 0.06
    declared_first_token: float = 0.02
    declared_prompt_character: float = 0.0014
    declared_token: float = 0.008
    declared_voice: float = 0.01
    declared_voice_character: float = 0.0003
    cache: Path | None = None

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            kind = type(option.default)
            if kind in (int, float) and (
                isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0
            ):
                raise InputError("cascade", option.name, found=repr(value), expected="a number, 0 or more")
            if kind is str and not isinstance(value, str):
                raise InputError("cascade", option.name, found=repr(value), expected="a text")
            if kind is bool and not isinstance(value, bool):
                raise InputError("cascade", option.name, found=repr(value), expected="true or false")
            if kind is int and value != int(value):
                raise InputError("cascade", option.name, found=value, expected="a whole number")
            if kind is float and value > 3600:
                raise InputError("cascade", option.name, found=value, expected="seconds, an hour at most")
        for name in ("silence", "ask_after", "chunk", "limit"):
            if not getattr(self, name):
                raise InputError("cascade", name, found=0, expected="more than 0")
        if self.chunk < 0.01:
            raise InputError("cascade", "chunk", found=self.chunk, expected="0.01 s or more")
        if self.turns and self.patience < self.ask_after:
            raise InputError(
                "cascade", "patience", found=self.patience, expected=f"ask_after ({self.ask_after}) or more"
            )
        if self.language not in DEFAULTS and not (self.recogniser and self.voice):
            raise InputError(
                "cascade",
                "language",
                found=self.language,
                expected=f"one of {', '.join(DEFAULTS)}, or a recogniser and a voice with it",
            )
        self._check_languages()

    @property
    def parts(self) -> Parts:
        """Return what it is made of, each part made once in a process."""
        cache = self._cache
        own_recogniser, own_voice, _ = DEFAULTS.get(self.language, ("", "", ""))
        turns = part_spec(self.turns, "turns") if self.turns else None
        return Parts(
            part("recognisers", part_spec(self.recogniser or own_recogniser, "recogniser"), cache),
            part("language_models", part_spec(self.model, "model"), cache),
            part("voices", part_spec(self.voice or own_voice, "voice"), cache),
            None if turns is None else part("turn_detectors", turns, cache),
        )

    @property
    def spec(self) -> Spec:
        """Return all options, with each part's own spec in place of its name."""
        options: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        del options["cache"]
        parts = self.parts
        options |= {
            "recogniser": parts.recogniser.spec.to_json(),
            "model": parts.model.spec.to_json(),
            "voice": parts.voice.spec.to_json(),
            "turns": parts.turns.spec.to_json() if parts.turns else None,
            "backchannel_text": self.says_while_listening,
        }
        return Spec("cascade", options, "1, silero-vad 6.2 windows")

    @property
    def traits(self) -> Traits:
        """Return that it computes on any clock but the plain virtual one, and takes back what it has sent by its id."""
        return Traits(
            RATE,
            RATE_OUT,
            timing="paced" if self.paced else "burst",
            flush="id",
            virtual=True,
            computes=True,
            source="utterance",
        )

    @property
    def says_while_listening(self) -> str:
        """Return its backchannel."""
        return self.backchannel_text or DEFAULTS.get(self.language, DEFAULTS["en"])[2]

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk once every part is loaded and has worked once. ``prompt`` is the model's instruction."""
        session = network(self._cache)
        parts, _ = await took(lambda: _warmed(self), 0)
        link = Link(self, parts, session, prompt)
        try:
            yield link
        finally:
            await link.stop()

    @property
    def _cache(self) -> Path:
        return self.cache or weights.default_cache({})

    def _check_languages(self) -> None:
        known = self.parts.recogniser.languages
        if self.language not in known:
            shown = ", ".join(known) if len(known) <= 8 else f"one of its {len(known)}"
            raise InputError("cascade", "language", found=self.language, expected=f"what its recogniser knows: {shown}")


@once_per_process
def _warmed(cascade: Cascade) -> Parts:
    """Return the cascade's parts after each has worked once, so that the first turn is as fast as the others."""
    parts = cascade.parts
    spoken = parts.voice.speak(cascade.says_while_listening)
    parts.recogniser.recognise(spoken.samples, spoken.rate, cascade.language)
    if parts.turns:
        parts.turns.finished(spoken.samples)
    for _ in parts.model.reply([Message("user", cascade.says_while_listening)], limit=1):
        pass
    return parts
