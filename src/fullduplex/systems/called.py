"""A name becomes what the user wrote: ``package.module:name`` or ``path/to/file.py:name``."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError, PluginError, printable
from fullduplex.once import once_per_process


@once_per_process
def named(call: str, system: str, option: str, expected: str) -> Any:
    """Return what ``call`` names, for the ``option`` of a ``system`` that needs what is ``expected``.

    Raises :class:`InputError` where the name or what it names is none, :class:`PluginError` where it cannot be had.
    """
    where, colon, name = str(call).rpartition(":")
    if not colon or not where or not name:
        raise InputError(
            system, option, found=call or "none", expected="package.module:name or path/to/file.py:name",
            do=f"give it as {system}:{option}=./FILE.py:NAME",
        )  # fmt: skip
    try:
        found: Any = module_at(where)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        text = printable(f"{type(error).__name__}: {error}", 200)
        raise PluginError(f"system {system!r}: {printable(str(call), 120)} cannot be had: {text}") from error
    if not callable(found):
        raise InputError(system, option, found=call, expected=expected)
    return found


def module_at(where: str) -> Any:
    """Return the module of a name that can be imported, or of the path of a Python file."""
    if not where.endswith(".py"):
        return importlib.import_module(where)
    path = Path(where)
    loaded = importlib.util.spec_from_file_location(f"fullduplex_python_{path.stem}", path.resolve())
    if loaded is None or loaded.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {where}")
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    return module


__all__ = ["module_at", "named"]
