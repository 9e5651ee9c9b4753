"""The last stage: what was measured, written for people and programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.clocks import runs_under
from fullduplex.correlations import sways
from fullduplex.data.files import read_json, replacing, write_json
from fullduplex.engines import each, open_engine
from fullduplex.errors import InputError, RunError
from fullduplex.reporting import alike, compare
from fullduplex.reporting.actions import action_rows, action_tables
from fullduplex.reporting.asked_alike import asked_alike
from fullduplex.reporting.cards import grounds
from fullduplex.reporting.dimensions_latex import dimensions_latex
from fullduplex.reporting.html import write_html
from fullduplex.reporting.kept_language import keep_language, language_of
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.latex import latex
from fullduplex.reporting.report import Speech, estimates_object, report_markdown, rows_of, speech_of, write_files
from fullduplex.reporting.sounds import sound, sound_path, sound_tasks
from fullduplex.reporting.tables import csv_text, write_parquet
from fullduplex.reporting.talks import clock_rows
from fullduplex.runs.items import read_item
from fullduplex.runs.run import Run
from fullduplex.stages import Progress, Scored, engine_for

#: Estimates by variant, the leading one first.
Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Published:
    """What was written: the estimates of each run, and how the runs compare (None for one run, or for unlike ones)."""

    tables: list[Rows]
    comparison: compare.Comparison | None


def publish(
    scored: Sequence[Scored],
    out: Path,
    *,
    page: bool = True,
    engine: str = "",
    progress: Progress | None = None,
    embed: Callable[[str, str], bool] | None = None,
    language: str = "",
) -> Published:
    """Write estimates, facts, report.md, estimates.csv, estimates.tex and report.html of ``scored`` runs.

    Each run has its own; where there are several, ``out`` has those that show them together, and their comparison.
    ``language``: that of what people read (report.md, compare.md, estimates.tex, report.html), which each run keeps
    from then on; "" is the one that a run keeps, and for several runs together the one that all keep, else English.
    What programs read is the same in every language. Raises :class:`InputError` on one that reports cannot be in.
    """
    runs = [one.run for one in scored]
    tell = language_of(runs, language)
    tells = [language_of([run], language) for run in runs]
    if language:
        for run in runs:
            keep_language(run, language)
    tables = estimated(scored)
    spoken = [speech_of(one.run, one.measured, rows) for one, rows in zip(scored, tables, strict=True)]
    for one, rows, speech in zip(scored, tables, spoken, strict=True):
        write_files(one.run, one.measured, rows, speech)
    clocks = [_clock_rows(one.run) for one in scored]
    swayed = [_swayed(one.run) for one in scored]
    for one, rows, own, speech, depends, its in zip(scored, tables, clocks, spoken, swayed, tells, strict=True):
        alone = [*one.remarks, *asked_alike([one.run]), *depends]
        _write_tables([one], rows, one.run.path, own, speech, alone, its)
    all_speech = {variant: [row for speech in spoken for row in speech[variant]] for variant in tables[0]}
    all_clocks = [row for own in clocks for row in own]
    all_rows = together(tables)
    remarks = _remarks(scored) + [told for depends in swayed for told in depends]
    comparison = None
    if len(scored) > 1 or out.resolve() != runs[0].path.resolve():
        _write_tables(scored, all_rows, out, all_clocks, all_speech, remarks, tell)
    if len(scored) > 1:
        comparison = _compared(scored, out)
    if comparison is not None:
        write_comparison(comparison, out, tell)
    if page:
        _make_sounds(scored, engine, progress)
        pairs = [(one.run, one.measured) for one in scored]
        write_html(
            pairs, all_rows, out / "report.html", comparison=comparison, embed=embed, remarks=remarks,
            clocks=all_clocks, speech=all_speech, tell=tell,
        )  # fmt: skip
    return Published(tables, comparison)


def estimated(scored: Sequence[Scored]) -> list[Rows]:
    """Return the estimates of each run by variant; this is where the resampling is done, once."""
    variants = [benchmark.variant for benchmark in scored[0].measured.benchmarks]
    return [{variant: rows_of(one.run, one.measured, variant) for variant in variants} for one in scored]


def together(tables: Sequence[Rows]) -> Rows:
    """Return the estimates of every run in one table for each variant."""
    return {variant: [row for rows in tables for row in rows[variant]] for variant in tables[0]}


def as_json(scored: Sequence[Scored], tables: Sequence[Rows]) -> list[dict[str, Any]]:
    """Return what estimates.json of each run holds."""
    return [
        estimates_object(one.run, one.measured, rows, speech_of(one.run, one.measured, rows))
        for one, rows in zip(scored, tables, strict=True)
    ]


def run_values(run: Run, base: Path) -> alike.RunValues:
    """Return what a comparison needs of a finished run: its leading variant, and where to listen, from ``base``."""
    path = run.path / "estimates.json"
    if not path.is_file():
        raise RunError(f"{run.path}: has no estimates.json; run `fullduplex measure` on it first")
    table = read_json(path)
    heard: dict[str, dict[str, str]] = {}
    for folder in run.items():
        try:
            item = read_item(folder)
        except InputError:
            continue  # it has failed, and is counted so in the run's own table
        mixed = sound_path(run, folder)
        own = folder / item["files"].get("system", "output.wav")
        heard.setdefault(item["set"], {})[item["id"]] = os.path.relpath(mixed if mixed.is_file() else own, base)
    hearing = run.about.get("hearings", {})
    return alike.from_estimates(table, hearing=repr(sorted(hearing.items())), clock=_clock(run), audio=heard)


def _simulated(scored: Sequence[Scored], tell: Language) -> str:
    """Return what a table that is copied elsewhere has to say of its latencies."""
    which = [one.run.system for one in scored if _clock(one.run) == "step-algorithmic"]
    told = tell("latencies of {systems} are simulated", systems=", ".join(which))
    return f"{tell('; ')}{told}" if which else ""


def _remarks(scored: Sequence[Scored]) -> list[str]:
    return [remark for one in scored for remark in one.remarks] + [*asked_alike([one.run for one in scored])]


def _swayed(run: Run) -> list[str]:
    """Return what is known of outcomes that may depend on the point at which a system was met; reads estimates.json."""
    return [f"{run.system}: {found.told}" for found in sways(run, seed=int(run.about.get("seed", 0)))]


def _clock(run: Run) -> str:
    return str((run.about.get("driven") or {}).get("clock", ""))


def _compared(scored: Sequence[Scored], out: Path) -> compare.Comparison | None:
    seed = int(scored[0].run.about.get("seed", 0))
    try:
        return compare.compare({one.run.system: run_values(one.run, out) for one in scored}, seed, only_common=True)
    except RunError:
        return None


def _write_tables(
    scored: Sequence[Scored],
    rows: Mapping[str, list[dict[str, Any]]],
    out: Path,
    clocks: Sequence[Mapping[str, Any]],
    speech: Speech,
    remarks: Sequence[str],
    tell: Language,
) -> None:
    pairs = [(one.run, one.measured) for one in scored]
    name = scored[0].run.about["benchmark"]["name"]
    variant, leading = next(iter(rows.items()))
    apart = grounds(pairs, rows)
    every = [row for table in rows.values() for row in table] + [row for its in apart for row in action_rows(its)]
    heading = f"{name}@{variant}{_simulated(scored, tell)}"
    joined = dimensions_latex(action_tables(apart[0]), heading=heading, tell=tell) if apart else ""
    _write(out / "report.md", report_markdown(pairs, rows, remarks, clocks, speech, tell))
    _write(out / "estimates.csv", csv_text(every))
    write_parquet(out / "estimates.parquet", every)
    _write(out / "estimates.tex", "\n".join(filter(None, (latex(leading, heading=heading, tell=tell), joined))))


def _clock_rows(run: Run) -> list[dict[str, Any]]:
    """Return what differs between the run and its copies under other clocks, where those were measured."""
    others = {copy.path.name: read_json(copy.path / "estimates.json") for copy in runs_under(run)}
    if not others:
        return []
    own = read_json(run.path / "estimates.json")
    same = {name: table for name, table in others.items() if table["variant"] == own["variant"]}
    return clock_rows(run.system, own, same)


def _write(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")


def _make_sounds(scored: Sequence[Scored], engine: str, progress: Progress | None) -> None:
    tasks = [task for one in scored for task in sound_tasks(one.run)]
    with open_engine(engine or engine_for(len(tasks))) as opened:
        for done, _ in enumerate(each(opened, sound, tasks), 1):
            # An item that cannot be heard has no sound on the page; its failure is counted where it was listened to.
            if progress is not None:
                progress("page", done, len(tasks))


def write_comparison(comparison: Any, out: Path, tell: Language = ENGLISH) -> None:
    """Write compare.md and compare.json into ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "compare.md", compare.markdown(comparison, tell))
    write_json(out / "compare.json", compare.to_json(comparison))
