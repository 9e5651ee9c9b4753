"""The recordings of a run, heard again with another detector or recogniser, into a run of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullduplex.benchmarks.declare import Benchmark
from fullduplex.data.dataset import Entry, Voice
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError, RunError
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, seconds
from fullduplex.model.spec import Spec
from fullduplex.runs.items import read_item
from fullduplex.runs.measured import Measured
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, Progress, about, heard_and_measured, settled

FOLDER = "heard"


def heard_again(
    run: Run,
    benchmark: Benchmark,
    kind: str,
    text: str,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
) -> Measured:
    """Hear every recording of ``run`` with another detector or recogniser, into a run of its own, and measure it.

    With a detector the words stay as they are; with a recogniser all words are recognised anew, also those that came
    with the recordings. Raises :class:`FullDuplexError` where there is no such plug-in.
    """
    entries, repeats = [], []
    for folder in run.items():
        try:
            item = read_item(folder)
        except InputError:
            continue  # it has failed, and is counted so in the run's own table
        if "system" in item["files"]:
            entries.append(_entry(folder, item, words=kind == "detector"))
            number = folder.parent.parent.name.removeprefix("trials").removeprefix("-")
            repeats.append(int(number) if number else 1)
    if not entries:
        raise RunError(f"{run.path}: has no recording to hear again")
    told = run.about.get("recogniser")
    asked = Asked(
        f"{benchmark.name}@{benchmark.variant}",
        seen=text if kind == "detector" else _text(run.about["hearings"]["silero"]["detector"]),
        recogniser=text if kind == "recogniser" else ("none" if told is None else "auto"),
        language=str(run.about.get("language", "en")),
        system=run.system,
        seed=int(run.about.get("seed", 0)),
        qualities=tuple(run.about.get("qualities", ())),
    )
    if kind == "detector" and told is not None and told["name"] not in ("auto", "reported"):
        asked = replace(asked, recogniser=_text(told))
    plan = settled([benchmark], entries, asked, cache)
    again = Run.begin(
        run.path / FOLDER / as_file_name(f"{kind} {text}"), about([benchmark], run.path, entries, asked, run.system)
    )
    return heard_and_measured(
        again, entries, plan, asked, cache=cache, engine=engine, progress=progress, repeats=repeats
    ).measured


def _entry(folder: Path, item: Mapping[str, Any], *, words: bool) -> Entry:
    """Return an item of a run as an entry: its recordings as they lie there, its words or none."""
    transcripts = {"input.json", "output.json", "clean_input.json", "clean_output.json", "words.json"}
    files = {
        name: folder / name
        for name in item["files"].values()
        if name.endswith(".json") and (words or name not in transcripts) and (folder / name).is_file()
    }
    if words and (folder / "words.json").is_file():
        files["words.json"] = folder / "words.json"
        files.setdefault("output.json", folder / "output.json")
        files = {name: path for name, path in files.items() if path.is_file()}
    voices = {role: folder / name for role, name in item["files"].items() if not name.endswith(".json")}
    files |= {f"{role.replace('user', 'input').replace('system', 'output')}.wav": path
              for role, path in voices.items() if role.startswith("clean_")}  # fmt: skip
    events = tuple(
        Event(e["kind"], Span(seconds(e["start"]), seconds(e["end"])), e["text"], e["source"]) for e in item["events"]
    )
    own = not any(name in files for name in ("interrupt.json", "pause.json", "turn_taking.json", "metadata.json"))
    return Entry(
        item["id"], item["task"], item["dataset"], group=item["group"],
        user_voice=Voice(voices["user"]) if "user" in voices else None, system_voice=Voice(voices["system"]),
        files=files, events=events if own else (),
    )  # fmt: skip


def _text(spec: Mapping[str, Any]) -> str:
    return str(Spec(spec["name"], spec["options"]))
