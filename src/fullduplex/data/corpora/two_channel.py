"""Two-channel audio alone: a file of two channels, or two files of one, is a conversation.

Two files are a pair where their names differ in the last part that tells a side: ``call_agent.wav`` and
``call_caller.wav``, ``007-A.flac`` and ``007-B.flac``. Nothing is known of what was said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from fullduplex.data.audio import probe
from fullduplex.data.corpora.conversation import Conversation, Recording, Side
from fullduplex.data.corpora.recordings import files_below, is_audio, licence_in
from fullduplex.errors import InputError, printable

FORMAT = "two-channel"
#: What names a side, in pairs; the first of each is side A.
ROLES = (
    ("a", "b"), ("1", "2"), ("0", "1"), ("ch0", "ch1"), ("ch1", "ch2"), ("left", "right"), ("l", "r"),
    ("agent", "caller"), ("agent", "customer"), ("agent", "client"), ("operator", "caller"), ("user", "system"),
    ("interviewer", "interviewee"), ("speaker1", "speaker2"), ("spk1", "spk2"), ("speakera", "speakerb"),
)  # fmt: skip
LAST = re.compile(r"(?P<stem>.*?)[_\-. ]?(?P<role>ch\d|[A-Za-z]+\d?|\d+)")


@dataclass(frozen=True, slots=True)
class TwoChannel:
    """A folder of two-channel recordings, ``pairs`` by name."""

    root: Path
    pairs: dict[str, tuple[Recording, Recording]]
    licence: str
    remarks: tuple[str, ...]
    language: str = "en"
    format: str = FORMAT
    origin: str = ""
    setting: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the conversations."""
        return tuple(sorted(self.pairs))

    def recordings(self, name: str) -> tuple[Recording | None, Recording | None]:
        """Return where the two sides are heard."""
        return self.pairs.get(name, (None, None))

    def read(self, name: str) -> Conversation:
        """Return one conversation, of which only the recordings are known."""
        first, second = self.pairs[name]
        return Conversation(name, (Side("A", first), Side("B", second)), self.language)


def open_two_channel(root: Path, language: str = "en") -> TwoChannel | None:
    """Return the recordings below ``root`` (a folder, or one file), None where no two voices are in any.

    What is neither two channels nor one of a pair is left out, with a remark.
    """
    pairs, remarks = dict[str, tuple[Recording, Recording]](), list[str]()
    alone: dict[Path, list[Path]] = defaultdict(list)
    whole = dict[Path, Path]()
    base = root if root.is_dir() else root.parent
    for path in [root] if root.is_file() else list(files_below(root)):
        if not is_audio(path):
            continue
        try:
            channels = probe(path).channels
        except InputError as error:
            remarks.append(f"left out: {error}")
            continue
        if channels == 2 and path.with_suffix("") in whole:
            # The same in another coding: its items would be there twice.
            there = printable(whole[path.with_suffix("")].name)
            remarks.append(f"{printable(path.name)} is left out: {there} beside it has the same name")
        elif channels == 2:
            whole[path.with_suffix("")] = path
            pairs[_free(pairs, base, path)] = Recording(path, 0), Recording(path, 1)
        elif channels == 1:
            alone[path.parent].append(path)
        else:
            remarks.append(f"{printable(path.name)} is left out: it has {channels} channels, and two are needed")
    for files in alone.values():
        remarks += _pair(files, base, pairs)
    return TwoChannel(base, pairs, licence_in(base), tuple(remarks), language) if pairs else None


def _pair(files: list[Path], base: Path, pairs: dict[str, tuple[Recording, Recording]]) -> list[str]:
    """Add the pairs among files of one voice; return a remark for each that has no partner."""
    by_stem: dict[str, dict[str, Path]] = defaultdict(dict)
    left = list[Path]()
    for path in files:
        found = LAST.fullmatch(path.stem)
        role = found["role"].lower() if found else ""
        if found is None or role in by_stem[found["stem"]]:
            left.append(path)
        else:
            by_stem[found["stem"]][role] = path
    for stem, sides in by_stem.items():
        roles = next((pair for pair in ROLES if set(pair) == set(sides)), None)
        if roles is None:
            left += sides.values()
        else:
            first, second = (sides[role] for role in roles)
            # A pair without a name of its own (a.wav, b.wav) has its folder's.
            named = first.with_name(f"{stem or first.parent.name}{first.suffix}")
            pairs[_free(pairs, base, named, first)] = Recording(first), Recording(second)
    return [f"{printable(path.name)} is left out: one voice, and no second file that is its partner" for path in left]


def _free(taken: Collection[str], base: Path, *paths: Path) -> str:
    """Return the first name that is not taken: ``a-b`` for the path ``a/b``, then ``a--b``, and so on."""
    for n in count(1):
        for path in paths:
            parts = path.relative_to(base).with_suffix("").parts
            name = ("-" * n).join(parts) if len(parts) > 1 else parts[0] + "-" * (n - 1)
            if name not in taken:
                return name
    raise AssertionError("there are as many names as numbers")
