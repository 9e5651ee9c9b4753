"""A finished run under another clock: the same log, its audio placed anew, heard and measured again.

The run under another clock is a run of its own, in ``RUN/clocks/CLOCK``. Nothing of the run itself changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.data import audio
from fullduplex.data.dataset import Entry, Voice
from fullduplex.data.fdb_folder import transcript
from fullduplex.data.files import member, write_json
from fullduplex.driving.heard import words_heard
from fullduplex.driving.keep import LOG, read_log
from fullduplex.driving.placements import PLACEMENTS, Placement, parts_by, placed_by
from fullduplex.engines import each, open_engine
from fullduplex.errors import InputError, RunError
from fullduplex.model.items import Event
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.model.speech import Token
from fullduplex.runs.items import read_item
from fullduplex.runs.record import REPORTED, REPORTED_OUTPUT
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, TWIN, read_told, was_held
from fullduplex.stages import Asked, Progress, Scored, engine_for, heard_and_measured, settled

FOLDER = "clocks"


@dataclass(frozen=True, slots=True)
class PlaceTask:
    """One item to place anew: its folder in the run, the folder to write, the clock, the player's priming."""

    folder: str
    out: str
    clock: Placement
    priming: int = 0


def place_anew(task: PlaceTask) -> str:
    """Write the item's output as the task's clock places it, with the words that the system reported.

    Returns the folder that was written. Raises :class:`InputError` where the log cannot be read.
    """
    folder, out = Path(task.folder), Path(task.out)
    log, about = read_log(folder), read_told(folder)
    length = round(float(member(about, "duration", folder / DONE)) * log.rate)
    out.mkdir(parents=True, exist_ok=True)
    sound = placed_by(task.clock, log.received, log.rate, length, priming=task.priming)
    audio.write(out / "output.wav", sound, log.rate)
    parts = parts_by(task.clock, log.received, log.rate, priming=task.priming)
    words = words_heard(parts, log.said, log.rate, length=length * SECOND // log.rate)
    if any(said.words for said in log.said if said.who == "system") or not sound.any():
        found = [Token(word.text, in_seconds(word.span.start), in_seconds(word.span.end)) for word in words]
        rows = [[*token, None] for token in found]
        tracks = {"output": {"from": f"reported, on the {task.clock} clock", "words": rows}}
        write_json(out / REPORTED, {"schema": 1, "spec": None, "digest": digest(tracks), "tracks": tracks})
        # A clean twin's folder is no item's: nothing happens in it.
        events = read_item(folder)["events"] if (folder / "item.json").is_file() else []
        ends = [e["end"] for e in events if e["kind"] == "interruption"]
        after = tuple(token for token in found if not ends or (token.start or 0.0) >= ends[0])
        write_json(out / REPORTED_OUTPUT, transcript(after))
    return str(out)


def under(
    run: Run, clock: str, *, priming: int = 0, cache: Path, engine: str = "", progress: Progress | None = None
) -> Scored:
    """Place every talk of ``run`` as ``clock`` does, hear and measure it, into ``RUN/clocks/CLOCK``.

    Raises :class:`RunError` for a run whose talks were not driven, or whose system has no such clock.
    """
    kind = next((known for known in PLACEMENTS if known == clock), None)
    if kind is None:
        raise InputError("--clock", found=clock, expected=" or ".join(PLACEMENTS))
    folders = [folder for folder in run.items() if (folder / LOG).is_file() and (folder / DONE).is_file()]
    if not folders:
        raise RunError(f"{run.path}: holds no log of what arrived; only what `fullduplex run` drove can be placed anew")
    if kind == "source" and not any("source" in _elsewhere(folder) for folder in folders):
        raise RunError(f"{run.path}: {run.system} told no session time of its own, so there is no source clock")
    name = kind if not priming else f"{kind}-primed-{priming // 1000}ms"
    place = run.path / FOLDER / name
    about = {key: value for key, value in run.about.items() if key not in ("schema", "fullduplex")}
    made = Run.begin(place, about | {"clock": {"placement": kind, "priming": in_seconds(priming)}})
    entries, repeats = [], []
    tasks, twins = list[PlaceTask](), list[PlaceTask]()
    for folder in folders:
        item, repeat = read_item(folder), _repeat(folder)
        plain = item["id"] if repeat == 1 else item["id"].rpartition(" (repeat ")[0]
        out = made.folder(item["set"], plain, repeat)
        tasks.append(PlaceTask(str(folder), str(out), kind, priming))
        if (folder / TWIN / LOG).is_file() and was_held(folder / TWIN):
            twins.append(PlaceTask(str(folder / TWIN), str(out / TWIN), kind, priming))
        entries.append(_entry(folder, out, item))
        repeats.append(repeat)
    failed: dict[str, str] = {}
    with open_engine(engine or engine_for(len(tasks))) as opened:
        where = {task.out: entry.key for task, entry in zip(tasks, entries, strict=True)}
        where |= {task.out: f"{where[str(Path(task.out).parent)]} (clean twin)" for task in twins}
        for done, outcome in enumerate(each(opened, place_anew, [*twins, *tasks]), 1):
            if outcome.error is not None:
                failed[where[outcome.task.out]] = outcome.error
            if progress is not None:
                progress(f"{kind} clock", done, len(where))
    entries = [_with_twin(entry, Path(task.out), Path(task.folder)) for entry, task in zip(entries, tasks, strict=True)]
    chosen = [
        b
        for b in benchmarks.find(f"{run.about['benchmark']['name']}@all")
        if b.variant in run.about["benchmark"]["variants"]
    ]
    chosen.sort(key=lambda b: run.about["benchmark"]["variants"].index(b.variant))
    asked = _asked(run)
    if run.about.get("recogniser", {}) and run.about["recogniser"]["name"] == "reported":
        entries = [_with_reported(entry, Path(task.out)) for entry, task in zip(entries, tasks, strict=True)]
    plan = settled(chosen, entries, asked, cache)
    return heard_and_measured(
        made, entries, plan, asked, cache=cache, engine=engine, progress=progress, repeats=repeats, failed=failed
    )


def differing(run: Run) -> dict[str, int]:
    """Return for each other clock how many of the run's talks have their audio elsewhere by more than a millisecond."""
    found: dict[str, int] = {}
    for folder in run.items():
        for clock, apart in _elsewhere(folder).items():
            if clock in PLACEMENTS and isinstance(apart, int | float) and apart > 0.001:
                found[clock] = found.get(clock, 0) + 1
    return found


def _elsewhere(folder: Path) -> Mapping[str, Any]:
    """Return what the talk says of other clocks; nothing where there is no such talk, or one that cannot be read."""
    try:
        found: Mapping[str, Any] = read_told(folder).get("clocks", {})
    except InputError:
        return {}
    return found


def runs_under(run: Run) -> Iterator[Run]:
    """Yield the run's own copies under other clocks that have been measured."""
    for path in sorted((run.path / FOLDER).glob("*/estimates.json")):
        yield Run.open(path.parent)


def _repeat(folder: Path) -> int:
    number = folder.parent.parent.name.removeprefix("trials").removeprefix("-")
    return int(number) if number else 1


def _entry(folder: Path, out: Path, item: dict[str, Any]) -> Entry:
    files = {
        name: folder / name
        for name in item["files"].values()
        if name.endswith(".json") and name not in ("output.json", "words.json") and (folder / name).is_file()
    }
    own = not any(name in files for name in ("interrupt.json", "pause.json", "turn_taking.json", "metadata.json"))
    events = tuple(
        Event(e["kind"], Span(seconds(e["start"]), seconds(e["end"])), e["text"], e["source"]) for e in item["events"]
    )
    return Entry(
        item["id"], item["task"], item["dataset"], group=item["group"],
        user_voice=Voice(folder / "input.wav"), system_voice=Voice(out / "output.wav"),
        files=files, events=events if own else (),
    )  # fmt: skip


def _with_twin(entry: Entry, out: Path, folder: Path) -> Entry:
    """Return ``entry`` with its clean twin's talk as it was placed anew, where there is one."""
    own, placed = folder / TWIN, out / TWIN
    files = {name: path for name, path in entry.files.items() if name != "clean_output.json"}
    if not (was_held(own) and (placed / "output.wav").is_file()):
        return replace(entry, files=files)
    files |= {"clean_input.wav": own / "input.wav", "clean_output.wav": placed / "output.wav"}
    return replace(entry, files=files)


def _with_reported(entry: Entry, out: Path) -> Entry:
    if not (out / REPORTED).is_file():
        return entry
    twin = out / TWIN / REPORTED_OUTPUT
    files = {**entry.files, "words.json": out / REPORTED, "output.json": out / REPORTED_OUTPUT}
    return replace(entry, files=files | ({"clean_output.json": twin} if twin.is_file() else {}))


def _asked(run: Run) -> Asked:
    about = run.about
    told = about.get("recogniser")
    words = "none" if told is None or told["name"] == "reported" else _text(told)
    seen = _text(about["hearings"]["silero"]["detector"])
    reference = Path(about["reference"]["path"]) if about.get("reference") else None
    return Asked(
        about["benchmark"]["name"], seen=seen, recogniser=words, language=about["language"],
        seed=about["seed"], reference=reference,
    )  # fmt: skip


def _text(spec: Any) -> str:
    return str(Spec(spec["name"], spec["options"]))
