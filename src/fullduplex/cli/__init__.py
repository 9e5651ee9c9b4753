"""The commands: each a few lines over the stages. Results go to stdout, progress to stderr."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullduplex import __version__
from fullduplex.errors import FullDuplexError, InputError, printable

if TYPE_CHECKING:
    from fullduplex.publish import Rows
    from fullduplex.reporting.language import Language
    from fullduplex.stages import Scored

CANNOT_START, USAGE, SOME_FAILED, GATE_FAILED = 1, 2, 3, 4
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class Group(click.Group):
    """The root command: an error becomes one sentence and an exit status, never a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; see :func:`main` for the exit statuses."""
        kwargs["standalone_mode"] = False
        try:
            status = super().main(*args, **kwargs)
        except click.exceptions.Abort:
            _say("stopped; what was done is kept, and the same command goes on from there")
            sys.exit(130)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            _say("stopped; what was done is kept, and the same command goes on from there")
            sys.exit(130)
        except FullDuplexError as error:
            _say(str(error))
            sys.exit(CANNOT_START)
        except BrokenPipeError:
            # The reader of our output went away (`| head`): nothing is left to say.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _say(f"{where}{error.strerror or error}; what was done is kept, and the same command goes on from there")
            sys.exit(CANNOT_START)
        sys.exit(status if isinstance(status, int) else 0)


def _say(text: str) -> None:
    click.echo(f"fullduplex: {printable(text, 2_000)}", err=True)


def counted(number: int, what: str) -> str:
    """Return how many of what there are: "1 item", "1,200 items"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _cache() -> Path:
    from fullduplex.providers.weights import default_cache

    return default_cache(os.environ)


def _shown_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace"))


#: How often, in seconds, a line tells how far long work is where stderr is no terminal.
_LINE_EVERY = 30.0


