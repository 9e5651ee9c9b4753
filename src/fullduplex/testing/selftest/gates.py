"""What the self-test promises of itself, each with its number, and what it is worth where it cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fullduplex.model.spans import in_seconds, ms
from fullduplex.testing.selftest.score import Errors

State = Literal["kept", "limit", "broken", "too few"]
#: At least so many sounds are planted, of so many texts, in so many voices, over so many dB.
EVENTS, TEXTS, VOICES, RANGE, AT_MOST = 500, 40, 4, 20.0, 15
#: Clean onsets: their median and their 95th percentile. Onsets in noise: the 95th percentile.
CLEAN_MEDIAN, CLEAN_P95, NOISY_P95 = ms(8), ms(25), ms(60)
#: No sound was ever played so far from where it was planted: some samples.
DRIVER = ms(1)


@dataclass(frozen=True, slots=True)
class Gate:
    """A promise: what is measured, its value and its limit (in ``unit``), and what became of it.

    ``kept``; ``broken``; ``too few``: a quick run plants less than the promise is about; ``limit``: the number is
    not reached, and ``why`` is the measured reason.
    """

    name: str
    value: float | None
    limit: float
    unit: str
    state: State
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the gate as a JSON object."""
        return asdict(self)


def counts(planted: Mapping[str, Any], *, quick: bool) -> list[Gate]:
    """Return the gates on what was planted. A quick run is too small on purpose, and says so."""
    made = []
    for name, key, least, unit in (
        ("planted sounds", "sounds", EVENTS, ""),
        ("different utterances", "utterances", TEXTS, ""),
        ("voices", "voices", VOICES, ""),
        ("range of levels", "level_range", RANGE, "dB"),
    ):
        value = float(planted[key])
        state: State = "kept" if value >= least else "too few" if quick else "broken"
        made.append(Gate(f"{name}, at least", value, least, unit, state))
    most = float(planted["most_uses"])
    made.append(Gate("uses of one utterance, at most", most, AT_MOST, "", "kept" if most <= AT_MOST else "broken"))
    return made


def driver(errors: Errors) -> Gate:
    """Return the gate on the driver: how far any sound was played from where it was planted."""
    worst = errors.size_at(1.0)
    state: State = "kept" if worst is not None and worst <= DRIVER and not errors.absent else "broken"
    value = None if worst is None else in_seconds(worst)
    return Gate("driver, greatest error, at most", value, in_seconds(DRIVER), "s", state)


def clean(who: str, errors: Errors) -> list[Gate]:
    """Return the gates on refined onsets of clean speech."""
    made = []
    for name, share, limit in (("median", 0.5, CLEAN_MEDIAN), ("p95", 0.95, CLEAN_P95)):
        size = errors.size_at(share)
        state: State = "kept" if size is not None and size <= limit else "broken"
        value = None if size is None else in_seconds(size)
        made.append(Gate(f"{who}, refined, clean onsets, {name}, at most", value, in_seconds(limit), "s", state))
    return made


def noisy(who: str, condition: str, errors: Errors, buried: Errors, *, quick: bool) -> Gate:
    """Return the gate on refined onsets in noise.

    ``buried``: how long after its planted onset each sound can first be told from the noise. Where the number is not
    reached, the p95 must be within what clean speech is allowed of the p95 of that time; then the noise is
    the reason, and it is measured. Else the gate is broken. A quick run has too few sounds for a p95 in noise.
    """
    size, rises = errors.size_at(0.95), buried.size_at(0.95)
    name = f"{who}, refined, onsets in {condition} noise, p95, at most"
    if size is None:
        return Gate(name, None, in_seconds(NOISY_P95), "s", "broken", "no onset was found")
    if size <= NOISY_P95:
        return Gate(name, in_seconds(size), in_seconds(NOISY_P95), "s", "kept")
    late = sum(error > ms(30) for error in buried.known)
    why = (
        f"{late} of {buried.n} sounds cannot be told from the noise in their first 30 ms, even with all known of both: "
        f"the p95 of that time is {(rises or 0) / ms(1):.0f} ms"
    )
    state: State = "limit" if rises is not None and size <= rises + CLEAN_P95 else "too few" if quick else "broken"
    return Gate(name, in_seconds(size), in_seconds(NOISY_P95), "s", state, why)
