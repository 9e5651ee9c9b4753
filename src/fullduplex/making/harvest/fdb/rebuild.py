"""An annotations-only release in the layout of Full-Duplex-Bench becomes items again, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullduplex.data.corpora.conversation import Corpus, Recording
from fullduplex.data.corpora.recordings import files_below, is_audio
from fullduplex.data.files import brief, member, read_json, text, time, write_json
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.harvest import COUNTS, REFERENCE, REJECT, SUMMARY, is_there
from fullduplex.making.harvest.fdb.item import SCRIPT, cluster_of, sound_files, write_fdb_item
from fullduplex.making.harvest.fdb.rules import V10, V15
from fullduplex.making.harvest.item import MAKER, Sounds
from fullduplex.making.harvest.keeping import clear_left, refuse_links
from fullduplex.making.harvest.rebuild import Rebuilt, as_harvested
from fullduplex.making.item_folder import made_here
from fullduplex.making.synthesis import Progress
from fullduplex.providers.weights import sha256


def is_fdb_release(release: Path) -> bool:
    """Tell whether a folder holds a harvest in the layout of Full-Duplex-Bench; raises where it holds none at all."""
    asked = member(read_json(release / SUMMARY), "asked", release / SUMMARY)
    return isinstance(asked, dict) and "system_side" in asked


def rebuild_fdb(
    release: Path,
    corpus: Corpus | None,
    out: Path | None = None,
    *,
    folders: Sequence[Path] = (),
    decisions: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> tuple[Rebuilt, int]:
    """Make the items of a release, in its own folder or in ``out``, and return what came of it, and how many were left
    out because a person rejected them.

    A recording is found by its conversation's name in the ``corpus``, else by its digest among the audio files below
    ``folders``: then what was said need not be there, and names may be others. One that is not the one that was
    harvested, or not there, fails its items. What was made of a rejected item before is removed again: in the release
    its sound, in ``out`` all of it. Raises :class:`InputError` where the release has no items, or a file of it is a
    link to what lies outside.
    """
    refuse_links(release, release)
    items = list(_items(release))
    if not items:
        raise InputError(release, found="no harvested item", expected="a folder that harvest wrote")
    clear_left(out or release, {folder.parent.name for folder, _ in items})
    rejected = {key for key, value in (decisions or {}).items() if value == REJECT}
    left = list[tuple[Path, dict[str, Any]]]()
    for folder, script in items:
        if _key(folder) not in rejected:
            left.append((folder, script))
        elif out is None:
            _silence(folder, script)
        elif made_here(out / _key(folder), MAKER):
            shutil.rmtree(out / _key(folder), ignore_errors=True)
    left.sort(key=lambda one: (one[1]["recording"]["conversation"], one[1]["recording"]["user"]["side"], one[0].name))
    shelf = _Shelf(corpus, folders)
    failed, made, kept, unchecked = list[tuple[str, str]](), 0, 0, 0
    reading = Sounds(keep=2)
    for n, (folder, script) in enumerate(left, 1):
        name = _key(folder)
        target = folder if out is None else out / name
        try:
            if is_there(target, script, True):
                kept += 1
            else:
                recordings = shelf.find(script)
                files = {path.name: read_json(path) for path in sorted(folder.glob("*.json"))}
                write_fdb_item(target, files, recordings, reading)
            made += 1
            unchecked += any(script["recording"][role]["sha256"] is None for role in ("user", "partner"))
        except InputError as error:
            failed.append((name, str(error)))
        if progress:
            progress("items", n, len(left))
    for name in (SUMMARY, COUNTS, REFERENCE):
        if out is not None and out.is_dir() and (release / name).is_file():
            write_json(out / name, read_json(release / name))
    strange = sorted(set(decisions or ()) - {_key(folder) for folder, _ in items})
    return Rebuilt(made, kept, unchecked, tuple(failed), tuple(strange)), len(items) - len(left)


def _key(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def _silence(folder: Path, script: Mapping[str, Any]) -> None:
    """Remove the sound of an item of a release; its annotation stays."""
    for name in sound_files(script):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise InputError(folder / name, found=error.strerror or str(error), expected="a file to remove") from error


def _items(release: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for task in (*V10, *(name for name in V15 if name not in V10)):
        for path in sorted((release / task).glob(f"*/{SCRIPT}")):
            refuse_links(release, path.parent)
            script = read_json(path)
            if isinstance(script, dict) and script.get("made_for") == MAKER:
                _check(script, path)
                yield path.parent, script


def _check(script: dict[str, Any], path: Path) -> None:
    """Raise :class:`InputError` where what the sound is cut by cannot be meant."""
    told = member(script, "recording", path)
    text(member(told, "conversation", path, "recording"), path, "recording.conversation")
    text(member(script, "digest", path), path, "digest")
    if not 0 <= time(member(told, "silence_after", path, "recording"), path, "recording.silence_after") < 600:
        raise InputError(path, "recording.silence_after", found=brief(told["silence_after"]), expected="0 to 600 s")
    for role in ("user", "partner"):
        side = member(told, role, path, "recording")
        at = f"recording.{role}"
        start, end = (time(member(side, name, path, at), path, f"{at}.{name}") for name in ("start", "end"))
        if not 0 <= start < end or member(side, "side", path, at) not in (1, 2):
            raise InputError(path, at, found=brief(side), expected="side 1 or 2, and the start before the end")
        digest, channel = member(side, "sha256", path, at), member(side, "channel", path, at)
        if not (digest is None or isinstance(digest, str)) or not (channel is None or channel in range(1, 65)):
            raise InputError(path, at, found=brief(side), expected="a digest and a channel from 1, or null")
        if digest is not None and channel is None:
            raise InputError(path, f"{at}.channel", found="null", expected="the channel of the recording")
    spans = member(told, "erased", path, "recording")
    parts = member(told, "parts", path, "recording")
    if not isinstance(spans, list) or not isinstance(parts, dict) or set(parts) - {"context.wav", "interrupt.wav"}:
        raise InputError(path, "recording", found=brief(told), expected="erased spans, and parts by their names")
    for span in (*spans, *parts.values()):
        first, last = (time(each, path, "recording") for each in _two(span, path))
        if not 0 <= first < last:
            raise InputError(path, "recording", found=brief(span), expected="the start before the end")


def _two(span: object, path: Path) -> tuple[object, object]:
    if not isinstance(span, list) or len(span) != 2:
        raise InputError(path, "recording", found=brief(span), expected="[start, end]")
    return span[0], span[1]


class _Shelf:
    """Where recordings are looked for; every file is digested once at most."""

    def __init__(self, corpus: Corpus | None, folders: Sequence[Path]) -> None:
        self._corpus, self._folders = corpus, folders
        self._names = {} if corpus is None else {cluster_of(name): name for name in corpus.names}
        self._digests: dict[Path, str] = {}
        self._all: dict[str, Path] | None = None

    def find(self, script: Mapping[str, Any]) -> tuple[Recording, Recording]:
        """Return the recordings of user and partner; raises :class:`InputError` where they are not there."""
        told = script["recording"]
        name = self._names.get(told["conversation"])
        return self._one(name, told["user"]), self._one(name, told["partner"])

    def _one(self, name: str | None, told: Mapping[str, Any]) -> Recording:
        wanted, found = told["sha256"], None
        if name is not None and self._corpus is not None:
            found = self._corpus.recordings(name)[told["side"] - 1]
        if found is None and wanted is not None:
            path = self._by_digest().get(wanted)
            found = None if path is None else Recording(path, told["channel"] - 1)
        if found is None:
            where = self._corpus.root if self._corpus is not None else next(iter(self._folders), Path())
            raise InputError(where, found="no recording of an item", expected="the corpus that was harvested")
        if wanted is not None and self._digest(found.file) != wanted:
            raise InputError(
                found.file, found=f"the digest {self._digest(found.file)[:12]}",
                expected=f"{str(wanted)[:12]}, the one harvested",
            )  # fmt: skip
        return as_harvested(found, told)

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = sha256(path)
        return self._digests[path]

    def _by_digest(self) -> dict[str, Path]:
        if self._all is None:
            paths = [path for folder in self._folders for path in files_below(folder) if is_audio(path)]
            self._all = {self._digest(path): path for path in reversed(paths)}
        return self._all
