"""A spec becomes a voice; a pool of voices becomes one voice for each speaker."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex import plugins
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.providers.voices import Voice
from fullduplex.providers.voices.kokoro import voices as kokoro_voices

#: How many voices speak a set unless told otherwise, as in Full-Duplex-Bench's synthetic sets.
POOL = 10


def open_voice(spec: Spec, *, cache: Path | None = None, keys: Mapping[str, str] | None = None) -> Voice:
    """Return the voice that ``spec`` names, with its options.

    ``cache`` holds the weights of those that need some. A voice behind a server is given the one of ``keys`` that has
    the voice's name, or that its option ``key_from=NAME`` names; a key is no option, so that none is
    ever written down. Raises :class:`PluginError` for an unknown voice, option or key.
    """
    if "key" in spec.options:
        raise InputError(f"voice {spec.name}", "key", expected="key_from=NAME, so that no key is written down")
    make = plugins.find("voices", spec.name)
    given: dict[str, Any] = dict(spec.options)
    taken = inspect.signature(make).parameters
    named = str(given.pop("key_from", ""))
    if named and not (keys or {}).get(named):
        raise PluginError(f"voice {spec.name!r} takes its key from {named}, which is not set")
    if "key" in taken:
        given["key"] = (keys or {}).get(named or spec.name, "")
    if "cache" in taken:
        given["cache"] = cache
    try:
        voice: Voice = make(**given)
    except TypeError as error:
        known = ", ".join(name for name in taken if name not in ("cache", "key")) or "none"
        refused = ", ".join(name for name in given if name not in taken) or f"these options ({error})"
        raise PluginError(f"voice {spec.name!r} does not take {refused}; its options: {known}") from error
    return voice


def default_pool(language: str, seed: int, size: int = POOL) -> tuple[Spec, ...]:
    """Return the voices that speak ``language`` unless told otherwise: ``size`` of Kokoro's, drawn by ``seed``.

    ``en``: of its 28 English voices; ``fr``: its one French voice; else Pico's of that language.
    Raises :class:`InputError` for a language that no embedded voice has.
    """
    if language == "fr":
        return (Spec("kokoro", {"voice": "ff_siwis"}),)
    if language == "en":
        names = [name for name in kokoro_voices() if name[0] in "ab"]
        drawn = np.random.default_rng(seed).permutation(len(names))[:size]
        return tuple(Spec("kokoro", {"voice": names[i]}) for i in sorted(int(i) for i in drawn))
    pico = {"de": "de-DE", "es": "es-ES", "it": "it-IT"}
    if language not in pico:
        raise InputError("--voice", found="none", expected=f"a voice for {language!r}; no embedded one speaks it")
    return (Spec("pico", {"language": pico[language]}),)


def voice_for(speaker: str, pool: Sequence[Spec], seed: int) -> Spec:
    """Return the voice that ``seed`` gives ``speaker``: the same whoever else speaks."""
    if not pool:
        raise InputError("--voice", found="no voice", expected="at least one")
    return pool[int(np.random.default_rng([seed, zlib.crc32(speaker.encode("utf-8", "replace"))]).integers(len(pool)))]
