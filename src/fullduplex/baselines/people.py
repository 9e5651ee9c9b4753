"""People through the very scorer of systems: harvested items whose partner was kept, each person in turn the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.baselines.acts import harvested_acts
from fullduplex.benchmarks import duplexact, fdb1, fdb15, fdb_french
from fullduplex.data.corpora.conversation import Corpus
from fullduplex.data.dataset import Entry, open_dataset
from fullduplex.data.fdb_folder import read_tokens, words_of
from fullduplex.data.files import brief, clear_parts, member, read_json, write_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.harvest import COUNTS, SUMMARY, harvest_fdb
from fullduplex.making.harvest.fdb.item import SCRIPT
from fullduplex.making.harvest.fdb.rules import FDB_RULES
from fullduplex.making.harvest.fdb.survey import Asked as SurveyAsked
from fullduplex.making.harvest.hearing import Ears
from fullduplex.making.harvest.rules import RULES as ACT_RULES
from fullduplex.model.spans import in_seconds
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, Progress, Scored, about, heard_and_measured, settled

#: The benchmarks that people can be scored under, and the rules that find their items where none are named.
RULES: Mapping[str, tuple[str, ...]] = {
    fdb1.NAME: ("fdb-1.0",),
    fdb15.NAME: ("fdb-1.5",),
    fdb_french.NAME: tuple(corpus.rules for corpus in fdb_french.CORPORA),
    duplexact.NAME: ("duplexact",),
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
    "user_backchannel": "users' backchannels were chosen for a partner who speaks on",
    "talking_to_other": "asides were chosen for a partner who was speaking",
    "da_wait_intra_pause": "pauses were chosen for a partner who does not take them",
    "da_wait_inter_pause": "pauses were chosen for a partner who does not take them",
    "da_wait_continuous": "speech that goes on was chosen for a partner who says little",
    "da_backchannel_affirmative": "turns were chosen for a partner who gives backchannels",
    "da_backchannel_uncertainty": "turns were chosen for a partner who gives backchannels",
    "da_take_turn_slight_overlap": "turn ends were chosen for a partner who answers before them",
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
        expected = f"one of {', '.join(RULES)}: the items of others are not found in conversations of people"
        raise InputError("--as", found=name, expected=expected)
    if not rules:
        own = RULES[name]
        rules = "french-media" if corpus == "media" and "french-media" in own else own[0]
    known = [one for one in (*FDB_RULES, *ACT_RULES) if _same_items(one, RULES[name][0])]
    if rules not in known:
        raise InputError("--rules", found=rules, expected=f"one of {', '.join(known)}")
    return Named(benchmark, rules)


def _same_items(rules: str, others: str) -> bool:
    """Tell whether two sets of rules make items of the same benchmark."""
    both = [FDB_RULES[one].release if one in FDB_RULES else one for one in (rules, others)]
    return both[0] == both[1]


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
) -> tuple[Path, tuple[tuple[str, str], ...]]:
    """Harvest items from ``corpus`` into a folder in ``out``, with the partner's sound where the corpus has any.

    Return the folder that people are scored from, and for each conversation or item that failed its name and why.

    ``language``: "" takes each conversation's own. ``system_side`` and ``cap`` are of Full-Duplex-Bench alone.
    """
    if rules in ACT_RULES:
        told = language or corpus.read(corpus.names[0]).language or "en"
        return harvested_acts(
            corpus, out, rules, ears=ears, language=told, audio_allowed=LOCALLY, progress=progress
        )  # fmt: skip
    items = out / next((one.name for one in fdb_french.CORPORA if one.rules == rules), "items")
    asked = SurveyAsked(rules, FDB_RULES[rules], items, language, system_side)
    sound = any(one is not None for name in corpus.names[:1] for one in corpus.recordings(name))
    found = harvest_fdb(corpus, asked, ears=ears, audio_allowed=LOCALLY if sound else "", cap=cap, progress=progress)
    return items, found.failed


def harvested_by(folder: Path) -> str:
    """Return the rules that ``harvest`` made the items in ``folder`` by, of one's own those that they are based on; ""
    where it made none there.
    """
    if not (folder / SUMMARY).is_file():
        return ""
    told = read_json(folder / SUMMARY)
    asked = told.get("asked") if isinstance(told, dict) else None
    rules = asked.get("rules") if isinstance(asked, dict) else None
    name = _based_on(rules) if isinstance(rules, str) else ""
    return name if name in FDB_RULES or name in ACT_RULES else ""


def _based_on(rules: str) -> str:
    """Return the name of rules, of one's own the set that they are based on."""
    return rules.removeprefix("own, based on ")


def has_the_other(folder: Path, rules: str) -> Path:
    """Return ``folder``, whose items ``rules`` made, where they hold what the other person did.

    Raises :class:`InputError` where they are DuplexAct's, which hold the speaker alone.
    """
    if rules in ACT_RULES:
        raise InputError(
            folder, found=f"harvested items of {rules}, which hold the speaker alone",
            expected="the corpus that they are from",
        )  # fmt: skip
    return folder


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
    if not isinstance(rules, str) or (_based_on(rules) not in FDB_RULES and _based_on(rules) not in ACT_RULES):
        known = ", ".join((*FDB_RULES, *ACT_RULES))
        raise InputError(items / SUMMARY, "asked.rules", found=brief(rules), expected=f"one of {known}")
    chosen = benchmarks.find(asked.benchmark)
    data = open_dataset(items, task=asked.task)
    recorded = asked.recogniser == RECORDED
    _clear_left(out)
    entries = [_entry(entry, out, recorded) for entry in data.entries]
    asked = replace(asked, system=asked.system or "people")
    # What harvest itself laid beside the items is no news.
    news = [one for one in data.remarks if not one.startswith(("files outside items", "script.json"))]
    remarks = (*news, *_doubts_of(items), *remarks_of(entries))
    plan = settled(chosen, entries, asked, cache, remarks)
    side = told.get("system_side")
    whose = {
        "rules": rules,
        "corpus": told.get("corpus"),
        "system_side": side,
        "turns": "each person in turn" if side is None else "one side",
    }
    run = Run.begin(out, about(chosen, items, entries, asked, asked.system) | {"people": whose})
    with run.alone():
        return heard_and_measured(run, entries, plan, asked, cache=cache, engine=engine, progress=progress)


def _doubts_of(items: Path) -> Iterator[str]:
    """Yield why times of the corpus that the items are from are not to be relied on, as harvest found."""
    counts = items / COUNTS
    told = read_json(counts) if counts.is_file() else {}
    rows = told.get("doubts") if isinstance(told, dict) else None
    found = Counter(str(row.get("doubt")) for row in rows or () if isinstance(row, dict))
    for doubt, n in found.items():
        yield f"{doubt} ({n} conversation{'s' * (n > 1)} of the items' corpus)"


def remarks_of(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what has to be said of people's numbers: their items were chosen for what these very people did."""
    tasks = dict.fromkeys(entry.task for entry in entries)
    chosen = dict.fromkeys(_CHOSEN[task] for task in tasks if task in _CHOSEN)
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


def _words_beside(out: Path) -> Path:
    """Return the folder of the transcripts' words for the run ``out``."""
    return out.with_name(f"{out.name}.words")


def _transcript_of(output: Path) -> str:
    script = output.with_name(SCRIPT)
    told = read_json(script) if script.is_file() else {}
    whose = told.get("words") if isinstance(told, dict) else None
    name = whose.get("partner") if isinstance(whose, dict) else None
    return f"transcript ({name})" if isinstance(name, str) and name else "transcript"
