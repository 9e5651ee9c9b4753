"""Items are heard, measured and reported: the stages, one after another, over a run on disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex import benchmarks, plugins
from fullduplex.benchmarks.declare import Benchmark, Hearing
from fullduplex.data.dataset import Entry, open_dataset
from fullduplex.data.fdb_folder import read_reference
from fullduplex.data.files import read_json, replacing, write_json
from fullduplex.data.names import as_file_name
from fullduplex.engines import each, open_engine, usable_cores
from fullduplex.errors import FullDuplexError, InputError, PluginError, RunError, printable
from fullduplex.making.harvest.spoken_in import harvested_language
from fullduplex.model.spec import Spec, digest
from fullduplex.providers.weights import sha256
from fullduplex.runs.items import SEEN, blank
from fullduplex.runs.limits import NOT_HELD
from fullduplex.runs.listen import ListenTask, detector, listen, recogniser
from fullduplex.runs.measured import Measured, measure
from fullduplex.runs.run import Run
from fullduplex.runs.sounds import check_qualities

#: Told how far a stage is: its name, items done, items in all.
Progress = Callable[[str, int, int], None]
#: What stands for "the words in the folder and no others".
RECORDED = ("none", "recorded")
#: Below this many items, workers cost more than they save.
FEW = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """What a scoring was asked for; everything that a run has to repeat.

    ``recogniser``: a spec, ``none``, or ``auto``: Whisper where no item of a set has words.
    ``seen``: the detector of the default hearing. ``reference``: a file of reference
    distributions of backchannels. ``qualities``: what is measured of stretches of speech beside the voice's own
    features, where the benchmark measures any (``dnsmos`` …).
    """

    benchmark: str = "fdb-1.0"
    task: str | None = None
    channels: Mapping[str, int] | None = None
    offset: int = 0
    layout: str | None = None
    seen: str = "silero"
    recogniser: str = "auto"
    language: str = "en"
    reference: Path | None = None
    system: str = ""
    seed: int = 0
    qualities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored run: where it is, what was measured, and what failed."""

    run: Run
    measured: Measured
    failed: Mapping[str, str]
    remarks: tuple[str, ...] = ()


def score(
    path: Path,
    out: Path,
    asked: Asked,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
) -> list[Scored]:
    """Hear and measure what is at ``path``, into ``out``: one run, or a run for each system that the layout names.

    A run that is there goes on; what it holds for the same content and spec is kept. Raises
    :class:`FullDuplexError` in one sentence where it cannot start.
    """
    _apart(path, out)
    chosen = benchmarks.find(asked.benchmark)
    data = open_dataset(path, task=asked.task, channels=asked.channels, offset=asked.offset, layout=asked.layout)
    systems = list(dict.fromkeys(entry.system for entry in data.entries))
    if len(systems) > 1:
        _own(out, systems)
    made = []
    for name in systems:
        entries = [entry for entry in data.entries if entry.system == name]
        place = out / as_file_name(name) if len(systems) > 1 else out
        system = asked.system or name or path.resolve().name
        # What is missing stops here, in one sentence, before anything is written.
        plan = settled(chosen, entries, asked, cache, data.remarks)
        run = Run.begin(place, about(chosen, path, entries, asked, system))
        one = heard_and_measured(run, entries, plan, asked, cache=cache, engine=engine, progress=progress)
        if len(systems) > 1:
            one = replace(one, remarks=(*told(one.measured, system), *plan.remarks))
        made.append(one)
    return made


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run's items are heard and measured; settled before anything is written."""

    benchmarks: Sequence[Benchmark]
    hearings: tuple[Hearing, ...]
    recogniser: Spec | None
    reference: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = ()


def heard_and_measured(
    run: Run,
    entries: Sequence[Entry],
    plan: Plan,
    asked: Asked,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
    repeats: Sequence[int] = (),
    failed: Mapping[str, str] | None = None,
) -> Scored:
    """Hear and measure ``entries`` as items of ``run``.

    ``repeats``: for each entry, the how-manieth time it was driven. ``failed``: entries that failed before.
    """
    annotated = _annotated(entries)
    measured_parts = [benchmark.parts for benchmark in plan.benchmarks if benchmark.parts is not None]
    parts = tuple({part.name: part for part in measured_parts}.values())
    tasks = [
        ListenTask(
            str(run.path),
            entry,
            run.system,
            # What an item calls for by its cues either came about or did not; it is not guessed.
            entry.set not in annotated and "cues.json" not in entry.files,
            plan.hearings,
            plan.recogniser,
            asked.language,
            str(cache),
            repeat,
            parts,
            ("loudness", *asked.qualities),
        )
        for entry, repeat in zip(entries, repeats or [1] * len(entries), strict=True)
    ]
    fell = {**(failed or {}), **_hear(run, tasks, engine, progress, failed or {})}
    measured = measure(run, plan.benchmarks, plan.reference)
    fell = {**fell, **measured.failed}
    _keep_failures(run, fell, failed or {})
    return Scored(run, measured, fell, (*told(measured), *plan.remarks))


