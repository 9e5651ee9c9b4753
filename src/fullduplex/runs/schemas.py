"""The JSON Schemas (draft 2020-12) of a run's files, shipped beside this module."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from fullduplex.errors import InputError

#: The files that have a schema, by name without ``.json``.
NAMES = ("run", "estimates", "item", "words", "speech", "talk", "judge")


def schema(name: str) -> dict[str, Any]:
    """Return the schema of ``NAME.json``; raises :class:`InputError` on a file that has none."""
    if name not in NAMES:
        raise InputError("schema", found=repr(name), expected=f"one of {', '.join(NAMES)}")
    found: dict[str, Any] = json.loads(files("fullduplex.runs").joinpath("schemas", f"{name}.json").read_bytes())
    return found
