"""A spec becomes a system that can be driven."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fullduplex import plugins
from fullduplex.driving.link import System
from fullduplex.errors import InputError
from fullduplex.model.spec import Spec
from fullduplex.systems.catalogue import check_name, with_checkpoint

#: A URL that has NAME:PASSWORD@ before its host.
_PASSWORD = re.compile(r"\s*[a-z][a-z0-9+.-]*://[^/?#]*@", re.IGNORECASE)


def build(
    spec: Spec, cache: Path, names: Mapping[str, str] | None = None, keys: Mapping[str, str] | None = None
) -> System:
    """Return the system that ``spec`` names, made with its options.

    ``cache`` is handed to systems that keep weights. In a text option, ``{id}`` and ``{set}`` stand for the
    item's names in ``names``, so that a system may have a file for each item. ``keys`` are those that the caller has,
    by the names that :func:`key_names` gives; a system that names a file of its own for it is handed none. Raises
    :class:`PluginError` where there is no such system or it cannot be made so, naming the options there are, and
    :class:`InputError` for a key within the spec: a spec is kept with the run.
    """
    names = names or {}
    check_name(spec)
    pinned = with_checkpoint(spec)
    if pinned is not spec:
        # The checkpoint says all that the source's name does.
        spec = Spec(spec.name, {key: value for key, value in pinned.options.items() if key != "preset"}, spec.revision)
    variables = key_names(spec)
    for option in ("key", *variables):
        if option in spec.options:
            raise InputError(
                "--system", option, found="a key", expected="none in a spec, which is kept with the run",
                do=f"set {variables.get(option) or 'it in the environment'}{_or_a_file(spec)}",
            )  # fmt: skip
    for option, value in spec.options.items():
        if isinstance(value, str) and _PASSWORD.match(value):
            raise InputError(
                "--system", option, found="a password within a URL",
                expected="none in a spec, which is kept with the run",
                do="leave it out; a system that sends a token reads it from key_file",
            )  # fmt: skip
    if spec.name == "command":
        # Its line has to be split before names from elsewhere are put into it.
        made: System = plugins.make("systems", spec.name, {**spec.options, "names": names}, cache)
        return made
    options = {key: _filled(value, names) for key, value in spec.options.items()}
    if keys and "key_file" not in options:
        options |= {option: keys[name] for option, name in variables.items() if keys.get(name)}
    made = plugins.make("systems", spec.name, options, cache)
    return made


def key_name(spec: Spec) -> str:
    """Return the name under which a caller may have the key of the system that ``spec`` names; empty: it has none.

    A hosted system says it itself: ``key_name`` of its class, a function of the options.
    """
    told = getattr(plugins.find("systems", spec.name), "key_name", None)
    return str(told(spec.options)) if callable(told) else ""


def key_names(spec: Spec) -> dict[str, str]:
    """Return for each option that takes a key the name under which a caller may have it.

    Of a system with one key that is ``key``, under :func:`key_name`; one with several says it itself: ``key_names``
    of its class, a function of the options.
    """
    told = getattr(plugins.find("systems", spec.name), "key_names", None)
    if callable(told):
        return {str(option): str(name) for option, name in told(spec.options).items()}
    name = key_name(spec)
    return {"key": name} if name else {}


def hosted(spec: Spec) -> bool:
    """Return whether the system is asked at its vendor's own address, with the vendor's key."""
    return bool(key_names(spec)) and not any(spec.options.get(option) for option in ("url", "base_url"))


def needs_keys(spec: Spec, keys: Mapping[str, str]) -> None:
    """Raise :class:`InputError` where a hosted system needs a key that is neither among ``keys`` nor in a file."""
    if not hosted(spec) or spec.options.get("key_file"):
        return
    optional = getattr(plugins.find("systems", spec.name), "optional_keys", ())
    lacking = [name for option, name in key_names(spec).items() if option not in optional and not keys.get(name)]
    if lacking:
        raise InputError(
            f"--system {spec.name}", expected=f"{' and '.join(lacking)} in the environment or in a .env file here",
            do=f"set {'them' if len(lacking) > 1 else 'it'}{_or_a_file(spec)}",
        )  # fmt: skip


def _or_a_file(spec: Spec) -> str:
    """Return the other way to give a key, where the system has an option for it."""
    has_one = "key_file" in signature(plugins.find("systems", spec.name)).parameters
    return ", or name a file that holds it with key_file" if has_one else ""


def is_charged(spec: Spec) -> bool:
    """Return whether somebody may ask money for a talk: it takes a vendor's key, and not from within this machine."""
    if not key_names(spec):
        return False
    url = str(spec.options.get("url") or spec.options.get("base_url") or "")
    try:
        return urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return True


def access_of(spec: Spec) -> str:
    """Return how a system can be had, as it says itself: ``open`` or ``closed``; empty where it does not say.

    ``access`` of its class: a text, or a function of the options. One that is asked at its vendor's own address with
    the vendor's key is closed unless it says else.
    """
    told = getattr(plugins.find("systems", spec.name), "access", "")
    said = str(told(spec.options) if callable(told) else told)
    if said in ("open", "closed"):
        return said
    return "closed" if hosted(spec) else ""


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    for key, name in names.items():
        value = value.replace("{" + key + "}", name)
    return value


def named(text: str) -> Spec:
    """Return the spec that a command line names, with the checkpoint that a source's ``preset`` pins.

    Raises :class:`InputError` for what is none, and for a system of the sources that has another name here or cannot be
    driven.
    """
    try:
        spec = Spec.parse(text)
    except ValueError as error:
        raise InputError("--system", found=text, expected="NAME or NAME:option=value,option=value") from error
    check_name(spec)
    return with_checkpoint(spec)
