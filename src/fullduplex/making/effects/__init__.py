"""Effects on the user's audio: a typed list in the item, drawn from seeds, none of which moves an onset.

Some effects add (noise, people, sounds), some change (rooms, channels, levels). What is added is measured
against the user's speech alone, as the effects before it changed it: a second noise is as loud
as if it were the only one.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import brief
from fullduplex.errors import InputError
from fullduplex.making.effects.echo import Echo
from fullduplex.making.effects.level import Clipping, Gain
from fullduplex.making.effects.loss import FrameLoss
from fullduplex.making.effects.members import SEED, read_members
from fullduplex.making.effects.noise import Babble, Noise
from fullduplex.making.effects.people import Background, OtherDirected
from fullduplex.making.effects.room import FarField, Reverb
from fullduplex.making.effects.sound import Load, Offline, Samples
from fullduplex.making.effects.sounds import Sounds
from fullduplex.making.effects.telephone import Telephone
from fullduplex.model.items import Event

__all__ = [
    "KINDS",
    "Affected",
    "Babble",
    "Background",
    "Clipping",
    "Echo",
    "Effect",
    "FarField",
    "FrameLoss",
    "Gain",
    "Noise",
    "OtherDirected",
    "Reverb",
    "Sounds",
    "Telephone",
    "affected",
    "apply",
    "apply_effects",
    "effect_from_json",
    "effects_from_json",
    "loads_from",
    "split",
]

Effect = (
    Noise
    | Babble
    | Reverb
    | FarField
    | Telephone
    | FrameLoss
    | Echo
    | Background
    | OtherDirected
    | Sounds
    | Clipping
    | Gain
)
KINDS: dict[str, type[Effect]] = {
    kind.kind: kind
    for kind in (
        Noise,
        Babble,
        Reverb,
        FarField,
        Telephone,
        FrameLoss,
        Echo,
        Background,
        OtherDirected,
        Sounds,
        Clipping,
        Gain,
    )
}
#: The greatest sample that 16 bits hold on both sides.
FULL = 32767 / 32768
_SLOWEST, _FASTEST = 4_000, 384_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Affected:
    """The user's audio after its effects.

    ``samples`` have the length of what was given. ``scaled`` is the factor by which the whole was made softer to stay
    within full scale, 1 where it was not. ``events`` say what was put where or lost, in order of time; ``notes`` what
    else a user should know; ``live`` are the effects that only a talk can apply.
    """

    samples: Samples
    scaled: float
    events: tuple[Event, ...]
    notes: tuple[str, ...]
    live: tuple[Echo, ...]


def effects_from_json(value: object, path: Path, where: str = "effects") -> tuple[Effect, ...]:
    """Return the effects of a JSON list; raises :class:`InputError` as :func:`effect_from_json` does."""
    if not isinstance(value, list):
        raise InputError(path, where, found=brief(value), expected="a list of effects")
    return tuple(effect_from_json(one, path, f"{where}[{place}]") for place, one in enumerate(value))


def effect_from_json(value: object, path: Path, where: str) -> Effect:
    """Return the effect that a JSON object at ``where`` in ``path`` describes.

    Raises :class:`InputError` on an unknown kind, on a member that is unknown, missing or not what it may be, and
    on members that cannot be together.
    """
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise InputError(path, where, found=brief(value), expected="an object with the 'kind' of an effect")
    kind = KINDS.get(value["kind"])
    if kind is None:
        raise InputError(path, f"{where}.kind", found=brief(value["kind"]), expected=f"one of {', '.join(KINDS)}")
    members = read_members(kind, value, path, where)
    try:
        return kind(**members)
    except InputError as error:
        field = f"{where}.{error.field}" if error.field else where
        raise InputError(path, field, found=error.found, expected=error.expected, do=error.do) from None


def split(effects: Sequence[Effect | Offline]) -> tuple[tuple[Offline, ...], tuple[Echo, ...]]:
    """Return the effects that samples at hand are enough for, and those that need a talk; each in its order."""
    offline = tuple(effect for effect in effects if not isinstance(effect, Echo))
    return offline, tuple(effect for effect in effects if isinstance(effect, Echo))


def apply(effect: Offline, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Samples:
    """Return ``samples`` after one effect, at the same length; beyond full scale where the effect is that loud."""
    made = effect.make(samples, rate, random=random, load=load).samples
    return samples + made if effect.adds else made


def apply_effects(
    effects: Sequence[Effect | Offline], samples: Samples, rate: int, *, seed: int, load: Load
) -> Samples:
    """Return the samples of :func:`affected`."""
    return affected(effects, samples, rate, seed=seed, load=load).samples


def affected(effects: Sequence[Effect | Offline], samples: Samples, rate: int, *, seed: int, load: Load) -> Affected:
    """Return ``samples`` (one voice at ``rate``) after ``effects``, in their order; live ones are handed back.

    Each effect draws from a generator of its own: ``default_rng([seed, how many equal effects come before it,
    CRC-32 of its JSON])``. One more effect, wherever it stands, changes no draw of the others. The same
    arguments give the same samples.

    Before a telephone and at the end, audio beyond full scale is scaled as a whole to a peak of
    32767/32768, which changes no ratio and no onset; a note says so. Nothing else limits but :class:`Clipping`.
    Raises :class:`InputError` on what is not one voice of finite samples at 4 to 384 kHz, and as the effects do.
    """
    _check(samples, rate)
    SEED.read(seed, Path("effects"), "seed")
    offline, live = split(effects)
    mix = voice = np.ascontiguousarray(samples, np.float32)
    scaled, events, notes = 1.0, list[Event](), list[str]()
    before = Counter[int]()
    for place, effect in enumerate(offline):
        crc = zlib.crc32(json.dumps(effect.to_json(), sort_keys=True).encode())
        draws = [seed, before[crc], crc]
        before[crc] += 1
        if isinstance(effect, Telephone):
            factor = _within_full_scale(mix)
            mix, voice, scaled = _softer(mix, factor), _softer(voice, factor), scaled * factor
        if effect.adds:
            made = effect.make(voice, rate, random=np.random.default_rng(draws), load=load)
            mix = mix + made.samples
        else:
            made = effect.make(mix, rate, random=np.random.default_rng(draws), load=load)
            if mix is voice:
                voice = made.samples
            elif any(later.adds for later in offline[place + 1 :]):
                # The speech alone goes the same way, with the same draws, so that its level is known.
                voice = effect.make(voice, rate, random=np.random.default_rng(draws), load=load).samples
            mix = made.samples
        if not np.isfinite(mix).all():
            raise InputError(f"effects[{place}]", found="samples beyond all numbers", expected="levels that sound has")
        events += made.events
        notes += made.notes
    factor = _within_full_scale(mix)
    mix, scaled = _softer(mix, factor), scaled * factor
    if scaled < 1:
        notes.append(f"all of it {-20 * np.log10(scaled):.2f} dB softer, to stay within full scale")
    in_order = sorted(events, key=lambda event: event.span)
    return Affected(mix, scaled, tuple(in_order), tuple(notes), live)


def loads_from(folder: Path, rate: int) -> Load:
    """Return a loader of recordings inside ``folder``, one voice at ``rate``: channels are averaged.

    It raises :class:`InputError` on a name that leads out of the folder, and as
    :func:`fullduplex.data.audio.read` does.
    """

    def load(name: str) -> Samples:
        try:
            path = (folder / name).resolve()
            inside = path.is_relative_to(folder.resolve())
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            raise InputError(folder, "audio", found=repr(name), expected="a recording inside this folder")
        samples, its_rate = audio.read(path)
        return audio.resample(samples, its_rate, rate)

    return load


def _check(samples: Samples, rate: int) -> None:
    if samples.ndim != 1:
        raise InputError("user audio", found=f"{samples.ndim} dimensions", expected="one voice")
    if not _SLOWEST <= rate <= _FASTEST:
        raise InputError("user audio", found=f"{rate} Hz", expected=f"{_SLOWEST} to {_FASTEST} Hz")
    if not np.isfinite(samples).all():
        raise InputError("user audio", found="NaN or infinity", expected="finite samples")


def _within_full_scale(samples: Samples) -> float:
    """Return the factor, at most 1, that brings ``samples`` within full scale."""
    peak = float(np.abs(samples).max(initial=0.0))
    return FULL / peak if peak > 1 else 1.0


def _softer(samples: Samples, factor: float) -> Samples:
    return samples if factor == 1 else (samples * np.float32(factor)).astype(np.float32)
