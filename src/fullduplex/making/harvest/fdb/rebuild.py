"""An annotations-only release in the layout of Full-Duplex-Bench becomes items again, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fullduplex.data.corpora.conversation import Corpus, Recording
from fullduplex.data.files import brief, member, read_json, text, time
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.harvest import REJECT, SUMMARY, is_there
from fullduplex.making.harvest.fdb.item import SCRIPT, cluster_of, write_fdb_item
from fullduplex.making.harvest.fdb.rules import V10, V15
from fullduplex.making.harvest.item import MAKER, Sounds
from fullduplex.making.harvest.rebuild import Rebuilt
from fullduplex.making.synthesis import Progress
from fullduplex.providers.weights import sha256


def is_fdb_release(release: Path) -> bool:
    """Tell whether a folder holds a harvest in the layout of Full-Duplex-Bench; raises where it holds none at all."""
    asked = member(read_json(release / SUMMARY), "asked", release / SUMMARY)
    return isinstance(asked, dict) and "system_side" in asked


def rebuild_fdb(
    release: Path,
    corpus: Corpus,
    out: Path | None = None,
    *,
    decisions: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> tuple[Rebuilt, int]:
    """Make the items of a release, in its own folder or in ``out``, and return what came of it, and how many were left
    out because a person rejected them.

    A recording that is not the one that was harvested (by its digest), or not there, fails its items. Raises
    :class:`InputError` where the release has no items.
    """
    items = list(_items(release))
    if not items:
        raise InputError(release, found="no harvested item", expected="a folder that harvest wrote")
    rejected = {key for key, value in (decisions or {}).items() if value == REJECT}
    left = [(folder, script) for folder, script in items if f"{folder.parent.name}/{folder.name}" not in rejected]
    left.sort(key=lambda one: (one[1]["recording"]["conversation"], one[1]["recording"]["user"]["side"], one[0].name))
    names = {cluster_of(name): name for name in corpus.names}
    failed, made, kept, unchecked = list[tuple[str, str]](), 0, 0, 0
    digests, reading = dict[Path, str](), Sounds(keep=2)
    for n, (folder, script) in enumerate(left, 1):
        name = f"{folder.parent.name}/{folder.name}"
        target = folder if out is None else out / folder.parent.name / folder.name
        try:
            if is_there(target, script, True):
                kept += 1
            else:
                recordings = _both(corpus, names, script, digests)
                files = {path.name: read_json(path) for path in sorted(folder.glob("*.json"))}
                write_fdb_item(target, files, recordings, reading)
            made += 1
            unchecked += any(script["recording"][role]["sha256"] is None for role in ("user", "partner"))
        except InputError as error:
            failed.append((name, str(error)))
        if progress:
            progress("items", n, len(left))
    return Rebuilt(made, kept, unchecked, tuple(failed)), len(items) - len(left)


def _items(release: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for task in (*V10, *(name for name in V15 if name not in V10)):
        for path in sorted((release / task).glob(f"*/{SCRIPT}")):
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
        member(side, "sha256", path, at)
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


def _both(
    corpus: Corpus, names: Mapping[str, str], script: Mapping[str, Any], digests: dict[Path, str]
) -> tuple[Recording, Recording]:
    told = script["recording"]
    name = names.get(told["conversation"])
    if name is None:
        raise InputError(corpus.root, found="no such conversation", expected="the corpus that was harvested")
    both, found = corpus.recordings(name), list[Recording]()
    for role in ("user", "partner"):
        recording = both[told[role]["side"] - 1]
        if recording is None:
            raise InputError(corpus.root, name, found="no recording of it", expected="the corpus' audio")
        if recording.file not in digests:
            digests[recording.file] = sha256(recording.file)
        wanted = told[role]["sha256"]
        if wanted is not None and digests[recording.file] != wanted:
            raise InputError(
                recording.file, found=f"the digest {digests[recording.file][:12]}",
                expected=f"{str(wanted)[:12]}, the one harvested",
            )  # fmt: skip
        found.append(recording)
    return found[0], found[1]
