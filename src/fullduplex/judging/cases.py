"""What is asked about one item, blind: a rubric, the parts that it shows, and the clips that are heard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fullduplex.data.files import brief
from fullduplex.errors import InputError
from fullduplex.judging.question import Request
from fullduplex.judging.rubric import Rubric
from fullduplex.model.spec import digest
from fullduplex.providers.weights import sha256

#: What a judge reads where a system's name was said.
MASK = "the system"
#: What separates the parts of a name may be written, spoken or recognised in many ways.
_SEPARATORS = re.compile(r"[\s_\-./:]+")
_JOINED = r"[\s_\-./:]*"


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked about one item.

    ``key`` names the item for the one who asks; it is never shown and counts for nothing. ``fields`` are texts, of
    which the rubric shows its own; ``clips`` are audio files, which only a rubric that hears makes use of.
    ``masked`` are the names that :func:`blind` has taken out of the fields. ``votes``: it needs at least so many.
    """

    key: str
    rubric: Rubric
    fields: Mapping[str, str]
    clips: tuple[Path, ...] = ()
    masked: tuple[str, ...] = field(default=())
    votes: int = 1

    @property
    def shown(self) -> dict[str, str]:
        """Return the fields that go to the judge, in the rubric's order."""
        return {name: self.fields[name] for name in self.rubric.fields if name in self.fields}

    def texts(self) -> dict[str, str]:
        """Return ``shown``; raises :class:`InputError` where a field is no text."""
        for name, value in self.shown.items():
            if not isinstance(value, str):
                raise InputError(self.key, f"field {name}", found=brief(value), expected="a text")
        return self.shown

    @property
    def heard(self) -> tuple[Path, ...]:
        """Return the clips that go to the judge: none where the rubric reads only."""
        return self.clips if self.rubric.hears else ()

    def clip_digests(self) -> tuple[str, ...]:
        """Return the SHA-256 of each clip that goes to the judge; raises :class:`InputError` on one that cannot be."""
        return tuple(map(_content, self.heard))

    def asked(self) -> str:
        """Return the digest of all that is asked: rubric, fields, and the content of the clips.

        Equal questions have equal digests, in whatever run and under whatever name; one word more makes another.
        Raises :class:`InputError` on a clip that cannot be read and on a field that is no text.
        """
        return digest([self.rubric.digest, self.texts(), list(self.clip_digests())])


def prompt_digest(request: Request) -> str:
    """Return the digest of the two texts of ``request``: what the rubric's template and the fields became."""
    return digest([request.system, request.user])


def leaks(case: Case, names: Iterable[str]) -> list[str]:
    """Return those of ``names`` that a judge would read in the fields of ``case``.

    A name is found in any case, as a word of its own, however its parts are joined: ``freeze-omni`` in
    "I am Freeze Omni". Passed over are names that a talk holds without meaning the system: shorter than three
    characters without a digit among letters (``a``, ``it``), and bare numbers. Raises :class:`InputError` where a
    field is no text.
    """
    return [
        name
        for name in dict.fromkeys(names)
        if _tells(name) and any(re.search(_as_said(name), text, re.IGNORECASE) for text in case.texts().values())
    ]


def blind(case: Case, names: Iterable[str]) -> Case:
    """Return ``case`` with each of ``names`` as "the system" wherever a judge would read it, and told in ``masked``.

    A system says its own name ("I'm Moshi"): to refuse such an item would drop a real answer, to send it would tell
    the judge whom it judges. Sound is not masked. What :func:`leaks` passes over stays.
    """
    found = leaks(case, names)
    if not found:
        return case
    # In one pass, the longer first: a name may hold another one, and so may what stands in its place.
    every = re.compile("|".join(_as_said(name) for name in sorted(found, key=len, reverse=True)), re.IGNORECASE)
    fields = {part: every.sub(MASK, text) for part, text in case.texts().items()}
    return replace(case, fields={**case.fields, **fields}, masked=(*case.masked, *found))


def _tells(name: str) -> bool:
    plain = _SEPARATORS.sub("", name)
    return any(map(str.isalpha, plain)) and (len(plain) >= 3 or any(map(str.isdigit, plain)))


def _as_said(name: str) -> str:
    parts = (re.escape(part) for part in _SEPARATORS.split(name) if part)
    return rf"(?<!\w){_JOINED.join(parts)}(?!\w)"


def _content(path: Path) -> str:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise InputError(path, found="no file", expected="a clip that can be read")
    try:
        return sha256(path)
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a clip that can be read") from error