def settled(
    chosen: Sequence[Benchmark], entries: Sequence[Entry], asked: Asked, cache: Path, remarks: Sequence[str] = ()
) -> Plan:
    """Return how ``entries`` will be heard; raises :class:`PluginError` where something for it is missing."""
    said = list(remarks)
    words = _recogniser(entries, asked, said)
    by_sound = {scenario.task for benchmark in chosen for scenario in benchmark.scenarios if scenario.needs_speech}
    usable = _usable(hearings_of(chosen, asked.seen), entries, cache, said, by_sound)
    if words is not None:
        recogniser(words, str(cache))
    reference = read_reference(asked.reference) if asked.reference else None
    if any(benchmark.parts is not None for benchmark in chosen):
        # Weights or libraries that lack are told before anything is heard.
        check_qualities(asked.qualities, cache)
        if asked.qualities and not any(metric.optional for b in chosen for s in b.scenarios for metric in s.metrics):
            rules = ", ".join(f"{benchmark.name}@{benchmark.variant}" for benchmark in chosen)
            said.append(f"{rules}: no number rests on --quality; add @anchored or @all to the benchmark's name")
    elif asked.qualities:
        said.append(f"{chosen[0].name} measures no stretch of sound: --quality changes nothing")
    return Plan(chosen, usable, words, reference, tuple(said))


def measure_again(path: Path, benchmark: str = "", reference: Path | None = None) -> list[Scored]:
    """Measure finished runs at ``path`` again, under ``benchmark`` or as they were asked; reads no audio."""
    made = []
    runs = runs_at(path)
    for run in runs:
        about = run.about["benchmark"]
        wanted = benchmark or f"{about['name']}@all"
        chosen = [b for b in benchmarks.find(wanted) if benchmark or b.variant in about["variants"]]
        chosen.sort(key=lambda b: about["variants"].index(b.variant) if b.variant in about["variants"] else 99)
        given = reference or _kept_reference(run)
        if not chosen:
            raise RunError(f"{run.path}: run.json names no variant of {about['name']}; score into a new --out")
        measured = measure(run, chosen, read_reference(given) if given else None)
        made.append(
            Scored(
                run, measured, {**measured.failed, **_unheard(run)}, told(measured, run.system if len(runs) > 1 else "")
            )
        )
    return made


def measure_together(paths: Sequence[Path]) -> list[Scored]:
    """Measure finished runs at ``paths`` again, to stand in one table; reads no audio.

    Raises :class:`RunError` where they are of different benchmarks or rules, or two systems have one name.
    """
    made = [one for path in paths for one in measure_again(path)]
    first = made[0].run.about["benchmark"]
    whose: dict[str, Path] = {}
    for one in made:
        its = one.run.about["benchmark"]
        if (its["name"], its["variants"]) != (first["name"], first["variants"]):
            raise RunError(
                f"{one.run.path}: found {its['name']}@{','.join(its['variants'])}, expected "
                f"{first['name']}@{','.join(first['variants'])} as in {made[0].run.path}; score both alike"
            )
        if one.run.system in whose:
            raise RunError(
                f"{one.run.path}: found the system {printable(one.run.system)}, as {whose[one.run.system]} has, "
                "expected another name; give one its own: `run --name`, `score --system`"
            )
        whose[one.run.system] = one.run.path
    return [replace(one, remarks=told(one.measured, one.run.system)) for one in made]


