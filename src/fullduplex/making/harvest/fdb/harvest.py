"""A corpus becomes items of Full-Duplex-Bench: surveyed, ranked, capped, looked through, written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data.corpora.conversation import Corpus, Recording
from fullduplex.data.files import brief, read_json, replacing, write_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.harvest.counting import Funnel
from fullduplex.making.harvest.fdb.item import SCRIPT, cluster_of, sound_files, write_fdb_item
from fullduplex.making.harvest.fdb.rules import LISTEN, V10, V15, VERSION
from fullduplex.making.harvest.fdb.survey import FINDERS, FOLDER, Asked, Listens, Surveyed, read_survey, spent, survey
from fullduplex.making.harvest.hearing import Heard
from fullduplex.making.harvest.item import Sounds
from fullduplex.making.harvest.keeping import begun, clear_left, remove_others
from fullduplex.making.synthesis import Progress
from fullduplex.model.spans import Span

SUMMARY, COUNTS, DROPPED, REFERENCE = "harvest.json", "counts.json", "dropped.jsonl", "backchannel_reference.json"
#: The steps after those of a task's own checks.
APART, BEST, PERSON = "no speech in two items", "the best by rank", "a person's decision"
REJECT = "reject"
#: Decisions on what is no item of the harvest: under another name, or no longer among the best.
STRANGE = "on no item of these"
#: Surveys conversations by name: yields each name, and the sentence that says why it failed, "" where it did not.
Surveys = Callable[[Sequence[str]], Iterator[tuple[str, str]]]
_ABOUT = """Items harvested by fullduplex from recorded conversations, in the layout of Full-Duplex-Bench. input.wav is
one side of a conversation, output.wav the other side at the same time: what a person did. They are found by published
criteria, with thresholds of ours where these are silent, and are nobody else's data: numbers on them compare with
nothing published. harvest.json tells the rules, counts.json what every filter kept, dropped.jsonl why each other place
was dropped; script.json in each item tells its rank, the corpus' licence, where the corpus is to be had, and where in
it the item's sound is. Speakers are named nowhere.
"""


@dataclass(frozen=True, slots=True)
class FdbHarvested:
    """What came of a harvest: its items by task, its counts, who decided, and the conversations that failed.

    ``retained``: for each task the items, of the places that passed every filter and of all that were found.
    ``written``: how many items were written now. ``decided``: how many of the ranked items a person accepted,
    rejected, was unsure of, or did not judge, and the decisions on no item of these; empty where nobody was asked.
    ``words`` are known of all conversations, ``restored`` of them were added to transcripts by a recogniser.
    ``audio``: by what right there is sound, "" where there is none. ``doubts``: the conversations whose times are not
    to be relied on, each with a sentence on why.
    """

    items: Mapping[str, int]
    funnels: tuple[tuple[str, Funnel], ...]
    conversations: int
    written: int
    failed: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    retained: Mapping[str, Mapping[str, float | int | None]]
    decided: Mapping[str, int] = field(default_factory=dict)
    words: int = 0
    restored: int = 0
    audio: str = ""
    doubts: tuple[tuple[str, str], ...] = ()


def harvest_fdb(
    corpus: Corpus,
    asked: Asked,
    *,
    ears: Listens | None = None,
    surveys: Surveys | None = None,
    audio_allowed: str = "",
    cap: int | None = None,
    decisions: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> FdbHarvested:
    """Harvest a corpus into ``asked.out``, and return what came of it.

    ``surveys`` surveys conversations elsewhere, such as in other processes (:func:`survey` is what it runs); else each
    is surveyed here, with ``ears`` where recordings have no words. Without ``audio_allowed``, which says by what right,
    no sound is written. ``cap`` overrules the rules'. ``decisions`` maps TASK/ID to a person's decision: what is
    ``reject`` is left out, and nothing takes its place. What is there already is not made again, and items that a
    harvest made before and that are none now are removed. Raises :class:`InputError` where ``out`` holds a harvest of
    another make, nothing can be read, or the rules ask which side is the system and that is not told.
    """
    rules, out = asked.rules, asked.out
    if rules.system == "told" and asked.system_side is None:
        raise InputError(
            "--system-side", found="none", expected="1 or 2: the side of the wizard, whom a system replaces"
        )
    told = {
        "corpus": corpus.format, "rules": asked.rules_name, "version": VERSION, "thresholds": rules.to_json(),
        "language": asked.language, "system_side": asked.system_side, "listen": asked.listen, "fill": asked.fill,
    }  # fmt: skip
    cap = rules.cap if cap is None else cap
    right = _open(out, told, audio_allowed)
    names = {cluster_of(name): name for name in corpus.names}
    failed = list[tuple[str, str]]()
    done = surveys(corpus.names) if surveys else _here(corpus, asked, ears)
    for n, (name, why) in enumerate(done, 1):
        if why:
            failed.append((name, why))
        if progress:
            progress("conversations", n, len(names))
    read = [name for name in corpus.names if name not in dict(failed)]
    failed += _twice(out, read)
    failed.sort()
    read = [name for name in read if name not in dict(failed)]
    if failed and not read:
        raise InputError(corpus.root, found=f"no conversation that can be read ({failed[0][1]})", expected="one")
    spent(out, set(names))
    found = _found(out, [cluster_of(name) for name in read], asked)
    _rank(found, cap, decisions)
    written = _write(found, corpus, names, asked, bool(audio_allowed), failed, progress)
    result = _told(found, corpus, read, written, failed, decisions, right, names)
    _summarise(result, found, corpus, told, cap, asked)
    return result


def _twice(out: Path, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the conversations whose sound is that of one before, each with a sentence."""
    heard, found = Heard(), list[tuple[str, str]]()
    for name in names:
        try:
            heard.add(name, read_survey(out / FOLDER / f"{cluster_of(name)}.jsonl").sound)
        except InputError as error:
            found.append((name, str(error)))
    return found


