"""What a loopback server does in a talk: what it says when, how its audio travels, and what goes wrong.

A behaviour is plain data, so it can be sent to a server in another process. Times are microseconds here
and decimal seconds in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds, ms, seconds
from fullduplex.systems.incoming import CODINGS, Coding
from fullduplex.testing.ogg import OpusStyle
from fullduplex.testing.watermark import BLOCK, BLOCKS

#: How audio is sent: at real time; ``burst`` times as fast; an output frame for each input frame, the
#: first of which only primes; a queued piece for each input frame; the user's own frames back.
Pace = Literal["paced", "burst", "sync", "per-input", "echo"]
_PACES: tuple[Pace, ...] = get_args(Pace)
_FLUSHES = ("none", "all", "id", "epoch")


@dataclass(frozen=True, slots=True)
class Utterance:
    """``length`` of watermark from ``block`` on, said at ``at``; the n-th of a talk has the id ``un``."""

    at: int
    length: int
    block: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it stands, text or bytes, at ``at``."""

    at: int
    message: str | bytes


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the server does; all times in microseconds from the moment it was ready.

    Speech: it says ``say`` at given times; ``answer`` after the end of the user's speech it says
    ``answer_length`` more; ``yields`` after the user's onset it stops, with a ``flush`` of that scope
    (paced without ``flush``: it goes quiet). ``flushes`` are ``(at, scope)``. ``late`` is how many
    chunks of a flushed utterance it still sends. ``done`` notes ``response.done`` behind each utterance.

    Travel: ``pace``, ``burst`` times real time, in ``chunk`` long pieces, each up to ``jitter`` later than it
    should come, seeded with ``seed``; ``silence`` fills the gaps between utterances; ``lost`` are numbers
    of pieces that never come; ``odd`` cuts samples in two. ``rtf`` is how many times real time a sync
    server computes on each frame, ``drops`` the input frames that it throws away, and ``primes`` whether the first
    only primes, else it is answered too. ``drift`` is how much
    faster its clock runs, and ``words`` how often it says a word with a time on it.

    Handshake: ``handshake`` long, or never with ``busy``; it announces ``rate`` and ``coding``.

    Faults: it ``closes`` with ``reason``, ``resets`` the connection, ``stalls`` (reads no more), ``floods``, at
    those times; it sends the ``messages`` as they stand. ``ping`` is how often it asks whether the client lives,
    and ``pong`` within which time it must be told.
    """

    say: tuple[Utterance, ...] = ()
    answer: int | None = None
    answer_length: int = seconds(1)
    yields: int | None = None
    flush: Literal["none", "all", "id", "epoch"] = "none"
    flushes: tuple[tuple[int, str | int | None], ...] = ()
    late: int = 0
    done: bool = False
    pace: Pace = "paced"
    burst: float = 8.0
    chunk: int = BLOCK
    jitter: int = 0
    seed: int = 0
    silence: bool = False
    lost: tuple[int, ...] = ()
    odd: bool = False
    rtf: float = 0.0
    drops: tuple[int, ...] = ()
    primes: bool = True
    drift: float = 0.0
    words: int = 0
    handshake: int = 0
    busy: bool = False
    rate: int = 24_000
    coding: Coding = "pcm16"
    opus: OpusStyle = field(default_factory=OpusStyle)
    closes: int | None = None
    reason: str = ""
    resets: int | None = None
    stalls: int | None = None
    floods: int | None = None
    messages: tuple[Sent, ...] = ()
    ping: int = 0
    pong: int = ms(500)

    def to_json(self) -> dict[str, Any]:
        """Return what differs from a server that says nothing, as JSON."""
        plain = Behaviour()
        told: dict[str, Any] = {}
        for name in (member.name for member in fields(self)):
            value = getattr(self, name)
            if value != getattr(plain, name):
                told[name] = _WRITE[name](value) if name in _WRITE else value
        return told


def behaviour_from_json(value: Any) -> Behaviour:
    """Return the behaviour that :meth:`Behaviour.to_json` wrote; raises :class:`InputError` for anything else."""
    if not isinstance(value, Mapping):
        raise InputError("behaviour", found=repr(value)[:80], expected="an object")
    given: dict[str, Any] = {}
    for name, told in value.items():
        if name not in _READ:
            raise InputError("behaviour", str(name), expected="one of " + ", ".join(_READ))
        try:
            given[name] = _READ[name](told)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError("behaviour", name, found=repr(told)[:80], expected=_expected(error)) from error
    return Behaviour(**given)


def _expected(error: Exception) -> str:
    return str(error) if isinstance(error, _UnfitError) else "a value as in the protocol"


class _UnfitError(ValueError):
    """A value that is none of those there are."""


def _one_of(choices: tuple[Any, ...]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in choices:
            raise _UnfitError(" or ".join(map(str, choices)))
        return value

    return read


def _within(low: float, high: float, make: Callable[[Any], Any] = float) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, bool) or not low <= float(value) <= high:
            raise _UnfitError(f"a number from {low:g} to {high:g}")
        return make(value)

    return read


_time = _within(0, 86_400, seconds)


def _maybe(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _utterances(value: Any) -> tuple[Utterance, ...]:
    made = tuple(Utterance(_time(u["at"]), _time(u["length"]), int(u.get("block", 0))) for u in value)
    for said in made:
        if said.block < 0 or said.block + -(-said.length // BLOCK) > BLOCKS:
            raise _UnfitError(f"blocks from 0 to {BLOCKS - 1}")
    return made


def _scope(value: Any) -> str | int | None:
    if value is not None and type(value) not in (str, int):
        raise _UnfitError("null, an id or an epoch")
    scope: str | int | None = value
    return scope


def _sent(value: Any) -> Sent:
    return Sent(_time(value["at"]), bytes.fromhex(value["hex"]) if "hex" in value else str(value["text"]))


def _told(sent: Sent) -> dict[str, Any]:
    text = sent.message
    return {"at": in_seconds(sent.at)} | ({"text": text} if isinstance(text, str) else {"hex": text.hex()})


def _rate(value: Any) -> int:
    rate = int(_within(8_000, 48_000, int)(value))
    if rate % 50:
        raise _UnfitError("a rate that 50 divides")
    return rate


def _style(value: Any) -> OpusStyle:
    return OpusStyle(
        seconds(_one_of((0.02, 0.04, 0.06))(value.get("packet", 0.02))),
        _within(1, 20, int)(value.get("packets", 1)),
        _within(0, 65_535, int)(value.get("pre_skip", 312)),
        _within(1, 192_000, int)(value.get("granules", 48_000)),
        bool(value.get("header_alone", True)),
        bool(value.get("split", False)),
    )


def _style_told(style: OpusStyle) -> dict[str, Any]:
    told = {member.name: getattr(style, member.name) for member in fields(style)}
    return told | {"packet": in_seconds(style.packet)}


_WHOLE = _within(0, 10**9, int)
_TIMES = ("answer_length", "chunk", "jitter", "words", "handshake", "ping", "pong")
_MOMENTS = ("answer", "yields", "closes", "resets", "stalls", "floods")
_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TIMES, _time),
    **dict.fromkeys(_MOMENTS, _maybe(_time)),
    **dict.fromkeys(("done", "silence", "odd", "busy", "primes"), bool),
    **dict.fromkeys(("late", "seed"), _WHOLE),
    **dict.fromkeys(("lost", "drops"), lambda value: tuple(map(_WHOLE, value))),
    "say": _utterances,
    "flush": _one_of(_FLUSHES),
    "flushes": lambda value: tuple((_time(at), _scope(scope)) for at, scope in value),
    "pace": _one_of(_PACES),
    "burst": _within(0.01, 1e6),
    "rtf": _within(0, 100),
    "drift": _within(-0.5, 0.5),
    "rate": _rate,
    "chunk": _within(0.001, 60, seconds),
    "coding": _one_of(CODINGS),
    "opus": _style,
    "reason": str,
    "messages": lambda value: tuple(map(_sent, value)),
}
_WRITE: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TIMES, in_seconds),
    **dict.fromkeys(_MOMENTS, lambda value: None if value is None else in_seconds(value)),
    **dict.fromkeys(("lost", "drops"), list),
    "say": lambda value: [{"at": in_seconds(u.at), "length": in_seconds(u.length), "block": u.block} for u in value],
    "flushes": lambda value: [[in_seconds(at), scope] for at, scope in value],
    "opus": _style_told,
    "messages": lambda value: list(map(_told, value)),
}
