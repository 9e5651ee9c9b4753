"""Items that people judge before any system has heard them: a folder of them, and the folder that keeps the answers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from fullduplex import __version__
from fullduplex.data import audio
from fullduplex.data.dataset import Entry, open_dataset
from fullduplex.data.files import brief, member, read_json, text, write_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.interactions import read_interaction
from fullduplex.errors import InputError, RunError
from fullduplex.making.harvest.fdb.harvest import SUMMARY as HARVEST
from fullduplex.model.spec import digest
from fullduplex.reporting.language import ORIGINAL
from fullduplex.reporting.review.dealing import drawn_of_each
from fullduplex.reporting.review.forms import Form
from fullduplex.reporting.review.harvest_clip import PLAIN as HARVESTED
from fullduplex.reporting.review.harvest_clip import HarvestClip, is_harvested
from fullduplex.reporting.review.item_clip import ItemClip
from fullduplex.reporting.review.labels import labels_of
from fullduplex.reporting.review.subjects import UNSURE, Chosen, Subject, check_sets, contested, left_out_told, listed
from fullduplex.runs.run import REPORT_LANGUAGE
from fullduplex.runs.stimulus import CUES, stimulus

SCHEMA = 1
FILE = "review.json"
#: What a review that goes on has in common with the one that began.
_SAME = ("form", "seed", "per_set")


@dataclass(frozen=True, slots=True)
class ItemReview:
    """The folder of a review of items; ``about`` is its review.json."""

    path: Path
    about: Mapping[str, Any]

    @classmethod
    def open(cls, path: Path) -> ItemReview:
        """Open the folder of a review; raises :class:`InputError` where it is none."""
        file = path / FILE
        told = read_json(file)
        if member(told, "schema", file) != SCHEMA:
            raise InputError(file, "schema", found=brief(told["schema"]), expected=str(SCHEMA))
        text(member(told, "data", file), file, "data")
        form = member(told, "form", file)
        for name in ("name", "version", "digest"):
            text(member(form, name, file, "form"), file, f"form.{name}")
        questions = member(form, "questions", file, "form")
        if not isinstance(questions, list) or not all(_is_question(one) for one in questions):
            raise InputError(file, "form.questions", found=brief(questions), expected="a key, kind and values of each")
        items = member(told, "items", file)
        if not isinstance(items, list):
            raise InputError(file, "items", found=brief(items), expected="a list of items")
        for n, one in enumerate(items):
            for name in ("set", "item", "scenario", "setting", "origin", "group", "content"):
                text(member(one, name, file, f"items[{n}]"), file, f"items[{n}].{name}")
        return cls(path, told)

    @property
    def data(self) -> Path:
        """Return the folder of the items."""
        return Path(str(self.about["data"]))

    @property
    def language(self) -> str:
        """Return the code of the language that raters are asked in."""
        return str(self.about.get(REPORT_LANGUAGE, ORIGINAL))

    @property
    def items(self) -> dict[str, Mapping[str, Any]]:
        """Return what is known of each item that is judged, by ``SET/ITEM``."""
        return {f"{one['set']}/{one['item']}": one for one in self.about["items"]}


def _is_question(one: object) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("key"), str)
        and isinstance(one.get("kind"), str)
        and isinstance(one.get("values"), list)
    )


def is_harvest(path: Path) -> bool:
    """Return whether ``path`` holds items that were harvested by rules of Full-Duplex-Bench."""
    if not (path / HARVEST).is_file():
        return False
    told = read_json(path / HARVEST)
    asked = told.get("asked") if isinstance(told, dict) else None
    return isinstance(asked, dict) and "system_side" in asked


#: The home of a clip that is only looked at.
_NOWHERE = ItemReview(Path(), {})


def is_review(path: Path) -> bool:
    """Return whether ``path`` is the folder of a review of items."""
    return (path / FILE).is_file()


def choose_items(
    data: Path, out: Path, form: Form, *, only: Sequence[str] = (), queue: str = "", per_set: int | None = None,
    seed: int = 0, language: str = ORIGINAL,
) -> tuple[ItemReview, Chosen]:  # fmt: skip
    """Return the review in ``out`` of the items in ``data`` under ``form``, and what is put before raters.

    ``per_set`` items of each set are drawn with ``seed``, all where it is None. ``only`` and ``queue`` are as for runs
    (:func:`fullduplex.reporting.review.subjects.choose`); they narrow what is put now, and not what the review is of.
    ``language``: that of ``form``, which the review keeps.
    A review that is there goes on. Raises :class:`RunError` where it is of another form or sample, where an item is not
    what it was, or where nothing is left; and :class:`InputError` as reading items does.
    """
    if form.pairwise or "verdict" in form.shows:
        raise RunError(f"{form.name}: asks about systems, and {data} holds items; give a run")
    _apart(data, out)
    left_out: Counter[str] = Counter()
    found = {entry.key: entry for entry in open_dataset(data).entries if _fits(entry, form, left_out)}
    there = ItemReview.open(out).items if is_review(out) else {}
    # What was drawn stays drawn, whatever items have come since.
    kept = there if there and per_set else drawn_of_each({k: e.set for k, e in found.items()}, per_set, form.name, seed)
    entries = {key: entry for key, entry in found.items() if key in kept}
    if not entries:
        why = "; ".join(f"{n} {reason}" for reason, n in left_out.items()) or "it holds none"
        raise RunError(f"{data}: no item to review with {form.name} ({why})")
    review = _begun(data, out, form, entries, per_set, seed, language)
    subjects = [Subject(entry.set, entry.id, entry.task, (_clip(review, entry),)) for entry in entries.values()]
    check_sets(subjects, only)
    if only:
        subjects = [subject for subject in subjects if subject.set in only]
    if queue == UNSURE:
        disputed = contested(form)
        subjects = [subject for subject in subjects if disputed(subject)]
    elif queue:
        subjects = listed(subjects, Path(queue))
    if not subjects:
        raise RunError(f"{data}: nothing to review with {form.name}: no item answers the filters")
    return review, Chosen(tuple(subjects), tuple(starmap(left_out_told, left_out.items())), True,
                          any(map(is_harvested, entries.values())))  # fmt: skip


def _apart(data: Path, out: Path) -> None:
    source, target = data.resolve(), out.resolve()
    if target == source or source in target.parents:
        raise InputError("--out", found=str(out), expected="a folder outside that of the items")


def _clip(review: ItemReview, entry: Entry) -> ItemClip | HarvestClip:
    return HarvestClip(review, entry) if is_harvested(entry) else ItemClip(review, entry)


def _fits(entry: Entry, form: Form, left_out: Counter[str]) -> bool:
    reason = ""
    if is_harvested(entry):
        reason = _harvested_unfit(entry, form)
    elif CUES not in entry.files:
        reason = f"have no {CUES}, which says what is heard when"
    elif form.tasks and entry.task not in form.tasks:
        reason = f"are of a task that {form.name} does not ask about"
    elif "action" in form.labels and not labels_of(entry.task):
        reason = "have no action and condition"
    else:
        try:
            told = stimulus(entry)
            if not told.cues:
                reason = "are played by a user who decides as the talk goes on"
            elif told.effects or any(cue.effects for cue in told.cues):
                reason = "have effects that are put on in a talk"
            else:
                _told(entry)
        except InputError:
            reason = "cannot be read"
    if reason:
        left_out[reason] += 1
    return not reason


def _harvested_unfit(entry: Entry, form: Form) -> str:
    if form.tasks and entry.task not in form.tasks:
        return f"are of a task that {form.name} does not ask about"
    if entry.user_voice is None or entry.system_voice is None:
        return "have no sound of both people, which harvest writes with --audio"
    if any(one.kind == "scale" for one in form.questions) or "action" in form.labels:
        # They ask how good an item's words or voice are, or for the label of a condition.
        return f"are people's talk, which {form.name} does not ask about"
    try:
        HarvestClip(_NOWHERE, entry).card(form)
        _told(entry)
    except InputError:
        return "cannot be read"
    return ""


def _begun(
    data: Path, out: Path, form: Form, entries: Mapping[str, Entry], per_set: int | None, seed: int, language: str
) -> ItemReview:
    about: dict[str, Any] = {
        "schema": SCHEMA,
        "fullduplex": __version__,
        "data": str(data),
        "form": {
            "name": form.name,
            "version": form.version,
            "digest": form.digest,
            "raters": form.raters,
            "questions": [
                {"key": question.key, "kind": question.kind, "values": [option.value for option in question.options]}
                for question in form.questions
            ],
        },
        "seed": seed,
        "per_set": per_set,
        **({} if language == ORIGINAL else {REPORT_LANGUAGE: language}),
        "items": [{**_told(entry), "content": _content(entry)} for entry in entries.values()],
    }
    if is_review(out):
        there = ItemReview.open(out)
        # What a person rejected is harvested no more; what was said of it stays.
        now = {f"{one['set']}/{one['item']}" for one in about["items"]}
        about["items"] += [one for key, one in there.items.items() if key not in now and _was_harvested(one)]
        _same(there, about)
        write_json(out / FILE, {**about, "data": str(data)})
        return ItemReview(out, about)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out}: holds no review of items; give an empty or a new folder as --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{out}: cannot be made ({error.strerror}); give another --out") from error
    write_json(out / FILE, about)
    return ItemReview(out, about)


def _was_harvested(told: Mapping[str, Any]) -> bool:
    return told["scenario"] in HARVESTED


def _same(there: ItemReview, about: Mapping[str, Any]) -> None:
    """Raise :class:`RunError` where the review that is there is of something else, or an item is not what it was."""
    for name in _SAME:
        old, new = there.about.get(name), about[name]
        if name == "form":
            old, new = old and old["name"], new["name"]
        if old != new:
            raise RunError(f"{there.path}: began with {name} {old}, now {new}; give another --out")
    now = {f"{one['set']}/{one['item']}": one for one in about["items"]}
    gone = [key for key in there.items if key not in now]
    if gone:
        raise RunError(
            f"{there.path}: {gone[0]} cannot be found or read among the items; mend it, or give another --out"
        )
    for key, one in there.items.items():
        if one["content"] != now[key]["content"]:
            raise RunError(f"{there.path}: {key} is not what it was when it was reviewed; give another --out")


def _told(entry: Entry) -> dict[str, str]:
    """Return what is known of an item but its content; raises :class:`InputError` where a file of it is damaged."""
    if is_harvested(entry):
        for voice in (entry.user_voice, entry.system_voice):
            if voice is not None:
                audio.probe(voice.path)
        return {
            "set": entry.set, "item": entry.id, "scenario": entry.task, "setting": "", "origin": "recorded",
            "group": entry.group,
        }  # fmt: skip
    told = read_interaction(entry.files[INTERACTION], entry.task) if INTERACTION in entry.files else {}
    for cue in stimulus(entry).cues:
        audio.probe(cue.audio)
    scenario = str(told.get("scenario") or entry.task)
    synthesised = told.get("synthesised") is True or told.get("origin") == "synthesised"
    return {
        "set": entry.set,
        "item": entry.id,
        "scenario": scenario.removeprefix("da_") if labels_of(scenario) else scenario,
        "setting": str(told.get("setting", "")),
        "origin": "synthesised" if synthesised else str(told.get("origin", "")),
        "group": entry.group,
    }


def _content(entry: Entry) -> str:
    """Return a digest of all that a rater hears and sees of an item."""
    if is_harvested(entry):
        return _digest_of(HarvestClip(_NOWHERE, entry).files())
    found = {cue.audio.name: cue.audio for cue in stimulus(entry).cues}
    found |= {name: entry.files[name] for name in (CUES, INTERACTION) if name in entry.files}
    return _digest_of(found)


def _digest_of(found: Mapping[str, Path]) -> str:
    made = []
    for name, path in sorted(found.items()):
        try:
            made.append([name, hashlib.sha256(path.read_bytes()).hexdigest()])
        except OSError as error:
            raise InputError(path, found=error.strerror or str(error), expected="a file that can be read") from error
    return digest(made)
