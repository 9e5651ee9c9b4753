"""The command about people: baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullduplex.cli import (
    _PATH,
    SOME_FAILED,
    _Bar,
    _benchmarks,
    _cache,
    _engine,
    _family,
    _finish,
    _json,
    _report_language,
    _say,
    _shown_json,
    _shown_language,
    counted,
    main,
)
from fullduplex.errors import InputError, printable

if TYPE_CHECKING:
    from fullduplex.reporting.language import Language
    from fullduplex.runs.run import Run

_FILES = ("statistics.json", "statistics.md", "statistics.html")


@main.command()
@click.argument("people", type=_PATH)
@click.option("--against", "others", type=_PATH, multiple=True, metavar="PATH",
              help="A system to hold against people: a run, or a folder of two-channel recordings of it talking with "
              "itself; may be repeated.")  # fmt: skip
@click.option("--beside", "more", type=_PATH, multiple=True, metavar="PATH",
              help="Another corpus of people to show beside the first; may be repeated.")  # fmt: skip
@click.option("--as", "benchmark", default="", metavar="BENCH[@VARIANT]", shell_complete=_benchmarks,
              help="Also score people, each in turn as the system: "
              "fdb-1.0, fdb-1.5, fdb-french, duplexact. Needs --out.")  # fmt: skip
@click.option("--rules", default="", metavar="NAME",
              help="What finds the items: fdb-1.0, fdb-1.5, french-callfc, french-media, duplexact. Default: "
              "the benchmark's.")  # fmt: skip
@click.option("--out", type=_PATH, metavar="DIR",
              help="Where statistics.json, .md and .html go; with --as, items and people.run too.")  # fmt: skip
@click.option("--format", "form", default="", metavar="NAME",
              help="What the corpus is: switchboard, chat … Default: by what the folder holds.")  # fmt: skip
@click.option("--recordings", type=_PATH, metavar="DIR", help="Where the audio lies, if not in the corpus.")
@click.option("--speakers", default="", metavar="A,B", help="The two people to take, of transcripts with more.")
@click.option("--by", type=click.Choice(["words", "lines", "speech"]),
              help="What tells when a side speaks. Default: the first of these that a conversation has; recordings "
              "without a transcript are heard.")  # fmt: skip
@click.option("--language", metavar="CODE", help="The language spoken. Default: the corpus' own, else en.")
@click.option("--detector", default="silero:edges=refined", show_default=True, metavar="SPEC",
              shell_complete=_family("detectors"), help="What finds speech where nothing else tells it.")  # fmt: skip
@click.option("--recogniser", default="whisper", show_default=True, metavar="SPEC|recorded",
              shell_complete=_family("recognisers"),
              help="With --as: what hears words, as it hears systems'; recorded: the transcript's.")  # fmt: skip
@click.option("--reference", type=_PATH, metavar="FILE", help="With --as: backchannel reference distributions.")
@click.option("--system-side", type=click.IntRange(1, 2), metavar="1|2",
              help="With --as: this side alone is the system. Default: each in turn; french-media asks.")  # fmt: skip
@click.option("--cap", type=click.IntRange(0), metavar="N", help="With --as: the best N items of a task, 0 for all.")
@click.option("--name", default="people", show_default=True, help="What people are called in tables.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of every resampling.")
@click.option("--page/--no-page", default=True, help="With --as: write the run's report.html.")
@_report_language
@_engine
@_json
def baseline(people: Path, **given: Any) -> int:
    """Count people's conversations, hold systems against them, and with --as score people as a system is scored.

    PEOPLE is a corpus of two-channel conversations, a folder that `harvest` made, or a run of people. Units, pauses,
    gaps, overlaps and floor transfers are counted as everywhere; each system has its percentile among people's
    conversations, and its distance. Transcripts whose turns were cut and not measured are marked.
    """
    from fullduplex.baselines import named_apart, statistics_of
    from fullduplex.benchmarks import fdb_french
    from fullduplex.reporting.kept_language import language_of

    if given["benchmark"].partition("@")[0] == fdb_french.NAME:
        given["language"] = given["language"] or fdb_french.LANGUAGE
    if given["benchmark"] and given["out"] is None:
        raise click.UsageError("--as needs --out, the folder for people's items and run")
    bar = _Bar()
    try:
        scored, lost = _scored(people, given, bar)
        own = _counted(people, given["name"], given, bar, people=True, scored=scored)
        # What was scored is compared with other runs item by item, so that like stands beside like.
        others = [_counted(path, _called(path), given, bar, people=True) for path in given["more"]]
        others += [_counted(path, _called(path), given, bar, people=False) for path in given["others"]]
        told = statistics_of(list(named_apart([own, *others])), seed=given["seed"])
    finally:
        bar.close()
    tell = language_of([scored.run] if scored is not None else [], given["report_language"])
    if given["out"] is not None:
        _write(given["out"], told, tell)
    status = 0
    if scored is not None:
        status = _published(scored, given)
    if given["as_json"]:
        if scored is None:
            _shown_json(told)
    else:
        _print(told, given["out"], tell)
    for name, why in lost[:1]:
        _say(f"{counted(len(lost), 'conversation')} without items; the first, {printable(name, 160)}: {why}")
    failed = [(one["name"], row) for one in told["corpora"] for row in one["failed"]]
    if failed:
        name, row = failed[0]
        _say(f"{counted(len(failed), 'conversation')} not counted; the first, of {name}: {row['error']}")
    return status or (SOME_FAILED if failed or lost else 0)


def _called(path: Path) -> str:
    return path.resolve().name or "system"


def _counted(path: Path, name: str, given: Any, bar: Any, *, people: bool, scored: Any = None) -> Any:
    from fullduplex.baselines import harvested_by, has_the_other, items_of, people_of
    from fullduplex.runs.run import Run

    rules = harvested_by(path)
    if scored is not None and rules:
        return items_of(scored.run, people=True, progress=bar)
    if (path / "run.json").is_file():
        run = Run.open(path)
        if people and not run.about.get("people"):
            raise InputError(
                path, found=f"a run of the system {printable(run.system)}", expected="people: a corpus, or what "
                "`baseline --as` made of one", do="give a system's run with --against",
            )  # fmt: skip
        return items_of(run, people=None, progress=bar)
    if has_the_other(path, rules) and rules:
        raise InputError(path, found="harvested items", expected="--as BENCH, which scores and counts them")
    corpus = _opened(path, given)
    return people_of(corpus, name, by=given["by"], ears=lambda: _ears(given, None), people=people, progress=bar)


def _opened(path: Path, given: Any) -> Any:
    from fullduplex.data.corpora.opened import open_corpus

    speakers = tuple(one.strip() for one in given["speakers"].split(",")) if given["speakers"] else ()
    return open_corpus(
        path, given["form"], recordings=given["recordings"], language=given["language"] or "en", speakers=speakers
    )


def _ears(given: Any, recogniser: Any) -> Any:
    from fullduplex.cli.making import _specs
    from fullduplex.making.harvest.hearing import Ears
    from fullduplex.runs.listen import detector

    (seen,) = _specs("--detector", (given["detector"],))
    cache = _cache()
    return Ears(detector(seen, str(cache)), recogniser, given["language"] or "en", cache)


def _scored(path: Path, given: Any, bar: Any) -> tuple[Any, Sequence[tuple[str, str]]]:
    """Score people as --as asks, and return what was scored, None where nothing is asked; and what no item came of."""
    if not given["benchmark"]:
        return None, ()
    from fullduplex.baselines import harvested, harvested_by, has_the_other, named, people_run
    from fullduplex.cli.making import _specs
    from fullduplex.data.writers import alone_in, made_folder
    from fullduplex.runs.listen import recogniser
    from fullduplex.stages import Asked

    cache = _cache()
    recorded = given["recogniser"] == "recorded"
    if not recorded:
        _specs("--recogniser", (given["recogniser"],))
    corpus, rules = None, harvested_by(path)
    lost: Sequence[tuple[str, str]] = ()
    if rules:
        items = has_the_other(path, rules)
        named(given["benchmark"], rules)
        if given["rules"] not in ("", rules):
            raise InputError("--rules", found=given["rules"], expected=f"{rules}, by which {path.name} was harvested")
    else:
        corpus = _opened(path, given)
        asked_as = named(given["benchmark"], given["rules"], corpus.format)
        for option in ("system_side", "cap"):
            if asked_as.rules == "duplexact" and given[option] is not None:
                raise click.UsageError(f"--{option.replace('_', '-')} belongs to the rules of Full-Duplex-Bench.")

        def ears(with_words: bool) -> Any:
            if not with_words:
                return _ears(given, None)
            (said,) = _specs("--recogniser", ("whisper" if recorded else given["recogniser"],))
            return _ears(given, recogniser(said, str(cache)))

    asked = Asked(
        benchmark=given["benchmark"],
        recogniser=given["recogniser"],
        language=_language(given, corpus, path),
        reference=given["reference"],
        system=given["name"],
        seed=given["seed"],
    )
    with alone_in(made_folder(given["out"])):
        if corpus is not None:
            items, lost = harvested(
                corpus, given["out"], asked_as.rules, ears=ears, language=given["language"] or "",
                system_side=given["system_side"], cap=given["cap"], progress=bar,
            )  # fmt: skip
        return people_run(
            items, given["out"] / "people.run", asked, cache=cache, engine=given["engine"], progress=bar
        ), lost


def _language(given: Any, corpus: Any, path: Path) -> str:
    """Return the language that people speak: as told, or as the corpus says, or the harvest of their items."""
    from fullduplex.making.harvest.spoken_in import harvested_language

    if given["language"]:
        return str(given["language"])
    if corpus is None:
        return harvested_language(path) or "en"
    return str(corpus.read(corpus.names[0]).language or "en")


def _published(scored: Any, given: Any) -> int:
    from fullduplex.publish import publish

    bar = _Bar()
    try:
        made = publish(
            [scored], scored.run.path, page=given["page"], engine=given["engine"], progress=bar,
            language=given["report_language"],
        )  # fmt: skip
    finally:
        bar.close()
    return _finish([scored], made.tables, scored.run.path, (), given)


def _write(out: Path, told: Any, tell: Language) -> None:
    from fullduplex.data.files import clear_parts, replacing, write_json
    from fullduplex.reporting.people_page import statistics_html
    from fullduplex.reporting.people_text import statistics_markdown

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(out, found=error.strerror or str(error), expected="a folder to write to") from error
    clear_parts(out)
    write_json(out / _FILES[0], told)
    for name, text in zip(_FILES[1:], (statistics_markdown(told, tell), statistics_html(told, tell)), strict=True):
        with replacing(out / name) as part:
            part.write_text(text, encoding="utf-8", errors="backslashreplace")


def _print(told: Any, out: Path | None, tell: Language) -> None:
    from fullduplex.reporting.people_text import statistics_markdown

    click.echo(statistics_markdown(told, tell).encode("utf-8", "backslashreplace"))
    if out is not None:
        click.echo(tell("Statistics: {paths}", paths=", ".join(str(out / name) for name in _FILES)))


@main.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--system-language", "languages", multiple=True, metavar="SYSTEM=CODE",
              help="The language that a system speaks, as SYSTEM=CODE or RUN=CODE; may be repeated.")  # fmt: skip
@click.option("--architecture", "architectures", multiple=True, metavar="SYSTEM=KIND",
              help="end-to-end, cascade or human, as SYSTEM=KIND or RUN=KIND; may be repeated.")  # fmt: skip
@click.option("--out", type=_PATH, metavar="DIR", help="A folder for mismatch.md and mismatch.json.")
@_shown_language
@_json
def mismatch(
    runs: tuple[Path, ...],
    languages: tuple[str, ...],
    architectures: tuple[str, ...],
    out: Path | None,
    report_language: str,
    as_json: bool,
) -> int:
    """Show systems by whether their language is that of the items, and by architecture, with people beside them.

    RUNS are of fdb-1.0 (English items, unless they were harvested in another language) and fdb-french. People and the
    built-in cascade tell their own language; of other systems it has to be told.
    """
    from fullduplex.publish import estimated
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.reporting.mismatch import about_system, mismatch_markdown, mismatch_rows
    from fullduplex.stages import measure_again

    spoken, built = (_by_system(*one) for one in (("--system-language", languages), ("--architecture", architectures)))
    scored = [one for path in runs for one in measure_again(path)]
    # A run's folder tells apart what a system's name does not.
    known = {one.run.system for one in scored} | {str(one.run.path) for one in scored}
    for option, told in (("--system-language", spoken), ("--architecture", built)):
        if strange := [name for name in told if name not in known]:
            raise InputError(option, found=strange[0], expected=f"one of {', '.join(sorted(known))}")

    def of(run: Run, told: dict[str, str]) -> str:
        return told.get(str(run.path)) or told.get(run.system, "")

    systems = [about_system(one.run, of(one.run, spoken), of(one.run, built)) for one in scored]
    tables = [next(iter(rows.values())) for one in scored for rows in estimated([one])]
    rows = mismatch_rows(zip([one.run for one in scored], tables, systems, strict=True))
    text = mismatch_markdown(rows, language_of([one.run for one in scored], report_language))
    if out is not None:
        from fullduplex.data.files import replacing, write_json

        out.mkdir(parents=True, exist_ok=True)
        write_json(out / "mismatch.json", {"schema": 1, "rows": [_plain(row) for row in rows]})
        with replacing(out / "mismatch.md") as part:
            part.write_text(text, encoding="utf-8", errors="backslashreplace")
    if as_json:
        _shown_json([_plain(row) for row in rows])
    else:
        click.echo(text.encode("utf-8", "backslashreplace"))
    return 0


def _plain(row: Any) -> dict[str, Any]:
    """Return a row without what is no JSON: the judges, whose sentence stays."""
    return {key: value for key, value in row.items() if key != "judges"}


def _by_system(option: str, pairs: tuple[str, ...]) -> dict[str, str]:
    made = dict[str, str]()
    for pair in pairs:
        # A system's name may hold the sign; what is told of it does not.
        name, equals, value = pair.rpartition("=")
        if not equals or not name or not value:
            raise InputError(option, found=pair, expected="SYSTEM=VALUE")
        made[name] = value
    return made