@dataclass(slots=True)
class _Found:
    """What all surveys found; ``places`` by task hold no more than ids, scores and where their files are."""

    funnels: dict[str, Funnel]
    surveys: dict[str, Surveyed]
    places: dict[str, list[dict[str, Any]]]
    chosen: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    decided: Counter[str] = field(default_factory=Counter)
    reference: dict[str, list[float]] = field(default_factory=dict)


def _here(corpus: Corpus, asked: Asked, ears: Listens | None) -> Iterator[tuple[str, str]]:
    for name in corpus.names:
        try:
            survey(corpus, name, asked, ears)
            yield name, ""
        except InputError as error:
            yield name, str(error)


def _open(out: Path, asked: Mapping[str, Any], audio_allowed: str) -> str:
    """Make the folder ready, and return by what right sound is in it, or will be: "" where none is.

    Raises :class:`InputError` where it holds what another question was answered with.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(out, found=error.strerror or str(error), expected="a folder to write to") from error
    path = out / SUMMARY
    ours = {*V10, *V15, SUMMARY, COUNTS, DROPPED, REFERENCE}
    if path.is_file():
        there = read_json(path)
        before = there.get("asked", {}) if isinstance(there, dict) else {}
        differs = next((name for name in asked if before.get(name) != asked[name]), None)
        if differs is not None:
            raise InputError(
                path, differs, found=brief(before.get(differs)), expected=brief(asked[differs]),
                do="choose another --out",
            )  # fmt: skip
    elif any(child.name not in ours and not child.name.startswith(".") for child in out.iterdir()):
        raise InputError(out, found="a folder with other things in it", expected="a new folder, or a harvest")
    clear_left(out, (*V10, *V15), (FOLDER,))
    return begun(path, {"schema": 1, "about": _ABOUT, "asked": asked}, audio_allowed)


def _found(out: Path, clusters: Iterable[str], asked: Asked) -> _Found:
    steps = {task: tuple(name for name, _ in FINDERS[task].checks) for task in asked.rules.tasks}
    funnels = {task: Funnel((*names, APART, BEST, PERSON)) for task, names in steps.items()}
    made = _Found(funnels, {}, {task: [] for task in asked.rules.tasks})
    with replacing(out / DROPPED) as part, part.open("w", encoding="utf-8") as file:
        for cluster in sorted(clusters):
            one = read_survey(out / FOLDER / f"{cluster}.jsonl")
            for task, funnel in one.funnels.items():
                funnels[task].add(funnel)
            for row in one.dropped:
                file.write(json.dumps(row, allow_nan=False) + "\n")
            for place in one.found:
                made.places[place["task"]].append({**place, "conversation": cluster})
            # The places alone are kept: what was dropped is told, and may be much.
            made.surveys[cluster] = Surveyed(one.path, {}, [], [], one.words, one.restored, one.doubts)
    return made


def _rank(found: _Found, cap: int, decisions: Mapping[str, str] | None) -> None:
    """Choose the items of each task, best first; of equal ones the id decides, which is a digest's."""
    left = set(decisions or ())
    for task, places in found.places.items():
        funnel = found.funnels[task]
        taken: dict[tuple[str, int], list[Span]] = {}
        chosen = found.chosen.setdefault(task, [])
        for place in sorted(places, key=lambda one: (-one["score"], one["id"])):
            span = Span(place["start"], place["end"])
            spans = taken.setdefault((place["conversation"], place["side"]), [])
            if any(span & other for other in spans):
                funnel.drop(APART, "its speech is in a better item")
                continue
            spans.append(span)
            funnel.keep(APART)
            if cap and funnel.kept[BEST] >= cap:
                funnel.drop(BEST, f"{cap} are better")
                continue
            funnel.keep(BEST)
            key = f"{task}/{place['id']}"
            left.discard(key)
            decision = "" if decisions is None else decisions.get(key, "unjudged")
            found.decided.update([decision] if decision else [])
            if decision == REJECT:
                funnel.drop(PERSON, "a person rejected it")
                continue
            funnel.keep(PERSON)
            chosen.append(place)
    if left:
        found.decided[STRANGE] = len(left)


