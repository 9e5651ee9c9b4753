"""The published benchmarks, each a declaration."""

from __future__ import annotations

from collections.abc import Mapping

from fullduplex import plugins
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.errors import PluginError


def find(text: str) -> tuple[Benchmark, ...]:
    """Return the benchmarks that ``NAME``, ``NAME@VARIANT`` or ``NAME@all`` stands for, the leading one first.

    Raises :class:`PluginError` with the known names where there is none.
    """
    name, _, variant = text.partition("@")
    known: Mapping[str, Benchmark] = plugins.find("benchmarks", name)()
    default = next(iter(known))
    if variant == "all":
        return tuple(known.values())
    wanted = default if variant in ("", "released") else variant
    if wanted not in known:
        raise PluginError(f"{name} has no variant {variant!r}; known: {', '.join(known)}, released (= {default}), all")
    return (known[wanted],)
