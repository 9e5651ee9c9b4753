"""Events of a talk as JSON texts, as our own protocols write them: what a text means, and what cannot be read.

========  =========================================================================================
flush     ``scope``: None all, a text an id, a number an epoch
said      ``text``, ``who`` (system, user), ``id``, ``source``, ``words``: ``{text, timestamp}``
user_vad  ``speaking``, ``source``
note      ``kind``, ``data``
close     ``reason``
========  =========================================================================================

Times are decimal seconds. Keys and types may come in camelCase.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fullduplex.driving.link import Closed, Happening, Note, Said, UserVad
from fullduplex.driving.playout import Flush
from fullduplex.errors import printable
from fullduplex.model.spans import SECOND, seconds

#: A time further from zero than this (seconds; 285 years) is none.
_NO_TIME = (1 << 53) / SECOND
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def object_of(message: str) -> dict[str, Any] | None:
    """Return a JSON object with its keys as we spell them, whichever way they came; None for anything else."""
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return {
        _snake(key): _snake(item) if key == "type" and isinstance(item, str) else item for key, item in value.items()
    }


def ready_of(message: str | bytes) -> dict[str, Any] | None:
    """Return what the text ``ready`` holds, with which our own servers begin a talk; None for any other message."""
    told = object_of(message) if isinstance(message, str) else None
    return told if told is not None and told.get("type") == "ready" else None


def _snake(text: str) -> str:
    return _CAMEL.sub("_", text).lower()


def event_of(kind: Any, told: Mapping[str, Any]) -> Happening:
    """Return the event of a text; raises KeyError, TypeError or ValueError where a member is not as it has to be."""
    if kind == "flush":
        scope = told.get("scope")
        if scope is not None and type(scope) not in (str, int):
            raise TypeError(scope)
        return Flush(scope)
    if kind == "said":
        who = told.get("who", "system")
        if who not in ("system", "user"):
            raise ValueError(who)
        words = tuple((_text(w["text"]), *map(time_of, w["timestamp"])) for w in told.get("words", ()))
        if any(len(word) != 3 for word in words):
            raise ValueError(words)
        return Said(_text(told["text"]), who, _text(told.get("id", "")), words, 0, _time(told.get("source")))  # type: ignore[arg-type]
    if kind == "user_vad":
        return UserVad(bool(told["speaking"]), _time(told.get("source")))
    if kind == "note":
        return Note(_text(told["kind"]), dict(told.get("data") or {}))
    if kind == "close":
        return Closed(_text(told.get("reason", "")))
    return Note("unknown", {"type": printable(str(kind)), "members": [printable(key) for key in list(told)[:20]]})


def time_of(value: Any) -> int:
    """Return decimal seconds as a time; raises TypeError or ValueError for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    if not -_NO_TIME < value < _NO_TIME:
        raise ValueError(value)
    return seconds(value)


def _time(value: Any) -> int | None:
    return None if value is None else time_of(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def unreadable(message: str) -> Note:
    """Return the note of a text that cannot be understood."""
    return Note("unreadable", {"text": printable(message[:200]), "characters": len(message)})


__all__ = ["event_of", "object_of", "ready_of", "time_of", "unreadable"]
