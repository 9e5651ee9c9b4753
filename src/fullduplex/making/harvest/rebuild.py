"""An annotations-only release becomes items again, by who has the corpus: the very same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from fullduplex.data.corpora.conversation import Corpus, Recording
from fullduplex.data.files import brief, member, read_json, text, time
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.interactions import read_interaction
from fullduplex.errors import InputError
from fullduplex.making.harvest.harvest import SUMMARY, Progress
from fullduplex.making.harvest.item import MAKER, Sounds, is_there, write_item
from fullduplex.making.harvest.keeping import clear_left, refuse_links
from fullduplex.providers.weights import sha256


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many items have their sound now, how many had it before, and those that could not be made, with the reason.

    ``unchecked``: how many are from recordings of which the release has no digest. ``strange``: decisions of people
    on items that the release does not have.
    """

    items: int
    kept: int
    unchecked: int
    failed: tuple[tuple[str, str], ...]
    strange: tuple[str, ...] = ()


def format_of(release: Path) -> str:
    """Return the format of the corpus that a release is of; raises :class:`InputError` where none is told."""
    path = release / SUMMARY
    asked = member(read_json(path), "asked", path)
    return text(member(asked, "corpus", path, "asked"), path, "asked.corpus")


def rebuild(release: Path, corpus: Corpus, out: Path | None = None, *, progress: Progress | None = None) -> Rebuilt:
    """Make the items of a release, in its own folder or in ``out``, from the recordings of the corpus.

    A recording that is not the one that was harvested (by its digest), or not there, fails its items. Raises
    :class:`InputError` where the release has no items, or an file of it is a link to what lies outside.
    """
    refuse_links(release, release)
    items = sorted(_items(release), key=lambda one: (one[1]["recording"]["conversation"], one[0]))
    if not items:
        raise InputError(release, found="no harvested item", expected="a folder that harvest wrote")
    clear_left(out or release, {folder.parent.name for folder, _ in items})
    failed, made, kept, unchecked, done = list[tuple[str, str]](), 0, 0, 0, 0
    for conversation, members in groupby(items, key=lambda one: str(one[1]["recording"]["conversation"])):
        sounds, digests = Sounds(), dict[Path, str]()
        for folder, script in sorted(members, key=lambda one: str(one[1]["recording"]["side"])):
            name = f"{folder.parent.name}/{folder.name}"
            target = folder if out is None else out / folder.parent.name / folder.name
            try:
                if is_there(target, script, with_sound=True):
                    kept += 1
                else:
                    recording = _recording(corpus, conversation, script, digests)
                    told = read_json(folder / INTERACTION)
                    read_interaction(folder / INTERACTION)
                    write_item(target, told, script, recording, sounds)
                made += 1
                unchecked += script["recording"].get("sha256") is None
            except InputError as error:
                failed.append((name, str(error)))
            done += 1
            if progress:
                progress("items", done, len(items))
    return Rebuilt(made, kept, unchecked, tuple(failed))


def _items(release: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(release.glob("da_*/*/script.json")):
        refuse_links(release, path.parent)
        script = read_json(path)
        if not isinstance(script, dict) or script.get("made_for") != MAKER:
            continue
        recording = member(script, "recording", path)
        if not isinstance(recording, dict):
            raise InputError(path, "recording", found=brief(recording), expected="an object")
        for name in ("conversation", "side"):
            text(member(recording, name, path, "recording"), path, f"recording.{name}")
        start, end = (
            time(member(recording, name, path, "recording"), path, f"recording.{name}") for name in ("start", "end")
        )
        if not 0 <= start < end:
            raise InputError(path, "recording", found=brief([start, end]), expected="the start before the end")
        text(member(script, "digest", path), path, "digest")
        yield path.parent, script


def _recording(corpus: Corpus, conversation: str, script: dict[str, Any], digests: dict[Path, str]) -> Recording:
    source = script["recording"]
    sides = dict(zip("AB", corpus.recordings(conversation), strict=True))
    found = sides.get(source["side"])
    if found is None:
        raise InputError(corpus.root, conversation, found="no recording of it", expected="the corpus' audio")
    if found.file not in digests:
        digests[found.file] = sha256(found.file)
    wanted = source.get("sha256")
    if wanted is not None and digests[found.file] != wanted:
        raise InputError(
            found.file,
            found=f"the digest {digests[found.file][:12]}",
            expected=f"{str(wanted)[:12]}, the one harvested",
        )
    return as_harvested(found, source)


def as_harvested(found: Recording, told: Mapping[str, Any]) -> Recording:
    """Return a recording with the channel that an item tells, where its digest says that it is the very file.

    Whose the channels are may have been said with ``--speakers``, and is not said again.
    """
    channel = told.get("channel")
    if told.get("sha256") is None or not isinstance(channel, int) or channel < 1:
        return found
    return Recording(found.file, channel - 1)
