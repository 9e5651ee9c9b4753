"""Names from other people's files, as file names of ours."""

from __future__ import annotations

import hashlib
import re

_KEEP = re.compile(r"[\w.+@ =,-]", re.UNICODE)
_LONGEST = 120


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def as_file_name(name: str) -> str:
    """Return one path component that stands for ``name`` and for no other name.

    Letters and digits of any script stay; everything else, and a leading dot or
    ``-``, becomes ``%XX``, so no name can climb out of a folder, hide or read as an
    option. A name too long for a file system is cut and closed with its digest.
    """
    parts = [
        c if _KEEP.fullmatch(c) else "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "surrogatepass"))
        for c in name
    ]
    if parts and parts[0] in ".- ":
        parts[0] = f"%{ord(parts[0]):02X}"
    if parts and parts[-1] in ". ":
        parts[-1] = f"%{ord(parts[-1]):02X}"
    text = "".join(parts) or "%"
    if len(text.encode()) <= _LONGEST:
        return text
    head = text.encode()[: _LONGEST - 18].decode(errors="ignore").rstrip("%").rstrip(". ")
    return f"{head}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
