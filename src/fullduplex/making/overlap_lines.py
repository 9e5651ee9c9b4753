"""What is said over an answer: the user's backchannels, talk to somebody else, talk in the background.

A file of lines is a JSON object: ``language`` (``en`` unless told), and for each of ``user_backchannel``,
``talking_to_other`` and ``background_speech`` a list of lines. A line is a text, or an object with ``text`` and
``clip``, a recording (its path from the file's folder).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, no_others, read_json, text
from fullduplex.data.official import V15_TASKS
from fullduplex.errors import InputError
from fullduplex.making.script import Phrase

#: A line is an aside: nobody speaks longer over an answer. In characters.
LONGEST = 500


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of each task, in the file's order; ``folder`` is where their recordings lie."""

    path: Path
    language: str
    of: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Return the folder that paths of recordings start from."""
        return self.path.parent


def shipped_lines() -> Path:
    """Return the lines that come with the package: 100 of each of the three tasks, in English."""
    return Path(str(files(__package__).joinpath("overlaps.json")))


def read_lines(path: Path) -> Lines:
    """Return the lines of a file; raises :class:`InputError` on the first thing wrong in it."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(path, found=brief(value), expected=f"an object with {', '.join(V15_TASKS)}")
    no_others(value, ("language", *V15_TASKS), path)
    language = text(value.get("language", "en"), path, "language")
    if not re.fullmatch(r"[a-z]{2,3}", language):
        raise InputError(path, "language", found=brief(language), expected="a language code such as en or fr")
    return Lines(path, language, {task: _listed(value[task], path, task) for task in V15_TASKS if task in value})


def _listed(value: Any, path: Path, task: str) -> tuple[Phrase, ...]:
    if not isinstance(value, list) or not value:
        raise InputError(path, task, found=brief(value), expected="a list with at least one line")
    return tuple(_line(one, path, f"{task}[{at}]") for at, one in enumerate(value))


def _line(value: Any, path: Path, where: str) -> Phrase:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict) or "text" not in value or set(value) - {"text", "clip"}:
        raise InputError(path, where, found=brief(value), expected="a text, or an object with text and clip")
    said = " ".join(text(value["text"], path, f"{where}.text").split())
    clip = text(value.get("clip", ""), path, f"{where}.clip")
    if not any(c.isalnum() for c in said) or len(said) > LONGEST:
        raise InputError(path, f"{where}.text", found=brief(said), expected=f"words, at most {LONGEST} characters")
    if "\0" in clip:
        raise InputError(path, f"{where}.clip", found=brief(clip), expected="a file's path")
    return Phrase(said, clip)
