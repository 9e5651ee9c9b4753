"""The keys of hosted systems: handed in by the caller or read from a file that is named, and told to nobody."""

from __future__ import annotations

from pathlib import Path

from fullduplex.errors import InputError


def key_of(system: str, key: str, key_file: str) -> str:
    """Return ``key``, else what ``key_file`` holds, else nothing.

    Raises :class:`InputError` where that is no key of one line; the sentence does not tell it.
    """
    if not key and not key_file:
        return ""
    where, text = system, key
    if not key:
        where = key_file
        try:
            text = Path(key_file).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, RuntimeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "no text"
            raise InputError(key_file, "key_file", found=reason, expected="a file that holds the key") from error
    text = text.strip()
    if not text or not text.isprintable() or not text.isascii() or " " in text:
        raise InputError(where, "key", found="no key", expected="the key, in one line")
    return text


def without(key: str, text: str) -> str:
    """Return ``text`` without ``key``: a server may repeat it in its refusal."""
    return text.replace(key, "[key]") if key else text
