"""A ``.env`` file: a line for each name with its value. What is no such line is refused without being repeated."""

from __future__ import annotations

import re
from pathlib import Path

from fullduplex.data.files import read_text_file
from fullduplex.errors import InputError

#: A larger file (bytes) is none of keys.
_LARGEST = 1_000_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_env(path: Path) -> dict[str, str]:
    """Return the values of a ``.env`` file by name; the last of a name holds.

    Lines are ``NAME=value`` or ``export NAME=value``, the value bare or within one kind of quotes; empty lines and
    those that begin with ``#`` are none, and so is what follows a ``#`` and a space before it. Nothing is expanded.
    Raises :class:`InputError` with the number of a line that is no such line, and never with what is in it.
    """
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise InputError(path, found=f"{path.stat().st_size} bytes", expected=f"a file of keys, of {_LARGEST} at most")
    made: dict[str, str] = {}
    for number, line in enumerate(read_text_file(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.removeprefix("export ").strip().partition("=")
        name = name.strip()
        if not equals or not _NAME.fullmatch(name):
            raise InputError(path, f"line {number}", found="no NAME=value", expected="NAME=value, or # and a remark")
        found = _value(value.strip())
        if found is None:
            raise InputError(
                path, f"line {number}, {name}", found="a value that does not end or holds more than text",
                expected="a value in one line, bare or within quotes",
            )  # fmt: skip
        made[name] = found
    return made


def _value(text: str) -> str | None:
    """Return what a value is, None where it is none."""
    if text[:1] in ("'", '"'):
        inside, end, rest = text[1:].partition(text[0])
        rest = rest.strip()
        return inside if end and (not rest or rest.startswith("#")) and _sound(inside) else None
    bare = "" if text.startswith("#") else re.split(r"\s#", text, maxsplit=1)[0].strip()
    return bare if _sound(bare) and "'" not in bare and '"' not in bare else None


def _sound(text: str) -> bool:
    return text.isprintable()


__all__ = ["read_env"]
