"""What is put before raters: the clips of a run, or the pairs of clips of two runs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Protocol

from fullduplex.data.files import brief, read_text_file
from fullduplex.errors import InputError, RunError
from fullduplex.reporting.review.card import asked, card
from fullduplex.reporting.review.claims import Claim, Wanted, judged, leading, measured
from fullduplex.reporting.review.forms import Form
from fullduplex.reporting.review.store import majority, read_reviews
from fullduplex.reporting.sounds import SoundTask, sound, sound_path
from fullduplex.runs.items import read_item
from fullduplex.runs.judges import Seated, judges_of
from fullduplex.runs.run import Run
from fullduplex.runs.stored import read_item as stored_item

#: The queue of what machines, rules or people do not agree on.
UNSURE = "unsure"
_MANY, _OF_ONE = re.compile(r"\b(?:have|are)\b"), {"have": "has", "are": "is"}
_UNSURE = ("unclear", "unsure", "uncertain", "unknown")


class Home(Protocol):
    """Whatever keeps answers: a run, or the folder of a review of items."""

    @property
    def path(self) -> Path:
        """Return its folder."""
        ...


class Clip(Protocol):
    """What is heard and judged; ``system`` is "" where none is heard."""

    @property
    def home(self) -> Home:
        """Return what keeps its answers."""
        ...

    @property
    def system(self) -> str:
        """Return whose it is."""
        ...

    def card(self, form: Form, claim: Claim | None = None) -> dict[str, Any]:
        """Return what the page shows, without the sound; raises :class:`InputError` where it cannot be read."""
        ...

    def asked(self, form: Form, claim: Claim | None = None) -> list[str]:
        """Return the keys of the questions that are put of it; raises :class:`InputError`."""
        ...

    def sound(self) -> tuple[Path, Mapping[str, Any]]:
        """Return its stereo file and the waveform; raises :class:`InputError`."""
        ...


@dataclass(frozen=True, slots=True)
class RunClip:
    """One recording: an item's folder in the run of one system."""

    run: Run
    folder: Path
    system: str

    @property
    def home(self) -> Run:
        """Return the run."""
        return self.run

    def card(self, form: Form, claim: Claim | None = None) -> dict[str, Any]:
        """Return what the page shows, as :func:`fullduplex.reporting.review.card.card` says."""
        return card(stored_item(self.folder), form, claim)

    def asked(self, form: Form, claim: Claim | None = None) -> list[str]:
        """Return the keys of the questions that are put of it."""
        return asked(self.folder, form, claim)

    def sound(self) -> tuple[Path, Mapping[str, Any]]:
        """Return the stereo file that the report's page plays too."""
        path = sound_path(self.run, self.folder)
        return path, sound(SoundTask(str(self.folder), str(path)))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rater judges at once: one clip, or two of the same item.

    Its answers are kept in the home of the first. ``claim`` is the machine's verdict that the form asks about.
    """

    set: str
    item: str
    task: str
    clips: tuple[Clip, ...]
    claim: Claim | None = None

    @property
    def home(self) -> Home:
        """Return what keeps its answers."""
        return self.clips[0].home

    @property
    def key(self) -> str:
        """Return what names the item among all of its run."""
        return f"{self.set}/{self.item}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is reviewed, and a sentence for each kind of item that is not.

    ``of_items``: these are items that no system is heard in; ``of_people``: the other voice is a person's.
    """

    subjects: tuple[Subject, ...]
    remarks: tuple[str, ...] = ()
    of_items: bool = False
    of_people: bool = False


def choose(
    runs: Sequence[Run],
    form: Form,
    *,
    only: Sequence[str] = (),
    verdicts: Sequence[Wanted] = (),
    queue: str = "",
) -> Chosen:
    """Return what of ``runs`` is reviewed with ``form``.

    ``only`` names sets, ``verdicts`` are conditions on what machines said that all have to hold (of a pair, for one
    of its clips), ``queue`` is ``unsure`` or a file that lists items. Raises :class:`RunError` or
    :class:`InputError` where nothing is left, and where a set, a verdict or a listed item is in none of the runs.
    """
    if form.pairwise and len(runs) != 2:
        raise RunError(f"{form.name}: compares two systems, and {len(runs)} runs were given; give two runs")
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise RunError("a run was given twice; give each run once")
    left_out: Counter[str] = Counter()
    systems = _systems(runs)
    subjects = [
        subject for run, system in zip(runs, systems, strict=True) for subject in _of(run, system, form, left_out)
    ]
    check_sets(subjects, only)
    if form.pairwise:
        subjects = _pairs(subjects, runs, left_out)
    if only:
        subjects = [subject for subject in subjects if subject.set in only]
    if queue and queue != UNSURE:
        subjects = listed(subjects, Path(queue))
    needs_claims = bool(verdicts) or queue == UNSURE or "verdict" in form.shows
    if needs_claims:
        subjects = _with_claims(subjects, form, verdicts, left_out, unsure=queue == UNSURE)
    if not subjects:
        why = "; ".join(f"{n} {reason}" for reason, n in left_out.items()) or "no item answers the filters"
        raise RunError(f"{', '.join(str(run.path) for run in runs)}: nothing to review with {form.name} ({why})")
    return Chosen(tuple(subjects), tuple(starmap(left_out_told, left_out.items())))


