"""A spec becomes a system that can be driven."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fullduplex import plugins
from fullduplex.driving.link import System
from fullduplex.errors import InputError
from fullduplex.model.spec import Spec


def build(
    spec: Spec, cache: Path, names: Mapping[str, str] | None = None, keys: Mapping[str, str] | None = None
) -> System:
    """Return the system that ``spec`` names, made with its options.

    ``cache`` is handed to systems that keep weights. In a text option, ``{id}`` and ``{set}`` stand for the
    item's names in ``names``, so that a system may have a file for each item. ``keys`` are those that the caller has,
    by the names that :func:`key_name` gives; a system that names a file of its own for it is handed none. Raises
    :class:`PluginError` where there is no such system or it cannot be made so, naming the options there are, and
    :class:`InputError` for a key within the spec: a spec is kept with the run.
    """
    names = names or {}
    if "key" in spec.options:
        raise InputError(
            "--system", "key", found="a key", expected="none in a spec, which is kept with the run",
            do=f"set {key_name(spec) or 'it in the environment'}, or name a file that holds it with key_file",
        )  # fmt: skip
    if spec.name == "command":
        # Its line has to be split before names from elsewhere are put into it.
        made: System = plugins.make("systems", spec.name, {**spec.options, "names": names}, cache)
        return made
    options = {key: _filled(value, names) for key, value in spec.options.items()}
    given = (keys or {}).get(key_name(spec)) if keys and "key_file" not in options else None
    options |= {"key": given} if given else {}
    made = plugins.make("systems", spec.name, options, cache)
    return made


def key_name(spec: Spec) -> str:
    """Return the name under which a caller may have the key of the system that ``spec`` names; empty: it has none.

    A hosted system says it itself: ``key_name`` of its class, a function of the options.
    """
    told = getattr(plugins.find("systems", spec.name), "key_name", None)
    return str(told(spec.options)) if callable(told) else ""


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    for key, name in names.items():
        value = value.replace("{" + key + "}", name)
    return value


def named(text: str) -> Spec:
    """Return the spec that a command line names; raises :class:`InputError` for what is none."""
    try:
        return Spec.parse(text)
    except ValueError as error:
        raise InputError("--system", found=text, expected="NAME or NAME:option=value,option=value") from error
