"""JSON Schemas as vendors take them: closed objects, and no bounds where only lists of values are understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A range of whole numbers up to so long is written as a list of its values.
_LONGEST_LIST = 101


def closed(schema: Mapping[str, Any], *, bounds: bool = True) -> dict[str, Any]:
    """Return ``schema`` with every object closed and all of its members required, as strict modes want it.

    Without ``bounds``, a whole number between two becomes one of a list (up to 101 values) and other bounds are
    left to whoever reads the reply.
    """
    made = {key: _part(key, value, bounds) for key, value in schema.items()}
    if made.get("type") == "object" or "properties" in made:
        made.setdefault("properties", {})
        made["additionalProperties"] = False
        made["required"] = list(made["properties"])
    if not bounds:
        low, high = made.pop("minimum", None), made.pop("maximum", None)
        whole = made.get("type") == "integer" and isinstance(low, int) and isinstance(high, int)
        if whole and "enum" not in made and 0 <= high - low < _LONGEST_LIST:
            made["enum"] = list(range(low, high + 1))
        for key in ("exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "multipleOf", "pattern"):
            made.pop(key, None)
    return made


def _part(key: str, value: Any, bounds: bool) -> Any:
    if key == "properties" and isinstance(value, Mapping):
        return {name: closed(part, bounds=bounds) for name, part in value.items()}
    if key in ("items", "additionalProperties") and isinstance(value, Mapping):
        return closed(value, bounds=bounds)
    if key in ("anyOf", "allOf", "oneOf") and isinstance(value, list | tuple):
        return [closed(part, bounds=bounds) for part in value]
    return list(value) if isinstance(value, tuple) else value
