"""ELAN's annotation files (.eaf): annotations by tier, with times where their time slots have them.

A tier belongs to its ``PARTICIPANT``; where no tier has one, to whom its name tells. Tiers that depend on another one
(translations, glosses) are read only where they hold words with times of their own. An annotation whose slots have no
time is a line without times: ELAN draws it somewhere, and nobody placed it.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree.ElementTree import Element

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.languages import two_letters
from fullduplex.data.corpora.marked_up import read_xml
from fullduplex.data.corpora.spoken import said
from fullduplex.data.corpora.tiers import OTHER, WORDS, gather, meant
from fullduplex.errors import InputError


def read_elan(path: Path) -> Gathered:
    """Return the transcript in an ELAN file; raises :class:`InputError` where it is none."""
    root = read_xml(path)
    if root.tag != "ANNOTATION_DOCUMENT":
        raise InputError(path, found=f"<{root.tag}>"[:60], expected="<ANNOTATION_DOCUMENT>, an ELAN file")
    transcript = Gathered(path, words_from="ELAN")
    header = root.find("HEADER")
    units = header.get("TIME_UNITS", "milliseconds") if header is not None else "milliseconds"
    if units != "milliseconds":
        raise InputError(path, "TIME_UNITS", found=units, expected="milliseconds")
    transcript.media = [file_name(one.get("MEDIA_URL", "")) for one in root.iter("MEDIA_DESCRIPTOR")]
    languages = {found for one in root.iter("LANGUAGE") if (found := two_letters(one.get("LANG_ID", "")))}
    transcript.language = languages.pop() if len(languages) == 1 else ""
    slots = _slots(root, path)
    tiers = root.findall("TIER")
    named = any(tier.get("PARTICIPANT", "").strip() and tier.find("ANNOTATION") is not None for tier in tiers)
    for tier in tiers:
        name = tier.get("TIER_ID", "")
        speaker, kind = meant(name)
        if named:
            speaker = tier.get("PARTICIPANT", "").strip()
        kind = kind or meant(tier.get("LINGUISTIC_TYPE_REF", ""))[1]
        dependent = tier.get("PARENT_REF") is not None
        if kind == OTHER or (dependent and kind != WORDS):
            continue
        if named and not speaker:
            if tier.find("ANNOTATION") is not None:
                transcript.remarks.append(f"tier {name} is not read: it has no participant, and others have")
            continue
        _tier(transcript, tier, speaker, kind, slots)
    return transcript


def _slots(root: Element, path: Path) -> dict[str, tuple[int, int]]:
    """Return when each time slot is, as the earliest and the latest that it can be: they stand in order of time."""
    told = list[tuple[str, int | None]]()
    for slot in root.iter("TIME_SLOT"):
        name, value = slot.get("TIME_SLOT_ID", ""), slot.get("TIME_VALUE")
        told.append((name, None if value is None else moment(value, path, f"time slot {name}", unit=1e-3)))
    found, before = dict[str, tuple[int, int]](), 0
    for name, time in told:
        before = before if time is None else time
        found[name] = before, before
    after = max((late for _, late in found.values()), default=0)
    for name, time in reversed(told):
        after = after if time is None else time
        found[name] = found[name][0], after
    return found


def _tier(transcript: Gathered, tier: Element, speaker: str, kind: str, slots: dict[str, tuple[int, int]]) -> None:
    where = f"tier {tier.get('TIER_ID', '')}"
    placed, unplaced = list[tuple[int, int, str]](), list[tuple[int, int, str]]()
    for one in tier.iter("ALIGNABLE_ANNOTATION"):
        text = (one.findtext("ANNOTATION_VALUE") or "").strip()
        refs = [one.get(f"TIME_SLOT_REF{n}", "") for n in (1, 2)]
        unknown = next((ref for ref in refs if ref not in slots), None)
        if unknown is not None:
            raise InputError(transcript.path, where, found=f"the time slot {unknown!r}", expected="one that is there")
        (start, start_by), (end_from, end) = (slots[ref] for ref in refs)
        exact = start == start_by and end_from == end
        (placed if exact else unplaced).append((start, end, text))
    # The file has annotations in the order in which they were made.
    placed.sort(key=lambda one: one[:2])
    gather(transcript, speaker, kind, placed, where)
    if unplaced and kind != WORDS:
        transcript.remarks.append(f"{where}: {len(unplaced)} annotations have no times")
        for start, end, text in unplaced:
            transcript.line(speaker, said(text), None, within=stretch(start, end, transcript.path, where))
    elif unplaced:
        transcript.remarks.append(f"{where}: {len(unplaced)} words have no times and are left out")


def file_name(url: str) -> str:
    """Return the last part of a path or an address, whoever wrote it, without its folders."""
    return PureWindowsPath(PurePosixPath(url).name).name
