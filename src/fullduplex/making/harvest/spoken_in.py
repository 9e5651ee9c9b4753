"""The language of harvested items, by which they are heard, and set against a system's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.harvest import SUMMARY
from fullduplex.making.harvest.fdb.item import SCRIPT


def harvested_language(folder: Path) -> str:
    """Return the language of the harvested items in ``folder``: as harvest was told, else as most items say.

    "" where nothing tells it: what is in the folder was not harvested, or by an earlier release without
    ``--language``.
    """
    if not (folder / SUMMARY).is_file():
        return ""
    asked = _told(folder / SUMMARY).get("asked")
    if isinstance(asked, dict) and isinstance(asked.get("language"), str) and asked["language"]:
        return str(asked["language"])
    counts = Counter(str(_told(path).get("language") or "") for path in sorted(folder.glob(f"*/*/{SCRIPT}")))
    return counts.most_common(1)[0][0] if counts else ""


def _told(path: Path) -> dict[str, Any]:
    """Return the object in a file, an empty one where there is none: whoever reads the items says what is wrong."""
    try:
        told = read_json(path)
    except InputError:
        return {}
    return told if isinstance(told, dict) else {}
