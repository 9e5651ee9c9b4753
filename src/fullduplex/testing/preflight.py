"""Whether a system is ready to be driven: one short talk before many long ones.

Its key, its server, the handshake, sound both ways, how the sound comes against what the driver declares, what is in
effect, and what a benchmark would cost. What is measured is one talk; what many talks show is conformance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np

from fullduplex.driving.clock import Clock
from fullduplex.driving.cues import AUDIBLE, at
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.keep import plain
from fullduplex.driving.link import System, Traits
from fullduplex.driving.observe import receive_factor, samples_received
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.driving.prices import Prices, dollars
from fullduplex.driving.usage import usage_of
from fullduplex.errors import ConversationError, FullDuplexError, InputError, PluginError, printable
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.systems.pages import no_server, way_for
from fullduplex.systems.refusals import refusal_of

Outcome = Literal["ok", "remark", "missing"]
#: When the user begins to speak.
SPEAKS_AT = ms(500)
#: A system that sends at about real time sends no faster than this, and one that sends ahead no slower.
AHEAD_FROM = 1.5
#: Who sends for a greater share of the time than this sends its silence too.
CONTINUOUS_FROM = 0.8
#: A server that takes no connection within this is not there (seconds).
CONNECTS_WITHIN = 10.0
#: What it means where a system does not keep to the timing that its driver declares, and what to do.
_AHEAD_OF_TIME = (
    "what came ahead waits to be heard, which such a server does not reckon with when it is interrupted, so that it "
    "would seem to stop late; look whether this is the server that the driver is for, and have it send at real time"
)
_NO_FRAMES = (
    "the lag of its frames cannot be told from their number; look whether this is the server that the driver is for, "
    "and whether it keeps up with real time"
)
#: How often a connection is opened to see how long it takes.
CONNECTS = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at: ``told`` in words, ``values`` for machines."""

    name: str
    outcome: Outcome
    told: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"check": self.name, "outcome": self.outcome, "told": self.told, **plain(self.values)}


