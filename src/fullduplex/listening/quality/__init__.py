"""How a voice sounds: as listeners would judge it, how loud it is, and whether another's echo is in it.

:func:`quality` is the door for one recording or one stretch of speech. What needs two
recordings or three stands beside it: ``aecmos.aecmos``, ``echo.echo_level``, ``loudness.level_change``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import PluginError, printable
from fullduplex.listening.quality import dnsmos, loudness, networks, utmos
from fullduplex.listening.quality.measured import Measured
from fullduplex.model.spec import Spec

Quality = Callable[[NDArray[np.floating[Any]], int, Path], Measured]


def _loudness(samples: NDArray[np.floating[Any]], rate: int, cache: Path) -> Measured:
    return loudness.loudness(samples, rate)


#: What can be measured of one recording, by name: each takes samples, their rate, and the cache of weights.
KNOWN: dict[str, Quality] = {"dnsmos": dnsmos.dnsmos, "loudness": _loudness, "utmos": utmos.utmos}


def quality(samples: NDArray[np.floating[Any]], rate: int, names: Sequence[str], cache: Path) -> Measured:
    """Return what ``names`` say of one voice, flat: ``dnsmos_ovrl``, ``loudness_lufs``, ``utmos_mos`` and so on.

    What cannot be measured is in ``absent`` with its reason, under the same names. The same
    samples give the same numbers on every engine: one thread each, nothing drawn, no clock.
    Raises :class:`PluginError` on a name that is not in ``KNOWN`` and where weights or libraries
    are missing, :class:`InputError` on samples that are not one finite voice.
    """
    values: dict[str, float] = {}
    absent: dict[str, str] = {}
    for name in _checked(names):
        found = KNOWN[name](samples, rate, cache).under(name)
        values |= found.values
        absent |= found.absent
    return Measured(values, absent)


def spec(names: Iterable[str], cache: Path) -> Spec:
    """Return what :func:`quality` with ``names`` is, for results to carry: the names, and the bytes that judge.

    Raises :class:`PluginError` as :func:`quality` does.
    """
    asked = sorted(set(_checked(names)))
    return Spec("quality", {"names": asked}, ", ".join(filter(None, (_what(name, cache) for name in asked))))


def _what(name: str, cache: Path) -> str:
    if name == "dnsmos":
        return networks.revision(dnsmos.MODEL)
    if name == "utmos":
        return utmos.revision(cache)
    try:
        return f"BS.1770-4 by pyloudnorm {version('pyloudnorm')}"
    except PackageNotFoundError as error:
        raise PluginError("loudness needs pyloudnorm, which is not installed; install pyloudnorm") from error


def _checked(names: Iterable[str]) -> Iterable[str]:
    asked = list(names)
    for name in asked:
        if name not in KNOWN:
            raise PluginError(f"no measure of quality is called {printable(repr(name))}; known: {', '.join(KNOWN)}")
    return asked
