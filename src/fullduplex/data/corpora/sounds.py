"""The recordings of transcripts: found by name, wherever they lie."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data.audio import probe
from fullduplex.data.corpora.conversation import Recording
from fullduplex.data.corpora.recordings import files_below, is_audio
from fullduplex.data.corpora.spoken import composed
from fullduplex.data.corpora.two_channel import ROLES
from fullduplex.errors import printable

_BETWEEN = ("_", "-", ".", " ", "")


def plain(name: str) -> str:
    """Return a name so that it is equal however its accents and capitals are written."""
    return composed(name).casefold().strip()


@dataclass(frozen=True, slots=True)
class Heard:
    """Where two sides are heard, or None; ``whose``: the files' names tell which is whose. ``remark`` says what not."""

    recordings: tuple[Recording, Recording] | None = None
    whose: bool = False
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Sounds:
    """Audio files by the names that they have without suffix."""

    files: dict[str, list[Path]]

    @classmethod
    def below(cls, folders: Iterable[Path]) -> Sounds:
        """Return the audio files below some folders."""
        files: dict[str, list[Path]] = defaultdict(list)
        for folder in folders:
            for path in files_below(folder):
                if is_audio(path):
                    files[plain(path.stem)].append(path)
        return cls(dict(files))

    def named(self, name: str, near: Path) -> Path | None:
        """Return the file of that name that lies nearest to a transcript, None where there is none."""
        found = self.files.get(plain(name), [])
        return min(found, key=lambda path: (_apart(path.parent, near.parent), str(path)), default=None)

    def of(self, names: Sequence[str], speakers: tuple[str, str], near: Path) -> Heard:
        """Return where two speakers are heard.

        ``names``: what the conversation's recording may be called, the surest first. It is one file of two channels,
        or two of one, each named by its speaker or by its side.
        """
        remark = ""
        for name in names:
            if own := self._pair(name, speakers, near):
                return Heard(own, True)
            if both := self.named(name, near):
                channels = probe(both).channels
                if channels == 2:
                    return Heard((Recording(both, 0), Recording(both, 1)))
                what = "both voices in one channel" if channels == 1 else f"{channels} channels"
                remark = f"{printable(both.name, 60)} is not used: it has {what}, and a channel for each side is needed"
            for roles in ROLES:
                if pair := self._pair(name, roles, near):
                    return Heard(pair)
        return Heard(remark=remark)

    def _pair(self, name: str, ends: tuple[str, str], near: Path) -> tuple[Recording, Recording] | None:
        if not all(ends) or ends[0] == ends[1]:
            return None
        for between in _BETWEEN:
            found = [self.named(f"{name}{between}{end}", near) for end in ends]
            first, second = found
            if first and second and probe(first).channels == probe(second).channels == 1:
                return Recording(first), Recording(second)
        return None


def _apart(folder: Path, other: Path) -> int:
    """Return how many steps lead from one folder to another."""
    return len(Path(os.path.relpath(folder.absolute(), other.absolute())).parts)


def without_suffix(name: str) -> str:
    """Return a conversation's name without the suffix of the file that it once came from: ``5136.cha`` is ``5136``."""
    return re.sub(
        r"\.(?:cha|eaf|textgrid|wav|flac|sph|mp3|mp4|trs|stm|ctm|rttm)$", "", name.strip(), flags=re.IGNORECASE
    )