def told(measured: Measured, system: str = "") -> tuple[str, ...]:
    """Return what a reader of the tables has to know of their making, with the number of items."""
    whose = f"{system}: " if system else ""
    kin = [sentence for judge in measured.judges[:1] for sentence in judge.kin]
    anchored = any(
        variant.variant == "anchored"
        for name in {benchmark.name for benchmark in measured.benchmarks}
        for variant in benchmarks.find(f"{name}@all")
    )
    return (
        *(f"{whose}{text} ({n} item{'s' * (n > 1)})" for text, n in sorted(measured.notes.items())),
        *(f"{whose}{sentence}" for sentence in measured.onsets.sentences(anchored=anchored)),
        *(f"{whose}{sentence}" for sentence in measured.unspoken.sentences()),
        *(f"{whose}{sentence}" for sentence in kin),
    )


def _unheard(run: Run) -> dict[str, str]:
    """Return one failure that counts the items which the run was asked for and does not hold."""
    asked = (run.about.get("source") or {}).get("items")
    there = sum(1 for _ in run.items())
    if not isinstance(asked, int) or there >= asked:
        return {}
    command = "run" if "driven" in run.about else "score"
    way = f"give `fullduplex {command}` the same --out again to hear the others"
    return {"the run": f"{there} of {asked} items were heard; {way}"}


def runs_at(path: Path) -> list[Run]:
    """Return the run in ``path``, or the runs in its folders where it holds one for each system."""
    if (path / "run.json").is_file():
        return [Run.open(path)]
    found = sorted(p.parent for p in path.glob("*/run.json")) if path.is_dir() else []
    return [Run.open(p) for p in found] if found else [Run.open(path)]


def _hear(
    run: Run, tasks: Sequence[ListenTask], engine: str, progress: Progress | None, fell: Mapping[str, str]
) -> dict[str, str]:
    """Lay out and hear every item; return those that failed, with a sentence each. ``fell``: those that had before."""
    failed: dict[str, str] = {}
    with open_engine(engine or engine_for(len(tasks))) as opened:
        for done, outcome in enumerate(each(opened, listen, tasks), 1):
            if progress is not None:
                progress("listen", done, len(tasks))
            task = outcome.task
            key = task.entry.key
            # What ended a talk says more than what could not be heard of it then.
            error = fell.get(key) or outcome.error
            if error is not None:
                failed[key] = error
                _mark_failed(run, task, error)
            elif outcome.result.failed:
                failed[key] = outcome.result.failed
    return failed


def engine_for(tasks: int) -> str:
    """Return the engine for so many tasks where none was named: this machine's cores, if that pays and can be."""
    return "here" if tasks < FEW or not _can_spawn() else f"processes:{usable_cores()}"


def failures(scored: Sequence[Scored]) -> dict[str, str]:
    """Return every failed item of the runs with its sentence, under its system's name where there are several."""
    several = len(scored) > 1
    return {(f"{s.run.system}: {key}" if several else key): why for s in scored for key, why in s.failed.items()}


def _can_spawn() -> bool:
    """Return whether workers can start: each imports the main module, which must then be a file, not typed in."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path is None or Path(path).is_file()


def hearings_of(chosen: Iterable[Benchmark], seen: str) -> tuple[Hearing, ...]:
    """Return each hearing that the benchmarks need, with the one that people see in front."""
    made = {SEEN: Hearing(SEEN, Spec.parse(seen))}
    for benchmark in chosen:
        if benchmark.hearing.name != SEEN:
            made[benchmark.hearing.name] = benchmark.hearing
    return tuple(made.values())


def _usable(
    hearings: tuple[Hearing, ...], entries: Sequence[Entry], cache: Path, remarks: list[str], by_sound: set[str]
) -> tuple[Hearing, ...]:
    """Return the hearings whose detector is at hand; one that a number needs must be."""
    if not any(entry.user_voice or entry.system_voice for entry in entries):
        return ()
    tasks = {entry.task for entry in entries}
    needed = bool(tasks & by_sound) or any(not _has_words(entry) for entry in entries)
    found = []
    for hearing in hearings:
        if hearing.name != SEEN and not tasks & set(hearing.tasks):
            continue
        try:
            detector(hearing.detector, str(cache))
        except PluginError as error:
            if needed or (hearing.name == SEEN and hearing.detector.name != "silero"):
                raise
            remarks.append(f"speech was not looked for, since no number here needs it: {error}")
            continue
        found.append(hearing)
    return tuple(found)


def _recogniser(entries: Sequence[Entry], asked: Asked, remarks: list[str]) -> Spec | None:
    if asked.recogniser in RECORDED:
        return None
    without = [entry for entry in entries if entry.system_voice is not None and not _has_words(entry)]
    if asked.recogniser != "auto":
        plugins.find("recognisers", Spec.parse(asked.recogniser).name)
        return Spec.parse(asked.recogniser) if without else None
    if not without:
        return None
    if len(without) < len(entries) and any(_has_words(entry) for entry in entries):
        remarks.append(
            f"{len(without)} items have audio but no words, as the released scripts would find them; "
            "add --recogniser whisper to have their words recognised"
        )
        return None
    return Spec("whisper")


def _has_words(entry: Entry) -> bool:
    if "clean_output.wav" in entry.files and not {"clean_output.json", "words.json"} & set(entry.files):
        return False
    return "output.json" in entry.files or "words.json" in entry.files


def _annotated(entries: Iterable[Entry]) -> set[str]:
    """Return the sets with an annotated event; in the others the user's channel may show the events."""
    names = {"pause.json", "turn_taking.json", "interrupt.json", "metadata.json", "interaction.json"}
    return {entry.set for entry in entries if entry.events or names & set(entry.files)}