def _write(
    found: _Found, corpus: Corpus, names: Mapping[str, str], asked: Asked, with_sound: bool,
    failed: list[tuple[str, str]], progress: Progress | None,
) -> int:  # fmt: skip
    """Write the chosen items, one conversation after the other; return how many were not there."""
    wanted = [(place, task) for task, chosen in found.chosen.items() for place in chosen]
    wanted.sort(key=lambda one: (one[0]["conversation"], one[0]["side"], one[1], one[0]["start"]))
    written, reading = 0, Sounds(keep=2)
    without = set[str]()
    for n, (place, task) in enumerate(wanted, 1):
        cluster = place["conversation"]
        files = found.surveys[cluster].files(place)
        folder = asked.out / task / as_file_name(place["id"])
        script = files[SCRIPT]
        if task == LISTEN:
            found.reference[place["id"]] = script["listener"]["distribution"]
        if not is_there(folder, script, with_sound):
            recordings = _recordings(corpus, names[cluster], script) if with_sound else None
            if with_sound and recordings is None:
                without.add(names[cluster])
            try:
                write_fdb_item(folder, files, recordings, reading)
                written += 1
            except InputError as error:
                failed.append((f"{task}/{place['id']}", str(error)))
                # What could not be written is no item, whatever was there before.
                found.chosen[task].remove(place)
                found.reference.pop(place["id"], None)
        if progress:
            progress("items", n, len(wanted))
    failed.extend((name, f"{name}: no recording of it, which --audio asks for") for name in sorted(without))
    kept = {asked.out / task / as_file_name(one["id"]) for task, chosen in found.chosen.items() for one in chosen}
    remove_others((asked.out / task for task in (*V10, *V15)), kept)
    return written


def _recordings(corpus: Corpus, name: str, script: Mapping[str, Any]) -> tuple[Recording, Recording] | None:
    both = corpus.recordings(name)
    user, partner = (both[script["recording"][role]["side"] - 1] for role in ("user", "partner"))
    return None if user is None or partner is None else (user, partner)


def is_there(folder: Path, script: Mapping[str, Any], with_sound: bool) -> bool:
    """Tell whether the folder is this very item, with its sound if that is asked for."""
    try:
        there = read_json(folder / SCRIPT)
    except InputError:
        return False
    same = isinstance(there, dict) and there.get("digest") == script["digest"]
    return same and all((folder / name).is_file() for name in (sound_files(script) if with_sound else ()))


def _told(
    found: _Found, corpus: Corpus, read: Sequence[str], written: int, failed: Sequence[tuple[str, str]],
    decisions: Mapping[str, str] | None, right: str, names: Mapping[str, str],
) -> FdbHarvested:  # fmt: skip
    items = {task: len(chosen) for task, chosen in found.chosen.items()}
    retained = dict[str, dict[str, float | int | None]]()
    for task, n in items.items():
        passed, candidates = len(found.places[task]), found.funnels[task].candidates
        retained[task] = {
            "found": candidates, "passed": passed, "items": n,
            "of_passed": round(n / passed, 4) if passed else None,
            "of_found": round(n / candidates, 4) if candidates else None,
        }  # fmt: skip
    decided = dict(found.decided) if decisions is not None else {}
    doubts = tuple((names[cluster], doubt) for cluster, one in found.surveys.items() for doubt in one.doubts)
    return FdbHarvested(
        items, tuple(found.funnels.items()), len(read), written, tuple(failed), corpus.remarks, retained, decided,
        sum(one.words for one in found.surveys.values()), sum(one.restored for one in found.surveys.values()), right,
        doubts,
    )  # fmt: skip


def _summarise(
    result: FdbHarvested, found: _Found, corpus: Corpus, told: Mapping[str, Any], cap: int, asked: Asked
) -> None:
    out = asked.out
    if LISTEN in result.items:
        write_json(out / REFERENCE, dict(sorted(found.reference.items())))
    write_json(
        out / COUNTS,
        {
            "schema": 1, "corpus": corpus.format, "conversations": result.conversations, "words": result.words,
            "words_restored": result.restored, "items": dict(result.items),
            "retained": result.retained, "decided": dict(result.decided) or None,
            "doubts": [{"conversation": cluster_of(name), "doubt": doubt} for name, doubt in result.doubts],
            "tasks": {task: funnel.to_json() for task, funnel in result.funnels},
        },
    )  # fmt: skip
    write_json(
        out / SUMMARY,
        {
            "schema": 1, "about": _ABOUT, "asked": told, "cap": cap, "licence": asked.licence or corpus.licence,
            "where": asked.where or corpus.origin, "audio": result.audio or None,
            "failed": len(result.failed),
        },
    )  # fmt: skip