def left_out_told(reason: str, n: int) -> str:
    """Return a sentence on ``n`` items that are not reviewed; ``reason`` says why of many (``have no sound``)."""
    if n != 1:
        return f"{n:,} items {reason}"
    return f"1 item {_MANY.sub(lambda verb: _OF_ONE[verb[0]], reason, count=1)}"


def _systems(runs: Sequence[Run]) -> list[str]:
    """Return a name for each run's system that no other of them has."""
    names = [run.system for run in runs]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({run.path.name})" if names.count(name) > 1 else name for name, run in zip(names, runs)]


def _of(run: Run, system: str, form: Form, left_out: Counter[str]) -> list[Subject]:
    made = []
    for folder in run.items():
        try:
            item = read_item(folder)
            found = Subject(str(item["set"]), str(item["id"]), str(item["task"]), (RunClip(run, folder, system),))
            reason = _unfit(item, form)
        except InputError:
            reason = "cannot be read"
        if reason:
            left_out[reason] += 1
        else:
            made.append(found)
    return made


def _unfit(item: dict[str, Any], form: Form) -> str:
    if item["failed"]:
        return "failed and have nothing to hear"
    files = item["files"]
    if not isinstance(files, dict) or not {"user", "system"} & set(files):
        return "have no recording"
    if form.tasks and item["task"] not in form.tasks:
        return f"are of a task that {form.name} does not ask about"
    return ""


def check_sets(subjects: Sequence[Subject], only: Sequence[str]) -> None:
    """Raise :class:`InputError` where ``only`` names a set that no subject is of."""
    sets = list(dict.fromkeys(subject.set for subject in subjects))
    for name in only:
        if name not in sets:
            raise InputError("--only", found=name, expected=f"one of {', '.join(sets) or 'none: no item is left'}")


def _pairs(subjects: Sequence[Subject], runs: Sequence[Run], left_out: Counter[str]) -> list[Subject]:
    by: list[dict[str, Subject]] = [{s.key: s for s in subjects if s.home is run} for run in runs]
    first, second = by
    alone = len(set(first) ^ set(second))
    if alone:
        left_out["are in one of the two runs only"] += alone
    return [
        Subject(one.set, one.item, one.task, (*one.clips, *second[key].clips))
        for key, one in first.items()
        if key in second
    ]


def listed(subjects: Sequence[Subject], path: Path) -> list[Subject]:
    """Return the subjects that a file lists: ``SET/ITEM`` a line, or a JSON object with ``set`` and ``item``.

    Raises :class:`InputError` where a line names none of them.
    """
    keys: dict[str, int] = {}
    for n, line in enumerate(read_text_file(path).splitlines(), 1):
        text = line.strip()
        if text.startswith("{"):
            try:
                value = json.loads(text)
                text = f"{value['set']}/{value['item']}"
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise InputError(
                    path, f"line {n}", found=brief(text), expected="an object with set and item"
                ) from error
        if text:
            keys.setdefault(text, n)
    known = {subject.key for subject in subjects}
    for key, n in keys.items():
        if key not in known:
            raise InputError(path, f"line {n}", found=key, expected="SET/ITEM of an item that can be reviewed")
    return [subject for subject in subjects if subject.key in keys]


def _with_claims(
    subjects: Sequence[Subject],
    form: Form,
    verdicts: Sequence[Wanted],
    left_out: Counter[str],
    *,
    unsure: bool,
) -> list[Subject]:
    claims_of, named = _claims(), set[str]()
    split = contested(form) if unsure else None
    made = []
    for subject in subjects:
        by_clip = [claims_of(clip, subject.key) for clip in subject.clips]
        named.update(claim.name for claims in by_clip for claim in claims)
        if not any(all(any(want.holds(claim) for claim in claims) for want in verdicts) for claims in by_clip):
            continue
        disputed = any(claim.disputed for claims in by_clip for claim in claims)
        if split is not None and not (disputed or split(subject)):
            continue
        claim = leading(by_clip[0], [want.name for want in verdicts]) if "verdict" in form.shows else None
        if "verdict" in form.shows and claim is None:
            left_out["have no verdict of a machine"] += 1
            continue
        made.append(Subject(subject.set, subject.item, subject.task, subject.clips, claim))
    for want in verdicts:
        if want.name not in named:
            raise InputError("--verdict", found=want.name, expected=f"one of {', '.join(sorted(named)) or 'none'}")
    return made


def _claims() -> Callable[[Clip, str], list[Claim]]:
    tables: dict[Path, Any] = {}
    judges: dict[Path, tuple[Seated, ...]] = {}

    def of(clip: Clip, key: str) -> list[Claim]:
        if not isinstance(clip, RunClip):
            return []
        path = clip.run.path
        if path not in tables:
            tables[path], judges[path] = measured(clip.run), judges_of(clip.run)
        return [*judged(clip.folder, judges[path]), *tables[path].get(key, ())]

    return of


def contested(form: Form) -> Callable[[Subject], bool]:
    """Return a test of a subject: raters split evenly over it under ``form``, or mostly could not tell."""
    labels = [question.key for question in form.questions if question.kind in ("choice", "yes-no-unclear")]
    known: dict[Path, set[str]] = {}

    def of(run: Home) -> set[str]:
        reviews = read_reviews(run.path)
        found = [majority(reviews, form.name, question) for question in labels]
        return {key for by_item in found for key, one in by_item.items() if one.value is None or one.value in _UNSURE}

    def split(subject: Subject) -> bool:
        if subject.home.path not in known:
            known[subject.home.path] = of(subject.home)
        return subject.key in known[subject.home.path]

    return split
