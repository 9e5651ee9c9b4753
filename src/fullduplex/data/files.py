"""JSON in and out, and files that are whole or not there at all."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from fullduplex.data.writers import is_abandoned, writers_mark
from fullduplex.errors import InputError

_PART = ".part"
#: No recording lasts a hundred days: a larger time is a sample index or milliseconds.
LATEST = 1e7


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a new name beside ``path`` to write to; on success the file takes ``path``'s name.

    A reader sees the old file or the whole new one. Raises :class:`InputError`
    where the folder cannot be written.
    """
    part = path.with_name(f".{writers_mark()}{_PART}")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a place to write to") from error
    finally:
        # Where nothing can be written nothing can be removed; that says less than why it could not be written.
        with suppress(OSError):
            part.unlink(missing_ok=True)


def clear_parts(folder: Path, *, below: bool = False) -> None:
    """Remove what :func:`replacing` was writing to in ``folder``, and ``below`` it if so, when its process was killed.

    Only its own names are touched, and of these only those whose process has ended; what cannot be removed stays.
    """
    for left in (folder.rglob if below else folder.glob)(f".*{_PART}"):
        if is_abandoned(left, left.name[1 : -len(_PART)]) and not left.is_dir():
            with suppress(OSError):
                left.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as JSON, whole or not at all; NaN and infinity raise ValueError."""
    try:
        data = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair: legal in JSON, but only as an escape
        data = json.dumps(value, indent=1, allow_nan=False).encode()
    with replacing(path) as part:
        part.write_bytes(data + b"\n")


def read_text_file(path: Path) -> str:
    """Return a UTF-8 file's text without a byte-order mark; raises :class:`InputError`."""
    try:
        if path.is_fifo():  # would wait for a writer that may never come
            raise InputError(path, found="a pipe", expected="a file")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            path, f"byte {error.start}", found="bytes that are not UTF-8", expected="UTF-8 text"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(path, found=_reason(error), expected="a file that can be read") from error


def read_json(path: Path) -> Any:
    """Return the value of a JSON file; raises :class:`InputError` on anything that is not strict JSON."""
    return parse_json(read_text_file(path), path)


def parse_json(text: str, path: str | os.PathLike[str], field: str = "", *, keys_once: bool = False) -> Any:
    """Return the value of a JSON text that came from ``field`` of ``path``.

    With ``keys_once`` an object that has a key twice is refused; else the last one counts.
    """

    def told_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise InputError(path, field, found=f"the key {brief(twice)} twice in one object", expected="each key once")
        return made

    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=told_once if keys_once else None)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InputError(path, f"{field}, {where}" if field else where, found=error.msg, expected="JSON") from error
    except ValueError as error:  # NaN, Infinity, or a whole number of thousands of digits
        raise InputError(path, field, found=str(error), expected="JSON with finite numbers") from error
    except RecursionError as error:
        raise InputError(path, field, found="lists nested without end", expected="JSON") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def brief(value: object) -> str:
    """Return a short text for ``value``, to be named in an error."""
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, list(value)[:6])) or 'nothing'}"
    if isinstance(value, list):
        return repr(value) if len(value) <= 3 and len(repr(value)) < 60 else f"a list of {len(value)}"
    return "null" if value is None else repr(value)[:80]


def number(value: object, path: Path, field: str, expected: str = "a finite number") -> float:
    """Return ``value`` as a float; raises :class:`InputError` unless it is a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(path, field, found=brief(value), expected=expected)
    try:
        as_float = float(value)
    except OverflowError:
        as_float = math.inf
    if not math.isfinite(as_float):
        raise InputError(path, field, found=brief(value), expected=expected)
    return as_float


def time(value: object, path: Path, field: str) -> float:
    """Return ``value`` as decimal seconds; raises :class:`InputError` where it cannot be that."""
    found = number(value, path, field, "a time in seconds")
    if abs(found) > LATEST:
        raise InputError(path, field, found=brief(value), expected="a time in seconds, below ten million")
    return found


def text(value: object, path: Path, field: str) -> str:
    """Return ``value``; raises :class:`InputError` unless it is a text."""
    if not isinstance(value, str):
        raise InputError(path, field, found=brief(value), expected="a text")
    return value


def pair(value: object, path: Path, field: str) -> tuple[object, object]:
    """Return the two members of a list; raises :class:`InputError` unless there are two."""
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(path, field, found=brief(value), expected="two times in seconds, [start, end]")
    return value[0], value[1]


def member(value: object, key: str, path: Path, field: str = "") -> Any:
    """Return ``value[key]``; raises :class:`InputError` where there is no such key."""
    if not isinstance(value, dict) or key not in value:
        raise InputError(path, field, found=brief(value), expected=f"an object with {key!r}")
    return value[key]


def no_others(value: Mapping[str, Any], names: Collection[str], path: Path, field: str = "") -> None:
    """Raise :class:`InputError` where ``value`` has a key that is none of ``names``: it would be passed over."""
    unknown = sorted(set(value) - set(names))
    if unknown:
        place = f"{field}.{unknown[0]}" if field else unknown[0]
        raise InputError(path, place, found="an unknown key", expected=f"of {', '.join(sorted(names))}")
