"""People through the very scorer of systems: harvested items whose partner was kept, each person in turn the system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.benchmarks import fdb1, fdb_french
from fullduplex.data.corpora.conversation import Corpus
from fullduplex.data.dataset import Entry, open_dataset
from fullduplex.data.fdb_folder import read_tokens, words_of
from fullduplex.data.files import brief, clear_parts, member, read_json, write_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.harvest import SUMMARY, FdbHarvested, harvest_fdb
from fullduplex.making.harvest.fdb.item import SCRIPT
from fullduplex.making.harvest.fdb.rules import FDB_RULES
from fullduplex.making.harvest.fdb.survey import Asked as SurveyAsked
from fullduplex.making.harvest.hearing import Ears
from fullduplex.model.spans import in_seconds
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, Progress, Scored, about, heard_and_measured, settled

#: The benchmarks that people can be scored under, and the rules that find their items where none are named.
RULES: Mapping[str, tuple[str, ...]] = {
    fdb1.NAME: ("fdb-1.0",),
    fdb_french.NAME: tuple(corpus.rules for corpus in fdb_french.CORPORA),
}
#: Words as the transcript has them, and not as the run's recogniser hears them.
RECORDED = "recorded"
#: By what right sound is cut out of a corpus: it stays where it is measured.
LOCALLY = "cut out to be measured here, and not to be passed on"
_CHOSEN = {
    "pause_handling": "pauses were chosen for a partner who does not take them",
    "smooth_turn_taking": "turn ends were chosen for a partner who answers soon",
    "backchannel": "turns were chosen for a partner who gives backchannels",
    "user_interruption": "interruptions were chosen for a partner who was speaking",
}


@dataclass(frozen=True, slots=True)
class Named:
    """What people are scored as: the benchmark as asked, and the rules that find their items."""

    benchmark: str
    rules: str


def named(benchmark: str, rules: str = "", corpus: str = "") -> Named:
    """Return what people are scored as. ``rules``: "" takes the benchmark's own, or those of the corpus' format.

    Raises :class:`InputError` where people cannot be scored under it.
    """
    name = benchmark.partition("@")[0]
    benchmarks.find(benchmark)
    if name not in RULES:
        raise InputError("--as", found=name, expected=f"one of {', '.join(RULES)}: of others no person's side is kept")
    if not rules:
        own = RULES[name]
        rules = "french-media" if corpus == "media" and "french-media" in own else own[0]
    if rules not in FDB_RULES or FDB_RULES[rules].release != "1.0":
        known = ", ".join(one for one, its in FDB_RULES.items() if its.release == "1.0")
        raise InputError("--rules", found=rules, expected=f"one of {known}")
    return Named(benchmark, rules)


def harvested(
    corpus: Corpus,
    out: Path,
    rules: str,
    *,
    ears: Callable[[bool], Ears],
    language: str = "",
    system_side: int | None = None,
    cap: int | None = None,
    progress: Progress | None = None,
) -> FdbHarvested:
    """Harvest items from ``corpus`` into ``out``, with the partner's sound where the corpus has any.

    ``language``: "" takes each conversation's own.
    """
    asked = SurveyAsked(rules, FDB_RULES[rules], out, language, system_side)
    sound = any(one is not None for name in corpus.names[:1] for one in corpus.recordings(name))
    return harvest_fdb(
        corpus, asked, ears=ears, audio_allowed=LOCALLY if sound else "", cap=cap, progress=progress
    )  # fmt: skip


def items_in(out: Path, rules: str) -> Path:
    """Return the folder for the items of ``rules``: named after the corpus where that tells their sets."""
    return out / next((corpus.name for corpus in fdb_french.CORPORA if corpus.rules == rules), "items")


def is_harvest(folder: Path) -> bool:
    """Tell whether ``folder`` holds items of Full-Duplex-Bench that ``harvest`` made."""
    if not (folder / SUMMARY).is_file():
        return False
    told = read_json(folder / SUMMARY)
    asked = told.get("asked") if isinstance(told, dict) else None
    return isinstance(asked, dict) and asked.get("rules") in FDB_RULES


def people_run(
    items: Path,
    out: Path,
    asked: Asked,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
) -> Scored:
    """Score the partners of harvested ``items`` as one system, into the run ``out``.

    Everything is as for a system: the same hearings, the same recogniser, the same rules. Where an item has sound its
    words are recognised anew, so that people's words come from what systems' come from; with ``recorded`` as the
    recogniser, or without sound, they are the transcript's. Backchannels are compared with a reference only where
    ``asked`` names one: that of the harvest is made of these very people.
    Raises :class:`InputError` where there is no item that can be scored.
    """
    told = member(read_json(items / SUMMARY), "asked", items / SUMMARY)
    rules = told.get("rules") if isinstance(told, dict) else None
    if rules not in FDB_RULES:
        raise InputError(items / SUMMARY, "asked.rules", found=brief(rules), expected="rules of Full-Duplex-Bench")
    chosen = benchmarks.find(asked.benchmark)
    data = open_dataset(items, task=asked.task)
    recorded = asked.recogniser == RECORDED
    _clear_left(out)
    entries = [_entry(entry, out, recorded) for entry in data.entries]
    asked = replace(asked, system=asked.system or "people")
    # What harvest itself laid beside the items is no news.
    news = [one for one in data.remarks if not one.startswith(("files outside items", "script.json"))]
    remarks = (*news, *remarks_of(entries))
    plan = settled(chosen, entries, asked, cache, remarks)
    side = told.get("system_side")
    whose = {
        "rules": rules,
        "corpus": told.get("corpus"),
        "system_side": side,
        "turns": "each person in turn" if side is None else "one side",
    }
    run = Run.begin(out, about(chosen, items, entries, asked, asked.system) | {"people": whose})
    return heard_and_measured(run, entries, plan, asked, cache=cache, engine=engine, progress=progress)


def remarks_of(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what has to be said of people's numbers: their items were chosen for what these very people did."""
    tasks = dict.fromkeys(entry.task for entry in entries)
    chosen = [_CHOSEN[task] for task in tasks if task in _CHOSEN]
    if chosen:
        yield f"people's numbers are no test of people: {'; '.join(chosen)}"
    if "backchannel" in tasks:
        yield (
            "people have no JSD unless --reference names one: "
            "that of their own harvest would hold them against themselves"
        )


