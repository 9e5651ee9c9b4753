"""A name becomes an object: plug-ins by entry point.

A family is an entry-point group ``fullduplex.FAMILY``; a package adds a member
by declaring one. Nothing is imported until a member is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from fullduplex.errors import PluginError, printable

FAMILIES = (
    "detectors",
    "recognisers",
    "turn_detectors",
    "language_models",
    "voices",
    "systems",
    "judges",
    "benchmarks",
    "engines",
    "exporters",
)
#: What to install for a member whose libraries are an extra.
EXTRAS = {
    "moonshine": "moonshine",
    "parakeet": "parakeet",
    "dask": "dask",
    "ray": "ray",
    "hibari": "voices",
    "pico": "voices",
    "kokoro": "voices",
    "piper": "piper",
    "vosk": "vosk",
    "smollm2": "cascade",
    "llamacpp": "cascade",
    "livekit": "livekit",
    "nova-sonic": "nova",
    "pipecat-webrtc": "webrtc",
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """A member of a family, not yet imported: its name, where it is, who ships it."""

    family: str
    name: str
    target: str
    package: str


@cache
def _members(family: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"fullduplex.{family}")}


def members(family: str) -> tuple[Plugin, ...]:
    """Return the members of ``family`` by name, without importing any."""
    return tuple(
        Plugin(family, point.name, point.value, point.dist.name if point.dist else "")
        for point in sorted(_members(family).values(), key=lambda point: point.name)
    )


def find(family: str, name: str) -> Any:
    """Return the object called ``name`` in ``family``.

    Raises :class:`PluginError` where no such member is known or its library is
    not installed; the sentence names what there is and what to add.
    """
    point = _members(family).get(name)
    if point is None:
        known = ", ".join(sorted(_members(family))) or "none"
        raise PluginError(f"no {_one(family)} is called {name!r}; known: {known}")
    module, _, attribute = point.value.partition(":")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        if error.name == module:
            raise PluginError(_stale(point, family)) from error
        extra = EXTRAS.get(name)
        way = f"install fullduplex[{extra}]" if extra else "install the package that provides it"
        raise PluginError(
            f"{_one(family)} {name!r} needs {error.name or error}, which is not installed; {way}"
        ) from error
    except Exception as error:
        why = printable(f"{type(error).__name__}: {error}", 300)
        raise PluginError(f"{_one(family)} {name!r} cannot be loaded from {module}: {why}") from error
    for part in filter(None, attribute.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise PluginError(_stale(point, family)) from error
    return found


def _stale(point: EntryPoint, family: str) -> str:
    package = point.dist.name if point.dist else "the package that provides it"
    return (
        f"{_one(family)} {point.name!r} is announced as {point.value}, which is not there: what is installed and its "
        f"code are of different versions; install {package} again"
    )


def make(family: str, name: str, options: Mapping[str, Any], cache: Path) -> Any:
    """Return a member of ``family`` made with ``options``; one that keeps weights is handed ``cache``.

    Raises :class:`PluginError` where there is no such member, or it has no such option (the sentence names
    those that it has), one is lacking that it needs (with the maker's own ``example``), or it cannot be made so.
    """
    maker = find(family, name)
    known = signature(maker).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        there = ", ".join(option for option in known if option not in _handed_in(maker)) or "none"
        raise PluginError(f"{_one(family)} {name!r} has no option {unknown[0]!r}; it has: {there}")
    lacking = [
        option
        for option, one in known.items()
        if one.default is one.empty and one.kind in _NAMED and option not in options and option != "cache"
    ]
    if lacking:
        shown = getattr(maker, "example", None)
        shown = shown if isinstance(shown, str) else ",".join(f"{option}=…" for option in lacking)
        raise PluginError(f"{_one(family)} {name!r} needs {' and '.join(lacking)}, such as '{name}:{shown}'")
    for option, value in options.items():
        expected = _unlike(known[option].annotation, value)
        if expected:
            found = printable(repr(value), 80)
            raise PluginError(f"{_one(family)} {name!r}, {option}: found {found}, expected {expected}")
    try:
        return maker(**options, **({"cache": cache} if "cache" in known else {}))
    except (TypeError, ValueError) as error:
        raise PluginError(f"{_one(family)} {name!r}: {error}") from error


def _handed_in(maker: Any) -> set[str]:
    """Return the parameters of ``maker`` that no spec gives: the cache, an item's names, keys."""
    hidden = {"cache", "names"}
    several = getattr(maker, "key_names", None)
    if callable(several):
        hidden |= set(several({}))
    elif callable(getattr(maker, "key_name", None)):
        hidden.add("key")
    return hidden


_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_NUMBER, _COUNT = "a number", "a whole number"


def _unlike(annotation: Any, value: Any) -> str:
    """Return what an option of this annotation has to be, where ``value`` is something else; else nothing."""
    kinds = set(str(getattr(annotation, "__name__", annotation)).split(" | "))
    if not kinds <= {"float", "int", "bool", "None"} or (value is None and "None" in kinds):
        return ""
    if "bool" in kinds:
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return _NUMBER if "float" in kinds else _COUNT
    return "" if "float" in kinds or isinstance(value, int) else _COUNT


def _one(family: str) -> str:
    return family.removesuffix("s").replace("_", " ")