@dataclass(frozen=True, slots=True)
class Preflight:
    """All that was looked at, in order; ``settings`` are those in effect, empty where no talk came about."""

    checks: tuple[Checked, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[Checked, ...]:
        """Return what is missing."""
        return tuple(check for check in self.checks if check.outcome == "missing")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What would be driven: so many items that last so many seconds each."""

    items: int = 100
    lasts: float = 30.0


def preflight(
    system: System,
    clock: Clock,
    *,
    lasts: int = seconds(8),
    say: Samples | None = None,
    prompt: str = "",
    prices: Prices | None = None,
    benchmark: Benchmark | None = None,
    charged: bool = True,
) -> Preflight:
    """Return what one talk of ``lasts`` microseconds with ``system`` shows.

    ``say`` is what the user says (float32 at ``rate_in``), sound like speech without. A talk that cannot be held, a
    server that is not there, and a system from which no sound comes are missing; what declares one thing and does
    another is a remark where the numbers stay right, and missing where they would not. ``charged``: whether somebody
    may ask money for a talk: of one for which nobody does, and without ``prices``, nothing is said on its cost.
    """
    from fullduplex.driving.clock import run_on

    looked = _looked(system, lasts, say, prompt)
    found, talk = run_on(clock, looked)
    if talk is None or not (charged or prices):
        return found
    return replace(found, checks=(*found.checks, _cost(talk, prices, benchmark or Benchmark())))


async def _looked(
    system: System,
    lasts: int,
    say: Samples | None,
    prompt: str,
) -> tuple[Preflight, Talk | None]:
    from fullduplex.testing.probes import like_speech

    checks = [*_key_sent(system), *await _reached(system)]
    if any(check.outcome == "missing" for check in checks):
        return Preflight(tuple(checks)), None
    said = like_speech(system.traits.rate_in) if say is None else say
    talk, error = await _held(system, said, lasts, prompt)
    if error is not None:
        checks.append(_broke(system, error, talk))
    if talk is None:
        return Preflight(tuple(checks)), None
    checks += [
        Checked("handshake", "ok", f"ready after {in_seconds(talk.handshake):.3f} s", _in_s(handshake=talk.handshake)),
        _heard_us(talk),
        *_came(talk, system.traits, given=say is not None),
        _instruction(talk, prompt),
        _limits(system.traits),
    ]
    return Preflight(tuple(checks), plain(talk.ready.settings)), talk


async def _held(system: System, say: Samples, lasts: int, prompt: str) -> tuple[Talk | None, Exception | None]:
    try:
        return await drive(system, [Turn(say, at(SPEAKS_AT))], length=lasts, prompt=prompt), None
    except BrokenTalk as error:
        return error.talk, error
    except (ConversationError, InputError, PluginError) as error:
        return None, error


async def _reached(system: System) -> list[Checked]:
    """Return whether somebody listens where the system's door is; nothing of a system without a door."""
    door = getattr(system, "door", None)
    try:
        url = door("").url if callable(door) else ""
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme in ("wss", "https") else 80)
    except ConversationError as error:
        return [Checked("server", "missing", printable(str(error)))]
    except (AttributeError, ValueError):
        return []
    if not host:
        return []
    where, took = f"{printable(host)}:{port}", []
    for _ in range(CONNECTS):
        began = perf_counter()
        try:
            async with asyncio.timeout(CONNECTS_WITHIN):
                _, writer = await asyncio.open_connection(host, port)
        except TimeoutError:
            return [Checked("server", "missing", f"{where} takes no connection within {CONNECTS_WITHIN:g} s")]
        except OSError as error:
            reason = printable(error.strerror or str(error))
            told = f"{where} takes no connection: {reason}; {way_for(system)}"
            return [Checked("server", "missing", told, {"server": where})]
        took.append(perf_counter() - began)
        writer.close()
    trip = sorted(took)[len(took) // 2]
    told = f"{where} takes connections; a round trip takes {trip * 1_000:.1f} ms"
    return [Checked("server", "ok", told, {"server": where, "round_trip": round(trip, 6)})]


def _key_sent(system: System) -> list[Checked]:
    """Return a remark where ``system`` has a key that does not travel to where it is asked; nothing where it does."""
    door, key = getattr(system, "door", None), getattr(system, "key", "")
    if not callable(door) or not (key or getattr(system, "key_file", None)):
        return []
    try:
        found = door("")
        parts = urlsplit(found.url)
    except (FullDuplexError, AttributeError, ValueError):
        return []
    within = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme not in ("ws", "http") or within or (key and key in f"{found.url} {dict(found.headers)}"):
        return []
    told = "not sent: a key travels only over an encrypted line (wss:// or https://) or within this machine"
    return [Checked("key", "remark", told)]


def _broke(system: System, error: Exception, talk: Talk | None) -> Checked:
    refusal = refusal_of(error)
    if refusal is not None and refusal.passing:
        when = "" if refusal.after is None else f"; it asks to wait {refusal.after:.0f} s"
        return Checked("talk", "missing", f"the server has no room now{when}: {error}", {"retry_after": refusal.after})
    if talk is not None and talk.pacing.frames:
        return Checked("talk", "missing", f"it broke: {error}")
    way = no_server(error, system)
    if not way and getattr(system, "url", None) == "" and not getattr(system, "key_name", None):
        way = "; another server may be at the usual address: say where yours runs with url="
    return Checked("talk", "missing", f"it could not begin: {error}{way}")


def _heard_us(talk: Talk) -> Checked:
    sent, worst = in_seconds(talk.duration), talk.pacing.worst
    told = f"{sent:.1f} s sent at {talk.user_rate} Hz, {talk.pacing.frames} frames, the latest {worst / 1_000:.1f} ms"
    values = {"sent": sent, "rate": talk.user_rate, "worst_lateness": in_seconds(worst), "slipped": talk.pacing.slipped}
    if talk.pacing.late:
        return Checked("audio in", "remark", f"{told} late: this machine is too busy to drive it truthfully", values)
    return Checked("audio in", "ok", f"{told} late", values)


def _came(talk: Talk, traits: Traits, *, given: bool) -> list[Checked]:
    chunks = [event for event in talk.received if isinstance(event, Chunk) and len(event.samples)]
    if not chunks:
        way = "" if given else "; give --say FILE with a spoken question"
        return [Checked("audio out", "missing", f"no sound came{way}", {"received": 0.0})]
    came = samples_received(talk.received) / talk.rate
    factor = receive_factor(talk.received, talk.rate)
    # As long as it was there to send.
    could = max(1e-6, in_seconds(talk.duration))
    share = came / could
    loud = np.abs(talk.system) > AUDIBLE
    values: dict[str, Any] = {
        "rate": talk.rate,
        "chunks": len(chunks),
        "received": round(came, 3),
        "first": in_seconds(chunks[0].arrived),
        "level_dbfs": _level(talk.system[loud]),
        "silence": "sent" if share >= CONTINUOUS_FROM else "omitted",
    }
    level = "silence alone" if values["level_dbfs"] is None else f"{values['level_dbfs']:.1f} dBFS where it sounds"
    told = f"{came:.1f} s came at {talk.rate} Hz in {len(chunks)} pieces, {level}, its silence {values['silence']}"
    sound = Checked("audio out", "ok", told, values)
    if values["level_dbfs"] is None:
        way = "" if given else "; give --say FILE with a spoken question"
        sound = Checked("audio out", "remark", told + way, values)
    return [sound, _timing(traits, factor, share)]


def _level(samples: Samples) -> float | None:
    if not len(samples):
        return None
    return round(10 * float(np.log10(np.mean(np.square(samples, dtype=np.float64)))), 1)


def _timing(traits: Traits, factor: float | None, share: float) -> Checked:
    """Return whether the sound came as the driver declares."""
    declared = traits.timing
    seen = "at once" if factor is None else f"{factor:.2f} times real time"
    values = {"declared": declared, "receive_factor": factor, "share_of_time": round(share, 3)}
    if declared in ("aligned", "reply"):
        return Checked("timing", "ok", f"declared {declared}: a file, which has no pace", values)
    if declared != "burst" and factor is not None and factor > AHEAD_FROM:
        told = f"declared {declared}, and it sends {seen}: {_AHEAD_OF_TIME}"
        return Checked("timing", "missing", told, values)
    if declared == "sync" and share < CONTINUOUS_FROM:
        told = f"declared sync, a frame for a frame, and it sent for {100 * share:.0f} % of the time: {_NO_FRAMES}"
        return Checked("timing", "missing", told, values)
    if declared == "burst" and factor is not None and factor <= AHEAD_FROM:
        told = f"declared burst, and it sent {seen}: where sound is placed is right all the same"
        return Checked("timing", "remark", told, values)
    return Checked("timing", "ok", f"declared {declared}, sent {seen}", values)


def _instruction(talk: Talk, prompt: str) -> Checked:
    if talk.ready.settings.get("prompt_taken") is False:
        return Checked("instruction", "remark", "it takes none: its protocol has no place for one")
    return Checked("instruction", "ok", "it was given" if prompt else "none was given")


def _limits(traits: Traits) -> Checked:
    longest = f"{in_seconds(traits.longest):g} s at most" if traits.longest else "of no known limit"
    at_once = "one at a time" if traits.exclusive else "several at a time"
    told = f"sessions {longest}, {at_once}; clocks: {', '.join(traits.clocks)}; flush: {traits.flush}"
    values = {"longest": in_seconds(traits.longest) or None, "exclusive": traits.exclusive, "flush": traits.flush}
    return Checked("limits", "ok", told, values | {"clocks": list(traits.clocks)})


def _cost(talk: Talk, prices: Prices | None, benchmark: Benchmark) -> Checked:
    lasted = in_seconds(talk.duration)
    usage = usage_of(talk.notes, lasted)
    values: dict[str, Any] = {"usage": usage.to_json(), "items": benchmark.items, "item_seconds": benchmark.lasts}
    if prices is None:
        counted = "; it counts what it uses" if usage.counted else ""
        return Checked("cost", "ok", f"no price is known{counted}; give --price", values)
    values |= {"prices": prices.to_json()}
    cost = prices.cost(usage)
    if cost is None:
        lacking = prices.without_price(usage)
        why = f"no price of {', '.join(lacking)}" if lacking else "it did not count its tokens in this talk"
        return Checked("cost", "remark", f"not known: {why}", values)
    stated = prices.at_most(benchmark.lasts)
    each = stated if stated is not None else cost / max(lasted, 1e-6) * benchmark.lasts
    values |= {"cost": round(cost, 9), "benchmark": round(each * benchmark.items, 6)}
    told = (
        f"{dollars(cost)} for this talk; {benchmark.items} items of {benchmark.lasts:g} s "
        f"{'cost' if stated is not None else 'at this rate'} {dollars(each * benchmark.items)} ({prices.source})"
    )
    return Checked("cost", "ok", told, values)


def _in_s(**times: int) -> dict[str, float]:
    return {name: in_seconds(time) for name, time in times.items()}


def lasts_at_least(say: Samples | None, rate: int, lasts: int) -> int:
    """Return how long a talk has to be in which ``say`` is said and answered for four seconds: at least ``lasts``."""
    return lasts if say is None else max(lasts, SPEAKS_AT + len(say) * SECOND // rate + seconds(4))


__all__ = ["Benchmark", "Checked", "Preflight", "lasts_at_least", "preflight"]