def _entry(entry: Entry, out: Path, recorded: bool) -> Entry:
    """Return an item as a system's: its words to be heard, or kept as the transcript's."""
    files = dict(entry.files)
    output = files.get("output.json")
    sound = entry.system_voice is not None
    if sound and not recorded:
        files.pop("output.json", None)
    elif output is not None:
        files["words.json"] = _transcribed(entry, output, out)
    return replace(entry, files=files)


def _transcribed(entry: Entry, output: Path, out: Path) -> Path:
    """Write the partner's words as a run keeps them, and return the file.

    The scripts read output.json of an interruption as beginning after it, and it holds all that the partner says: words
    of a run are cut there by whoever measures them.
    """
    words = words_of(read_tokens(output))
    path = _words_beside(out) / entry.task / f"{as_file_name(entry.id)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[list[Any]] = [[w.text, in_seconds(w.span.start), in_seconds(w.span.end), w.confidence] for w in words]
    tracks = {"output": {"from": _transcript_of(output), "words": rows}}
    write_json(path, {"schema": 1, "spec": None, "digest": "", "tracks": tracks})
    return path


def _clear_left(out: Path) -> None:
    """Remove what a killed process was writing in the run ``out``; nothing else is touched."""
    for folder in (out, _words_beside(out)):
        clear_parts(folder, below=True)
    if not (out / "run.json").is_file():
        with suppress(OSError):  # killed between making the folder and telling what it is for
            (out / "trials").rmdir()


def _words_beside(out: Path) -> Path:
    """Return the folder of the transcripts' words for the run ``out``."""
    return out.with_name(f"{out.name}.words")


def _transcript_of(output: Path) -> str:
    script = output.with_name(SCRIPT)
    told = read_json(script) if script.is_file() else {}
    whose = told.get("words") if isinstance(told, dict) else None
    name = whose.get("partner") if isinstance(whose, dict) else None
    return f"transcript ({name})" if isinstance(name, str) and name else "transcript"