class _Bar:
    """A progress bar on stderr for what lasts over two seconds; where that is no terminal, a line now and then."""

    def __init__(self) -> None:
        from threading import Event, Thread

        self._bar: Any = None
        self._task: Any = None
        self._stage = ""
        self._began = 0.0
        self._far = ""
        self._closed = Event()
        if not sys.stderr.isatty():
            # One step may take minutes, so that what is told cannot wait for the next.
            Thread(target=self._tell, daemon=True).start()

    def __call__(self, stage: str, done: int, of: int) -> None:
        from time import monotonic

        if stage != self._stage:
            self._take_away()
            self._stage, self._began = stage, monotonic()
        self._far = f"{stage}, {done:,} of {of:,}"
        if self._bar is None:
            if not sys.stderr.isatty() or monotonic() - self._began < 2:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(stage, total=of)
        self._bar.update(self._task, completed=done, total=of)

    def close(self) -> None:
        """Take the bar away; nothing is told any more."""
        self._closed.set()
        self._take_away()

    def _take_away(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None
        self._stage = ""

    def _tell(self) -> None:
        from time import monotonic

        began = monotonic()
        while not self._closed.wait(_LINE_EVERY):
            _say(f"still at work after {monotonic() - began:.0f} s{': ' + self._far if self._far else ''}")


@click.group(cls=Group, context_settings=_HELP)
@click.version_option(__version__, prog_name="fullduplex")
def main() -> None:
    """Measure voices that listen while they speak.

    `fullduplex demo` shows everything offline; `fullduplex score FOLDER --as fdb-1.0` scores recordings.
    Shell completion: `_FULLDUPLEX_COMPLETE=bash_source fullduplex` (or zsh_source, fish_source).

    Exit status: 0 done, 1 cannot start, 2 usage, 3 done but some items failed, 4 a gate failed.
    """


def _channels(ctx: click.Context, param: click.Parameter, value: str | None) -> Mapping[str, int] | None:
    if value is None:
        return None
    found: dict[str, int] = {}
    for pair in value.split(","):
        voice, equals, number = pair.partition("=")
        told = number.isascii() and number.isdigit() and int(number) >= 1
        if voice not in ("user", "system") or voice in found or not equals or not told:
            raise click.BadParameter("expected user=N,system=N, each a channel counted from 1")
        found[voice] = int(number) - 1
    if len(set(found.values())) < len(found):
        raise click.BadParameter("expected two different channels; both voices cannot be on one")
    return found


def _seconds(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if not abs(value) <= 86_400:  # also refuses what is not a number
        raise click.BadParameter("expected seconds, at most a day")
    return value


class _Range(click.FloatRange):
    """A number of a range; click's own lets through what is not a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{found} is not a finite number.", param, ctx)
        return found


def _benchmarks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from fullduplex import plugins

    names = [plugin.name for plugin in plugins.members("benchmarks")]
    if "@" in incomplete:
        name = incomplete.partition("@")[0]
        names = [f"{name}@{variant}" for variant in (*plugins.find("benchmarks", name)(), "released", "all")]
    return [name for name in names if name.startswith(incomplete)]


def _family(name: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        from fullduplex import plugins

        return [plugin.name for plugin in plugins.members(name) if plugin.name.startswith(incomplete)]

    return complete


_PATH = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
_engine = click.option(
    "--engine", default="", metavar="SPEC", shell_complete=_family("engines"),
    help="Where work runs: here, processes:N, dask://HOST:PORT, ray://HOST:PORT. Default: this machine's cores.",
)  # fmt: skip
#: A test holds these against the catalogues: to look there at every start would cost time.
REPORT_LANGUAGES = ("en", "fr")
_report_language = click.option(
    "--report-language", type=click.Choice(REPORT_LANGUAGES), callback=lambda ctx, param, value: value or "",
    help="The language of report.md, the page and tables, kept with the run; not --language, which is spoken. "
    "Default: the kept one, else en.",
)  # fmt: skip
_shown_language = click.option(
    "--report-language", type=click.Choice(REPORT_LANGUAGES), callback=lambda ctx, param, value: value or "",
    help="The language of what is shown. Default: the one that all runs' reports are kept in, else en.",
)  # fmt: skip
_layout_options = (
    click.option("--task", metavar="TASK", help="The task of every item, where no folder's name tells it."),
    click.option("--channels", callback=_channels, metavar="user=N,system=N",
                 help="Channels of two-channel files, from 1."),
    click.option("--offset", type=float, default=0.0, callback=_seconds, metavar="SECONDS",
                 help="When the system's files begin on the user's clock."),
    click.option("--layout", metavar="PATTERN", help="Where files lie, e.g. '{task}/{dataset}/{system}/{id}.flac'."),
)  # fmt: skip


def _options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def wrap(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return wrap


_listening_options = (
    click.option("--detector", default="silero", show_default=True, shell_complete=_family("detectors"),
                 metavar="SPEC", help="What finds speech: NAME or NAME:option=value,…"),
    click.option("--recogniser", default="auto", show_default=True, shell_complete=_family("recognisers"),
                 metavar="SPEC",
                 help="What finds words where the folder has none: auto, none, whisper, moonshine, parakeet; of a "
                 "system that is driven also reported, the words that it tells of itself."),
    click.option("--language", metavar="CODE",
                 help="The language that the system speaks, as a two-letter code. Default: that of harvested items, "
                      "else the benchmark's, en or fr."),
    click.option("--quality", "qualities", multiple=True, type=click.Choice(["dnsmos", "utmos", "echo"]),
                 help="Also measure perceived quality or echo, where the benchmark measures speech; may be repeated."),
)  # fmt: skip


def _score_options(command: Any) -> Any:
    options = (
        click.option("--as", "benchmark", default="fdb-1.0", show_default=True, shell_complete=_benchmarks,
                     metavar="BENCH[@VARIANT]", help="The benchmark; @all for every variant side by side."),
        click.option("--out", type=_PATH, help="The run to write or to go on with. Default: ./NAME.run"),
        *_layout_options,
        *_listening_options,
        click.option("--reference", type=_PATH, metavar="FILE",
                     help="Your copy of the backchannel reference distributions (JSD needs it)."),
        click.option("--system", default="", help="The system's name in tables. Default: the folder's."),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of every resampling."),
        _engine,
        click.option("--fail-if", "gates", multiple=True, metavar="GATE",
                     help='Exit 4 if it holds, e.g. "latency.p90 > 1.2"; may be given several times.'),
        click.option("--junit", type=_PATH, metavar="FILE",
                     help="Write gates and failed items as JUnit XML; one file for each system."),
        click.option("--page/--no-page", default=True, help="Write report.html, which plays every item."),
        click.option("--single-file", type=click.IntRange(min=0), metavar="N",
                     help="Embed the sound of the first N items in report.html."),
        _report_language,
        _json,
    )  # fmt: skip
    return _options(options)(command)


@main.command()
@click.argument("folder", type=_PATH)
@_score_options
def score(folder: Path, **given: Any) -> int:
    """Score recordings that exist: a Full-Duplex-Bench folder, two-channel files, or a manifest (CSV, JSONL)."""
    return _score(folder, given)


def _spec(option: str, text: str) -> str:
    from fullduplex.model.spec import Spec

    try:
        Spec.parse(text)
    except ValueError as error:
        raise InputError(option, found=text, expected="NAME or NAME:option=value,option=value") from error
    return text


def _asked(folder: Path, given: Mapping[str, Any]) -> Any:
    from fullduplex import benchmarks
    from fullduplex.making.harvest.spoken_in import harvested_language
    from fullduplex.model.spans import seconds
    from fullduplex.stages import Asked

    return Asked(
        benchmark=given["benchmark"],
        task=given["task"],
        channels=given["channels"],
        offset=seconds(given["offset"]),
        layout=given["layout"],
        seen=_spec("--detector", given["detector"]),
        recogniser=_spec("--recogniser", given["recogniser"]),
        language=given["language"] or harvested_language(folder) or benchmarks.find(given["benchmark"])[0].language,
        reference=given["reference"],
        system=given["system"],
        seed=given["seed"],
        qualities=tuple(dict.fromkeys(given["qualities"])),
    )


def _score(folder: Path, given: Mapping[str, Any]) -> int:
    from fullduplex.publish import publish
    from fullduplex.stages import score

    gates = _gates(given["gates"])
    out = given["out"] or Path(f"{folder.resolve().name or 'scored'}.run")
    bar = _Bar()
    try:
        scored = score(folder, out, _asked(folder, given), cache=_cache(), engine=given["engine"], progress=bar)
        embed = _first(given["single_file"])
        published = publish(
            scored, out, page=given["page"], engine=given["engine"], progress=bar, embed=embed,
            language=given["report_language"],
        )  # fmt: skip
    finally:
        bar.close()
    return _finish(scored, published.tables, out, gates, given)


def _first(count: int | None) -> Callable[[str, str], bool] | None:
    if count is None:
        return None
    left = [count]

    def embed(system: str, item: str) -> bool:
        left[0] -= 1
        return left[0] >= 0

    return embed


def _finish(
    scored: Sequence[Scored], tables: Sequence[Rows], out: Path, gates: Sequence[Any], given: Mapping[str, Any]
) -> int:
    from fullduplex.publish import as_json, together
    from fullduplex.reporting.asked_alike import asked_alike
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.reporting.remarks import folded
    from fullduplex.runs.gates import check_gates
    from fullduplex.stages import failures

    tell = language_of([one.run for one in scored], given.get("report_language", ""))
    objects = as_json(scored, tables) if given["as_json"] or gates else []
    if given["as_json"]:
        _shown_json(objects[0] if len(objects) == 1 else objects)
    else:
        rows = together(tables)
        shown = given.get("shown") or tuple(rows)
        _print_tables(scored, {variant: table for variant, table in rows.items() if variant in shown}, tell)
        runs = [one.run for one in scored]
        every = [*(remark for one in scored for remark in one.remarks), *asked_alike(runs)]
        for remark in folded(every, [run.system for run in runs]):
            click.echo(tell("note: {text}", text=printable(tell.of(remark), 500)))
        if not given.get("written", True):
            click.echo(tell("Shown only; the run keeps its own tables."))
        else:
            click.echo(tell("Tables: {path}", path=out / "report.md"))
            if given.get("page", True) and (out / "report.html").is_file():
                click.echo(tell("Hear every verdict: {path}", path=(out / "report.html").resolve()))
    results = [result for table in objects for result in check_gates(gates, table)]
    for result in results:
        if not result.held:
            _say(result.text)
    if given.get("junit"):
        from fullduplex.data.names import as_file_name
        from fullduplex.runs.export import export

        for one in scored:
            # One file a system, so that none can hide behind another's success.
            file = given["junit"]
            if len(scored) > 1:
                file = file.with_name(f"{file.stem}-{as_file_name(one.run.system)}{file.suffix}")
            export(one.run.path, "junit", file, gates=[gate.text for gate in gates])
    failed = failures(scored)
    if failed:
        key, why = next(iter(failed.items()))
        _say(f"{counted(len(failed), 'item')} failed, counted in the tables; the first, {key}: {why}")
    if not all(result.held for result in results):
        return GATE_FAILED
    return SOME_FAILED if failed else 0


def _print_tables(scored: Sequence[Scored], rows: Mapping[str, Any], tell: Language) -> None:
    from rich.console import Console

    from fullduplex.reporting.cards import grounds
    from fullduplex.reporting.dimensions import dimensions
    from fullduplex.reporting.dimensions_text import dimensions_terminal
    from fullduplex.reporting.tables import remarks_of, terminal
    from fullduplex.runs.talks import talks

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    name = scored[0].run.about["benchmark"]["name"]
    placed = scored[0].run.about.get("clock")
    clock = tell(", on the {clock} clock", clock=placed["placement"]) if placed else ""
    apart = {ground.variant: dimensions(ground) for ground in grounds([(o.run, o.measured) for o in scored], rows)}
    for variant, table in rows.items():
        heading = f"{name}@{variant}{clock}"
        if apart.get(variant):
            # What a benchmark reports by dimension has too many metrics for a terminal; report.md has them all.
            console.print(dimensions_terminal(apart[variant], heading=heading, tell=tell))
        elif table:
            console.print(terminal(table, heading=heading, tell=tell))
    for sentence in remarks_of([row for variant, table in rows.items() if apart.get(variant) for row in table], tell):
        console.print(sentence, markup=False)
    for one in scored:
        for task, count in one.measured.passed_over.items():
            one_of, many_of = "{n} item of {task} is not part of {name}", "{n} items of {task} are not part of {name}"
            click.echo(tell("note: {text}", text=tell.plural(one_of, many_of, count, task=task, name=name)))
        its = talks(one.run)
        for sentence in its.sentences() if its is not None else ():
            click.echo(tell("note: {text}", text=f"{one.run.system}{tell(': ')}{printable(tell.of(sentence), 500)}"))


@main.command()
@click.argument("folder", type=_PATH)
@_score_options
def listen(folder: Path, **given: Any) -> int:
    """Lay items out as a run and find their words and speech; measure nothing yet."""
    from fullduplex.stages import failures, score

    out = given["out"] or Path(f"{folder.resolve().name or 'scored'}.run")
    bar = _Bar()
    try:
        scored = score(folder, out, _asked(folder, given), cache=_cache(), engine=given["engine"], progress=bar)
    finally:
        bar.close()
    failed = failures(scored)
    if given["as_json"]:
        _shown_json({"run": str(out), "failed": failed})
    else:
        click.echo(f"heard: {out}" + (f"; {counted(len(failed), 'item')} failed, see errors.jsonl" if failed else ""))
    return SOME_FAILED if failed else 0


@main.command()
@click.argument("run", type=_PATH)
@click.option(
    "--as", "benchmark", default="", metavar="BENCH[@VARIANT]", help="Other rules than the run was asked for."
)
@click.option("--reference", type=_PATH, metavar="FILE", help="Backchannel reference distributions.")
@click.option("--clock", type=click.Choice(["playout", "arrival", "source"]),
              help="Place a driven run's audio by this clock, and hear and measure it so.")  # fmt: skip
@click.option("--priming", type=_Range(0, 10), default=0.0, metavar="SECONDS",
              help="With --clock playout: how long a player holds the first audio against jitter.")  # fmt: skip
@click.option("--fail-if", "gates", multiple=True, metavar="GATE", help="Exit 4 if it holds.")
@_report_language
@_json
def measure(
    run: Path,
    benchmark: str,
    reference: Path | None,
    clock: str | None,
    priming: float,
    gates: Sequence[str],
    report_language: str,
    as_json: bool,
) -> int:
    """Measure a run again, from what was heard; reads no audio. With --as, shows other rules and writes nothing.

    With --clock, a run that was driven is placed anew from its log: the copy lies in RUN/clocks, and the
    run's own report then shows the numbers under each clock side by side.
    """
    if clock is not None:
        return _under_clock(run, clock, priming, gates, as_json, language=report_language)
    return _again(run, benchmark, reference, gates, as_json, page=False, language=report_language)


@main.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--out", type=_PATH, help="The folder for the report of several runs together.")
@click.option("--page/--no-page", default=True, help="Write report.html too.")
@click.option(
    "--single-file",
    type=click.IntRange(min=0),
    metavar="N",
    help="Embed the sound of the first N items in report.html.",
)
@_report_language
@_json
def report(
    runs: tuple[Path, ...],
    out: Path | None,
    page: bool,
    single_file: int | None,
    report_language: str,
    as_json: bool,
) -> int:
    """Write a run's tables and page again; of several runs, those that show their systems together.

    Several runs need --out; each run's own report is written again too.
    """
    if len(runs) == 1 and out is None:
        embed = _first(single_file)
        return _again(runs[0], "", None, (), as_json, page=page, embed=embed, language=report_language)
    if out is None:
        raise click.UsageError("several runs need --out, the folder for their report")
    return _together(runs, out, as_json, page=page, embed=_first(single_file), language=report_language)


def _together(
    runs: Sequence[Path],
    out: Path,
    as_json: bool,
    *,
    page: bool,
    embed: Callable[[str, str], bool] | None,
    language: str,
) -> int:
    from fullduplex.publish import publish
    from fullduplex.stages import measure_together

    scored = measure_together(runs)
    out.mkdir(parents=True, exist_ok=True)
    bar = _Bar()
    try:
        tables = publish(scored, out, page=page, progress=bar, embed=embed, language=language).tables
    finally:
        bar.close()
    return _finish(scored, tables, out, (), {"as_json": as_json, "page": page, "report_language": language})


def _again(
    run: Path,
    benchmark: str,
    reference: Path | None,
    gates: Sequence[str],
    as_json: bool,
    *,
    page: bool,
    embed: Callable[[str, str], bool] | None = None,
    language: str = "",
) -> int:
    from fullduplex.publish import estimated, publish
    from fullduplex.stages import measure_again

    parsed = _gates(gates)
    bar = _Bar()
    try:
        scored = measure_again(run, benchmark, reference)
        if benchmark:
            # Other rules than the run was asked for are shown; what the run holds stays as it is.
            tables = estimated(scored)
        else:
            page = page or (run / "report.html").is_file()  # never an old page beside new tables
            tables = publish(scored, run, page=page, progress=bar, embed=embed, language=language).tables
    finally:
        bar.close()
    told = {"as_json": as_json, "page": page, "written": not benchmark, "report_language": language}
    return _finish(scored, tables, run, parsed, told)


def _under_clock(path: Path, clock: str, priming: float, gates: Sequence[str], as_json: bool, *, language: str) -> int:
    from fullduplex.clocks import under
    from fullduplex.conversations import write_clock
    from fullduplex.model.spans import seconds
    from fullduplex.publish import publish
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.runs.run import Run
    from fullduplex.stages import measure_again

    parsed = _gates(gates)
    bar = _Bar()
    try:
        scored = under(Run.open(path), clock, priming=seconds(priming), cache=_cache(), progress=bar)
        tables = write_clock(scored)
        there = (path / "report.html").is_file()
        again = measure_again(path)
        publish(again, path, page=there, progress=bar, language=language)
    finally:
        bar.close()
    # The copy under the clock has no report of its own: it is told in the language of the run's.
    told = language_of([one.run for one in again], language).code
    return _finish([scored], tables, path, parsed, {"as_json": as_json, "report_language": told})


def _gates(texts: Sequence[str]) -> list[Any]:
    from fullduplex.runs.gates import parse_gate

    try:
        return [parse_gate(text) for text in texts]
    except InputError as error:
        raise click.BadParameter(str(error)) from error


@main.command()
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@click.option("--only-common", is_flag=True, help="Compare what the runs share, and count what is set aside.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of every resampling.")
@click.option("--out", type=_PATH, help="A folder for compare.md and compare.json.")
@_shown_language
@_json
def compare(
    runs: Sequence[Path], only_common: bool, seed: int, out: Path | None, report_language: str, as_json: bool
) -> int:
    """Compare runs item by item with the first: effects, intervals, tests, and every flip with its audio."""
    from fullduplex.publish import run_values, write_comparison
    from fullduplex.reporting.compare import compare as compared
    from fullduplex.reporting.compare import markdown, to_json
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.stages import runs_at

    opened = [run for path in runs for run in runs_at(path)]
    if len({run.path.resolve() for run in opened}) < len(opened):
        raise InputError("compare", found="the same run twice", expected="different runs")
    names = [run.system for run in opened]
    unique = {(name if names.count(name) == 1 else str(run.path)): run for name, run in zip(names, opened, strict=True)}
    base = Path() if out is None else out
    found = compared({name: run_values(run, base) for name, run in unique.items()}, seed, only_common=only_common)
    tell = language_of(opened, report_language)
    if out is not None:
        write_comparison(found, out, tell)
    if as_json:
        _shown_json(to_json(found))
    else:
        click.echo(markdown(found, tell))
    return 0


@main.command()
@click.argument("run", type=_PATH)
@click.argument("item")
@_shown_language
@_json
def show(run: Path, item: str, report_language: str, as_json: bool) -> int:
    """Show one item of a run: both voices on one clock, its events, and each verdict with its reason.

    ITEM is SET/ID as the tables have it, or TASK/ID, ID or the folders that it lay in, where one item is called so.
    """
    from fullduplex.reporting import show as showing
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.runs.run import Run

    if as_json:
        from fullduplex.runs.naming import folder_named, rows_of_item
        from fullduplex.runs.stored import hearing_of, read_item

        opened = Run.open(run)
        found = rows_of_item(opened, read_item(folder_named(opened, item), hearing_of(opened)))
        rows = [{"variant": table["variant"], **row} for table, its in found for row in its]
        _shown_json(rows)
        return 0
    width = min(160, max(60, os.get_terminal_size().columns)) if sys.stdout.isatty() else 100
    click.echo(showing.show(run, item, width=width, tell=language_of([Run.open(run)], report_language)))
    return 0


@main.command()
@click.argument("folder", type=_PATH)
@_options(_layout_options)
@click.option("--reference", type=_PATH, metavar="FILE", help="Backchannel reference distributions.")
@_json
def check(
    folder: Path,
    task: str | None,
    channels: Any,
    offset: float,
    layout: str | None,
    reference: Path | None,
    as_json: bool,
) -> int:
    """Say what a folder holds, what is missing, what is odd, and what can be scored."""
    from fullduplex.data.check import as_text
    from fullduplex.data.check import check as checked
    from fullduplex.data.dataset import open_dataset
    from fullduplex.data.fdb_folder import read_reference
    from fullduplex.model.spans import seconds
    from fullduplex.runs.stimulus import unreadable

    data = open_dataset(folder, task=task, channels=channels, offset=seconds(offset), layout=layout)
    known = frozenset(read_reference(reference)) if reference else frozenset[str]()
    found = checked(data, reference=known, more=unreadable(data.entries))
    if as_json:
        _shown_json(found.to_json())
    else:
        click.echo(as_text(found))
    return SOME_FAILED if found.of("error") else 0


@main.command("list")
@click.argument("family", default="")
@_json
def list_(family: str, as_json: bool) -> int:
    """List plug-ins: detectors, recognisers, voices, systems, benchmarks, engines."""
    from fullduplex import plugins
    from fullduplex.reporting.listing import list_text

    if family and family not in plugins.FAMILIES:
        raise click.BadParameter(f"expected one of {', '.join(plugins.FAMILIES)}", param_hint="FAMILY")
    if as_json:
        wanted = [family] if family else plugins.FAMILIES
        _shown_json(
            [{"family": p.family, "name": p.name, "package": p.package} for f in wanted for p in plugins.members(f)]
        )
        return 0
    click.echo(list_text(family))
    if family == "systems":
        from fullduplex.systems.catalogue_table import catalogue_text

        click.echo(catalogue_text())
    return 0


@main.command()
@click.argument("run", type=_PATH)
@click.option("--to", "kind", required=True, type=click.Choice(["csv", "audacity", "textgrid", "rttm", "junit"]))
@click.option("--out", type=_PATH, help="Where to write. Default: RUN/exports/KIND")
@_json
def export(run: Path, kind: str, out: Path | None, as_json: bool) -> int:
    """Write a run for another program: CSV, Audacity labels, Praat TextGrid, RTTM, JUnit."""
    from fullduplex.runs.export import export as exported

    made = exported(run, kind, out)
    if as_json:
        _shown_json([str(path) for path in made])
    else:
        click.echo(f"wrote {counted(len(made), 'file')}" + (f", the first {made[0]}" if made else ""))
    return 0


@main.command()
@click.argument("first", type=float)
@click.argument("second", type=float)
@click.option(
    "--sd", type=float, help="Plan for two means with this standard deviation of differences, in the same unit."
)
@click.option("--power", default=0.8, show_default=True, help="The chance of telling them apart.")
@click.option("--alpha", default=0.05, show_default=True, help="The chance of a false alarm.")
@click.option(
    "--correlation", type=float, help="How verdicts on the same item go together, for pairs. Default: not at all."
)
@_json
def plan(
    first: float, second: float, sd: float | None, power: float, alpha: float, correlation: float | None, as_json: bool
) -> int:
    """How many items tell FIRST from SECOND: two rates, or with --sd two means."""
    from fullduplex.measures.statistics import items_needed, items_needed_for_mean

    if sd is not None:
        found = {
            "items_for_each_system": items_needed_for_mean(second - first, sd, power, alpha, paired=False),
            "pairs": items_needed_for_mean(second - first, sd, power, alpha, paired=True),
        }
    else:
        found = {
            "items_for_each_system": items_needed(first, second, power, alpha),
            "pairs": items_needed(first, second, power, alpha, paired=True, correlation=correlation),
        }
    if as_json:
        _shown_json({"first": first, "second": second, "power": power, "alpha": alpha, **found})
        return 0
    told = f"standard deviation {sd:g}" if sd is not None else f"correlation within an item {correlation or 0:g}"
    click.echo(f"To tell {first:g} from {second:g} with power {power:g} at alpha {alpha:g}, two-sided:")
    click.echo(f"  {found['items_for_each_system']} items for each system, if their items differ")
    click.echo(
        f"  {found['pairs']} items, if both systems answer the same ones ({told}; --correlation or --sd says other)"
    )
    return 0


@main.command()
@click.option("--out", type=_PATH, default=Path("demo"), show_default=True, help="Where the demo's files go.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Seed of the demo's rooms and resampling.")  # fmt: skip
@_engine
@_json
def demo(out: Path, seed: int, engine: str, as_json: bool) -> int:
    """Show everything, offline: items spoken by embedded voices, four systems driven, scored and heard."""
    from fullduplex.demo import run_demo

    bar = _Bar()
    try:
        scored, published = run_demo(out, seed=seed, cache=_cache(), engine=engine, progress=bar)
    finally:
        bar.close()
    shown = (next(iter(published.tables[0])), "anchored")
    status = _finish(scored, published.tables, out / "runs", (), {"as_json": as_json, "page": True, "shown": shown})
    if not as_json and published.comparison is not None:
        flips = sum(len(d.changes) for d in published.comparison.differences)
        click.echo(f"{flips} verdicts and latencies differ between systems: {out / 'runs' / 'compare.md'}")
    return status


# Commands that hold talks and make items; they add themselves to the root.
from fullduplex.cli import baseline as _baseline  # noqa: E402, F401
from fullduplex.cli import harvest as _harvest  # noqa: E402, F401
from fullduplex.cli import interactions as _interactions  # noqa: E402, F401
from fullduplex.cli import judging as _judging  # noqa: E402, F401
from fullduplex.cli import listeners as _listeners  # noqa: E402, F401
from fullduplex.cli import making as _making  # noqa: E402, F401
from fullduplex.cli import models as _models  # noqa: E402, F401
from fullduplex.cli import overlaps as _overlaps  # noqa: E402, F401
from fullduplex.cli import review as _review  # noqa: E402, F401
from fullduplex.cli import talks as _talks  # noqa: E402, F401
