"""A benchmark's items are driven through a system, and what came of it is heard, measured and reported.

The stages of :mod:`fullduplex.stages` with one before them: the talks are held. A talk that is
recorded is never held again; a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.clocks import differing, under
from fullduplex.data import audio
from fullduplex.data.dataset import Entry, Voice, open_dataset
from fullduplex.data.files import read_json
from fullduplex.data.leaving_out import without
from fullduplex.driving.clock import CLOCKS
from fullduplex.driving.cues import at
from fullduplex.driving.link import System
from fullduplex.driving.prices import Prices, prices_of
from fullduplex.errors import InputError, RunError
from fullduplex.holding import Budget, attempts_of, budget_for, fits_all, hold_tasks
from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.spec import Spec
from fullduplex.reporting.report import rows_of, speech_of, write_files
from fullduplex.runs.drive import DriveTask, changed, driven
from fullduplex.runs.limits import Limits, spent_on
from fullduplex.runs.measured import scenario_of
from fullduplex.runs.run import Run, again
from fullduplex.runs.stimulus import stimulus
from fullduplex.runs.told import DONE, TWIN
from fullduplex.stages import Asked, Plan, Progress, Scored, about, heard_and_measured, settled
from fullduplex.systems.build import access_of, build, hosted, needs_keys
from fullduplex.systems.pages import is_served

#: Take the words that the system reports of itself, and recognise nothing.
REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Driving:
    """How the talks are held.

    ``clock`` "" is the system's own. ``repeats``: how often each item is driven, since systems are stochastic.
    ``retries``: how often a talk that failed is held again. ``sessions``: how many talks go on at once on the
    wall clock, and ``per_minute`` how many begin in a minute at most. ``frame`` and ``priming`` in microseconds.
    ``exclude`` names the items that are left out (:func:`fullduplex.data.leaving_out.left_out_by`).

    ``prices``: what talks cost; None for what is known of the system by itself. ``max_cost``: the US dollars that the
    run may cost, all its calls together; a talk that could pass it is not held. ``keys`` of the system, by the names
    of their variables: they are shown and kept nowhere. ``access``: ``open``, ``closed``, or "" for what the system
    says of itself.
    """

    system: Spec
    clock: str = ""
    repeats: int = 1
    retries: int = 2
    sessions: int = 1
    frame: int = ms(20)
    priming: int = 0
    prices: Prices | None = None
    exclude: Path | None = None
    max_cost: float | None = None
    per_minute: float | None = None
    access: str = ""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return what a run that goes on must have in common with this; not how fast it goes."""
        return {
            "system": self.system.to_json(),
            "clock": self.clock,
            "repeats": self.repeats,
            "frame": in_seconds(self.frame),
            "priming": in_seconds(self.priming),
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take: talks, seconds of talk at most, seconds by the clock on the wall, and money or None.

    ``price`` is in US dollars: at most, handshakes and farewells too, where a minute has a price, so that a cap of it
    lets all be held; where tokens have, as the talks that are held already cost on average, and None before the first.
    ``spent``: what those cost; ``prices``: by what it is reckoned. ``served``: whether a server is talked with.
    """

    talks: int
    already: int
    seconds_of_talk: float
    seconds: float | None
    price: float | None
    spent: float = 0.0
    prices: Prices | None = None
    served: bool = True


def planned(path: Path, asked: Asked, driving: Driving, out: Path, *, cache: Path) -> Estimate:
    """Return what :func:`converse` would do, doing nothing; raises what it would raise before its first talk."""
    prepared = _prepared(path, out, asked, driving, cache)
    tasks, clock = prepared.tasks, prepared.clock
    waiting = [_at_most(task.entry) for task in tasks if not _is_there(task)]
    held, left = len(tasks) - len(waiting), sum(waiting)
    spent, talked = _spent(tasks)
    prices, price = prepared.prices, None
    if prices is not None:
        price = fits_all(waiting, prices)
        if price is None and talked and spent:
            price = spent / talked * left
    return Estimate(
        len(tasks), held, sum(_at_most(task.entry) for task in tasks), left / driving.sessions if clock == "wall" else
        None, price, round(spent, 9), prices, served=is_served(driving.system),
    )  # fmt: skip


def converse(
    path: Path,
    out: Path,
    asked: Asked,
    driving: Driving,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
    every_clock: bool = True,
) -> Scored:
    """Drive every item at ``path`` through the system, into the run ``out``, then hear and measure it.

    ``every_clock``: also under each clock that has the audio elsewhere, see :mod:`fullduplex.clocks`.
    What the run holds is kept; a talk that failed is held again by the same call. Raises
    :class:`FullDuplexError` in one sentence where it cannot start.
    """
    talks = hold_all(path, out, asked, driving, cache=cache, engine=engine, progress=progress)
    run, reported = talks.run, asked.recogniser == REPORTED
    heard, tasks = _heard_as(asked), [task for task in talks.tasks if not task.twin]
    named = [_named(driven(task.entry, run, task.repeat, reported=reported), task.repeat, driving) for task in tasks]
    keys = {task.folder: entry.key for task, entry in zip(tasks, named, strict=True)}
    # A twin that failed does not fail its item, which then has none.
    keys |= {task.folder: f"{task.name}{again(task.repeat)}" for task in talks.tasks if task.twin}
    fell = {keys[task.folder]: why for task, why in talks.failed}
    repeats = [task.repeat for task in tasks]
    with run.alone():
        scored = heard_and_measured(
            run, named, talks.plan, heard, cache=cache, engine=engine, progress=progress, repeats=repeats, failed=fell
        )
        elsewhere = differing(run)
        for clock, n in elsewhere.items():
            if every_clock:
                write_clock(under(run, clock, cache=cache, engine=engine, progress=progress))
            else:
                way = f"`fullduplex measure {run.path} --clock {clock}` shows the numbers there"
                scored = replace(
                    scored, remarks=(*scored.remarks, f"the {clock} clock has the audio elsewhere in {n} talks; {way}")
                )
    return scored


@dataclass(frozen=True, slots=True)
class TalksHeld:
    """The talks of a run: what each was asked for, those that failed with a sentence, and how they are to be heard."""

    run: Run
    tasks: tuple[DriveTask, ...]
    failed: tuple[tuple[DriveTask, str], ...]
    plan: Plan


def hold_all(
    path: Path,
    out: Path,
    asked: Asked,
    driving: Driving,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
) -> TalksHeld:
    """Drive every item at ``path`` through the system, into the run ``out``; hear and measure nothing.

    :func:`converse` goes on from there. Raises :class:`FullDuplexError` in one sentence where it cannot start.
    """
    prepared = _prepared(path, out, asked, driving, cache)
    run = Run.begin(out, prepared.told)
    with run.alone():
        # What a killed process was writing; nobody writes now.
        for pattern in ("trials*/*/*/.*.part", f"trials*/*/*/{TWIN}/.*.part"):
            for part in run.path.glob(pattern):
                part.unlink(missing_ok=True)
        failed = hold_tasks(
            prepared.tasks,
            prepared.clock,
            sessions=driving.sessions,
            engine=engine,
            progress=progress,
            budget=prepared.budget,
            lasts=lambda task: _at_most(task.entry),
            there=_is_there,
        )
        return TalksHeld(run, tuple(prepared.tasks), tuple(failed), prepared.plan)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """All that can be settled before the first talk: nothing is written yet."""

    entries: list[Entry]
    clock: str
    plan: Plan
    told: dict[str, Any]
    tasks: list[DriveTask]
    prices: Prices | None = None
    budget: Budget | None = None


def _prepared(path: Path, out: Path, asked: Asked, driving: Driving, cache: Path) -> _Prepared:
    """Return what a run of ``asked`` would do; raises what has to be said before anything is written."""
    chosen, entries = _opened(path, asked)
    entries, remarks = _chosen(path, entries, driving.exclude)
    system = _any_of(driving.system, entries, cache, driving.keys)
    clock = _clock(driving, system)
    # The table goes by the model, which the system itself knows where the spec names none.
    prices = driving.prices or prices_of(system.spec, hosted=hosted(driving.system))
    _apart(path, out)
    # Every talk will have a recording of the system; whether there are words is told by what is asked.
    reported = asked.recogniser == REPORTED
    plan = settled(chosen, [_with_output(entry, reported) for entry in entries], _heard_as(asked), cache, remarks)
    told = _told(chosen, path, entries, asked, driving, clock, out)
    Run.fits(out, told)
    limits = Limits(tuple(driving.keys.items()), prices, per_minute=driving.per_minute)
    twins = any(benchmark.twins for benchmark in chosen)
    tasks = list(_tasks(out, entries, asked, driving, cache, limits, twins=twins))
    _same(tasks)
    budget = budget_for(tasks, driving.max_cost, prices)
    if not all(map(_is_there, tasks)):
        needs_keys(driving.system, driving.keys)
    return _Prepared(entries, clock, plan, told, tasks, prices, budget)


def _heard_as(asked: Asked) -> Asked:
    """Return ``asked`` as listening understands it: words that the system reports are recognised by nobody."""
    return replace(asked, recogniser="none") if asked.recogniser == REPORTED else asked


def _told(
    chosen: Sequence[Any],
    path: Path,
    entries: Sequence[Entry],
    asked: Asked,
    driving: Driving,
    clock: str,
    out: Path,
) -> dict[str, Any]:
    told = about(chosen, path, entries, asked, asked.system or driving.system.name)
    if driving.exclude is not None:
        said = hashlib.sha256(driving.exclude.read_bytes()).hexdigest()
        told["source"] |= {"excluded_by": {"path": str(driving.exclude), "sha256": said}}
    access = driving.access or _access_there(out) or access_of(driving.system)
    told |= {"access": access} if access else {}
    return told | {"driven": driving.to_json() | {"clock": clock}}


def _access_there(out: Path) -> str:
    """Return the access that a run that goes on was given; empty where none was."""
    if not (out / "run.json").is_file():
        return ""
    told = read_json(out / "run.json")
    return str(told.get("access") or "") if isinstance(told, dict) else ""


def _same(tasks: Sequence[DriveTask]) -> None:
    """Raise :class:`RunError` where a talk that is recorded would be another one today."""
    for task in tasks:
        why = changed(task)
        if why:
            raise RunError(why)


def write_clock(scored: Scored) -> list[dict[str, list[dict[str, Any]]]]:
    """Write the estimates and facts of a run under another clock into its own folder, and return its tables."""
    variants = [benchmark.variant for benchmark in scored.measured.benchmarks]
    rows = {variant: rows_of(scored.run, scored.measured, variant) for variant in variants}
    write_files(scored.run, scored.measured, rows, speech_of(scored.run, scored.measured, rows))
    return [rows]


def _opened(path: Path, asked: Asked) -> tuple[Sequence[Any], list[Entry]]:
    chosen = benchmarks.find(asked.benchmark)
    data = open_dataset(path, task=asked.task, channels=asked.channels, offset=asked.offset, layout=asked.layout)
    # A folder that holds several systems' outputs has the same items under each.
    once = {entry.key: entry for entry in reversed(data.entries)}
    entries = [entry for entry in reversed(once.values()) if _is_of(entry, chosen)]
    if not entries:
        raise InputError(path, found=f"no item of {chosen[0].name}", expected="a folder of its items")
    return chosen, entries


def _chosen(path: Path, entries: list[Entry], exclude: Path | None) -> tuple[list[Entry], tuple[str, ...]]:
    """Return the entries without those that ``exclude`` names, and a sentence that says how many these are."""
    if exclude is None:
        return entries, ()
    kept, left_out = without(entries, exclude)
    if not kept:
        raise InputError("--exclude", found=f"every item of {path}", expected="one that is left")
    return kept, (f"{left_out} of {len(entries)} items are left out, as {exclude.name} says",)


def _is_of(entry: Entry, chosen: Sequence[Any]) -> bool:
    item = {"task": entry.task, "dataset": entry.dataset}
    return any(scenario_of(benchmark, item) for benchmark in chosen)


def _clock(driving: Driving, system: System) -> str:
    """Return the clock of the talks; raises where the system cannot keep the one that is asked for."""
    if driving.clock and driving.clock not in CLOCKS:
        raise InputError("--clock", found=driving.clock, expected=" or ".join(CLOCKS))
    allowed = system.traits.clocks
    if driving.clock and driving.clock not in allowed:
        raise InputError("--clock", found=driving.clock, expected=f"{' or '.join(allowed)} for {driving.system.name}")
    if driving.sessions > 1 and system.traits.exclusive:
        raise InputError("--sessions", found=driving.sessions, expected=f"1: {driving.system.name} holds one at a time")
    return driving.clock or allowed[0]


def _any_of(spec: Spec, entries: Sequence[Entry], cache: Path, keys: Mapping[str, str]) -> System:
    """Return the system as the first item that has one needs it; an item without one fails alone."""
    for n, entry in enumerate(entries, 1):
        try:
            system = build(spec, cache, {"id": entry.id, "set": entry.set}, keys)
            _ = system.traits
        except InputError:
            if n == len(entries) or "{" not in str(spec):
                raise
        else:
            return system
    raise AssertionError("a run has items")


def _tasks(
    out: Path,
    entries: Sequence[Entry],
    asked: Asked,
    driving: Driving,
    cache: Path,
    limits: Limits,
    *,
    twins: bool,
) -> Iterator[DriveTask]:
    for repeat in range(1, driving.repeats + 1):
        for entry in entries:
            task = DriveTask(
                str(out), entry, driving.system, driving.clock, repeat, driving.retries,
                driving.frame, driving.priming, asked.seed, str(cache), asked.language, limits=limits,
            )  # fmt: skip
            yield task
            clean = entry.files.get("clean_input.wav") if twins else None
            if clean is not None:
                same = replace(entry, user_voice=Voice(clean), files={}, events=())
                yield replace(task, entry=same, twin=True)


def _with_output(entry: Entry, reported: bool) -> Entry:
    files = {name: path for name, path in entry.files.items() if name not in ("output.json", "words.json")}
    if reported:
        files["words.json"] = Path("words.json")
    return replace(entry, files=files, system_voice=Voice(Path("output.wav")), user_voice=Voice(Path("input.wav")))


def _named(entry: Entry, repeat: int, driving: Driving) -> Entry:
    """Return a repeat under a name of its own; the item is the cluster of its repeats."""
    if driving.repeats == 1:
        return entry
    return replace(entry, id=entry.id + again(repeat), group=entry.group or entry.id)


def _at_most(entry: Entry) -> float:
    asked = stimulus(entry)
    if asked.cap is not None:
        return in_seconds(asked.cap)
    until = 0
    for cue in asked.cues:
        until = max(until, cue.due.time if isinstance(cue.due, at) else 0) + audio.probe(cue.audio).duration
    return in_seconds(until)


def _spent(tasks: Sequence[DriveTask]) -> tuple[float, float]:
    """Return what the talks that are held cost, in US dollars, and how many seconds those last whose cost is known."""
    spent = talked = 0.0
    for task in tasks:
        for attempt in attempts_of(task):
            usage, cost = attempt.get("usage"), spent_on([attempt])
            if cost and isinstance(usage, dict):
                spent, talked = spent + cost, talked + float(usage.get("seconds") or 0.0)
    return spent, talked


def _is_there(task: DriveTask) -> bool:
    try:
        return not read_json(task.folder / DONE)["failed"]
    except (InputError, KeyError, TypeError):
        return False


def _apart(path: Path, out: Path) -> None:
    source, target = path.resolve(), out.resolve()
    if target == source or source in target.parents:
        raise InputError("--out", found=str(out), expected="a folder outside the one that holds the items")
    if target in source.parents:
        raise RunError(f"{out}: holds the items themselves; give another --out")


__all__ = ["Driving", "Estimate", "Plan", "TalksHeld", "converse", "hold_all", "planned"]