def about(
    chosen: Sequence[Benchmark],
    path: Path,
    entries: Sequence[Entry],
    asked: Asked,
    system: str,
) -> dict[str, Any]:
    """Return what a run.json says was asked."""
    hearings = hearings_of(chosen, asked.seen)
    reference = None
    if asked.reference is not None:
        reference = {
            "name": asked.reference.name,
            "path": str(asked.reference.resolve()),
            "digest": sha256(asked.reference),
        }
    return {
        "benchmark": {
            "name": chosen[0].name,
            "version": chosen[0].version,
            "variants": [benchmark.variant for benchmark in chosen],
        },
        "system": system,
        "source": {"path": str(path), "items": len(entries), "digest": digest(sorted(entry.key for entry in entries))},
        "hearings": {hearing.name: hearing.to_json() for hearing in hearings},
        "recogniser": None if asked.recogniser in RECORDED else Spec.parse(asked.recogniser).to_json(),
        "language": asked.language,
        **({"items_language": spoken} if (spoken := harvested_language(path)) else {}),
        "seed": asked.seed,
        **({"qualities": list(asked.qualities)} if asked.qualities else {}),
        "reference": reference,
        "options": {
            "task": asked.task,
            "channels": dict(asked.channels) if asked.channels else None,
            "offset": asked.offset / 1_000_000,
            "layout": asked.layout,
        },
    }


def _kept_reference(run: Run) -> Path | None:
    told = run.about.get("reference")
    if not told:
        return None
    path = Path(told.get("path", ""))
    if not path.is_file() or sha256(path) != told["digest"]:
        raise RunError(
            f"{run.path}: was scored with the reference {told['name']}, which is gone or changed; "
            "give it with --reference"
        )
    return path


def _own(out: Path, systems: Sequence[str]) -> None:
    """Refuse a folder for several systems' runs that holds what no such scoring wrote."""
    if not out.is_dir() or any((out / as_file_name(name) / "run.json").is_file() for name in systems):
        return
    if any(out.iterdir()):
        raise RunError(f"{out}: holds files but no run of these systems; give an empty or a new folder as --out")


def _apart(path: Path, out: Path) -> None:
    source, target = path.resolve(), out.resolve()
    if target == source or (source in target.parents and source.is_dir()):
        raise InputError("--out", found=str(out), expected="a folder outside the one that is scored")


def _mark_failed(run: Run, task: ListenTask, error: str) -> None:
    entry = task.entry
    folder = task.folder
    item: dict[str, Any] = {}
    try:
        item = read_json(folder / "item.json")
    except FullDuplexError:
        folder.mkdir(parents=True, exist_ok=True)
    base = blank(entry, run.system)
    write_json(folder / "item.json", {**base, **item, "failed": error})


def _keep_failures(run: Run, failed: Mapping[str, str], before: Mapping[str, str]) -> None:
    """Write what failed, with the stage: a talk that was ``not held``, a ``talk`` that broke, else ``listen``."""
    path = run.path / "errors.jsonl"
    if not failed:
        path.unlink(missing_ok=True)
        return
    with replacing(path) as part, part.open("w", encoding="utf-8") as file:
        for item, error in failed.items():
            stage = "listen" if item not in before else "not held" if error.startswith(NOT_HELD) else "talk"
            file.write(json.dumps({"item": item, "stage": stage, "error": error}, ensure_ascii=True) + "\n")
