"""The commands about verdicts: judge, agree, amend, sensitivity."""

from __future__ import annotations

import html
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullduplex.cli import (
    _PATH,
    SOME_FAILED,
    _Bar,
    _cache,
    _engine,
    _family,
    _finish,
    _json,
    _Range,
    _say,
    _shown_json,
    _shown_language,
    main,
)
from fullduplex.cli.keys import named_keys
from fullduplex.errors import InputError, JudgeError, RunError, printable

if TYPE_CHECKING:
    from fullduplex.judging.rubric import Labels, Scale
    from fullduplex.measures.metric import Metric
    from fullduplex.model.trials import Trial


def _keys(env_file: Path | None) -> dict[str, str]:
    """Return the keys of hosted judges, from the environment, else from a file of NAME=value lines."""
    from fullduplex.judging.providers import KEY_NAMES

    return named_keys(KEY_NAMES, env_file)


def _rubrics(texts: Sequence[str], reads: str | None) -> dict[str, Any]:
    """Return the rubrics that ``[VERDICT=]NAME or FILE`` stand for, by verdict."""
    from fullduplex.judging.rubric_file import load, load_file, names

    made = {}
    for text in texts:
        verdict, equals, which = text.partition("=")
        if not equals:
            verdict, which = "", text
        rubric = load(which) if which in names() else load_file(Path(which), reads)  # type: ignore[arg-type]
        made[verdict or rubric.verdict] = rubric
    return made


@main.command()
@click.argument("run", type=_PATH)
@click.option(
    "--judge",
    "judge_spec",
    required=True,
    metavar="SPEC",
    shell_complete=_family("judges"),
    help="Who judges: NAME or NAME:option=value,… ; `embedding` works offline, and is weak.",
)
@click.option(
    "--rubric",
    "rubrics",
    multiple=True,
    metavar="[VERDICT=]NAME|FILE",
    help="A rubric in place of the benchmark's: one that ships, your own, or a released prompt of your copy.",
)
@click.option(
    "--reads",
    type=click.Choice(["released-rating", "released-behaviour"]),
    help="How answers to a released prompt are read.",
)
@click.option("--as", "variant", default="", metavar="VARIANT", help="Whose questions. Default: the leading variant's.")
@click.option(
    "--votes", type=click.IntRange(1, 99), default=1, show_default=True, help="Votes an item; the majority counts."
)
@click.option(
    "--attempts",
    type=click.IntRange(1, 20),
    default=5,
    show_default=True,
    help="Requests a vote at most: a reply that cannot be read is asked for again.",
)
@click.option("--concurrency", type=click.IntRange(1, 256), default=8, show_default=True, help="Requests at once.")
@click.option("--per-minute", type=_Range(0, min_open=True), metavar="N", help="Requests a minute at most.")
@click.option("--tokens-per-minute", type=_Range(0, min_open=True), metavar="N", help="Tokens a minute at most.")
@click.option("--max-cost", type=_Range(0, min_open=True), metavar="USD", help="Stop before so much is spent.")
@click.option("--beside", is_flag=True, help="Keep whose word counts; judge for `agree` alone.")
@click.option(
    "--env-file",
    type=_PATH,
    metavar="FILE",
    help="NAME=value lines with keys that are not in the environment. Default: .env here.",
)
@click.option("--hear", "hears", is_flag=True, help="Send the system's recording along, for a judge that hears.")
@click.option(
    "--batch",
    is_flag=True,
    help="Submit everything as one batch of the provider's, or collect the one that was submitted: cheaper, slower.",
)
@click.option("--dry-run", is_flag=True, help="Say how much would be asked and what it would cost; ask nothing.")
@_json
def judge(
    run: Path,
    judge_spec: str,
    rubrics: Sequence[str],
    reads: str | None,
    env_file: Path | None,
    dry_run: bool,
    as_json: bool,
    beside: bool,
    batch: bool,
    **given: Any,
) -> int:
    """Have a judge say what the benchmark has judged, then measure the run again.

    Keys come from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY) or --env-file; none is
    written. Every request and raw reply is kept in the item's judge.json, and nothing is asked twice.
    """
    from fullduplex.judged import Judging, judge_batch, judge_run, ready
    from fullduplex.model.spec import Spec
    from fullduplex.publish import publish
    from fullduplex.stages import measure_again, runs_at

    try:
        spec = Spec.parse(judge_spec)
    except ValueError as error:
        raise InputError("--judge", found=judge_spec, expected="NAME or NAME:option=value,option=value") from error
    asked = Judging(spec, _keys(env_file), _rubrics(rubrics, reads), leads=not beside, **given)
    opened = runs_at(run)
    if dry_run:
        return _planned([ready(one, asked, cache=_cache()) for one in opened], as_json)
    bar, told = _Bar(), []
    lacking = waiting = 0
    for one in opened:
        count = sum(1 for _ in one.items())
        with one.alone():
            try:
                if batch:
                    collected = judge_batch(one, asked, cache=_cache())
                    if collected is None:
                        _say(f"{one.system}: the batch is under way; the same command collects it")
                        waiting += 1
                        continue
                    outcome = collected
                else:
                    outcome = judge_run(one, asked, cache=_cache(), progress=partial(_judging, bar, count))
            finally:
                bar.close()
        told.append({"system": one.system, **_outcome(outcome)})
        lacking += sum(outcome.bill.absent.values())
        _say(f"{one.system}: {outcome.bill.told()}")
        for reason, n in outcome.passed_over.most_common():
            _say(f"{one.system}: {n} not asked about: {reason}")
        for sentence in filter(None, (*outcome.remarks, outcome.given_up)):
            _say(f"{one.system}: {sentence}")
    if waiting:
        if as_json:
            _shown_json({"waiting": waiting, "runs": told})
        return 0
    if told and not any(one["bill"]["verdicts"] for one in told):
        raise JudgeError(f"{run}: nothing could be judged: {_why_nothing(told)}")
    scored = measure_again(run)
    try:
        tables = publish(scored, run, page=(run / "report.html").is_file(), progress=bar).tables
    finally:
        bar.close()
    if as_json:
        _shown_json(told)
        return SOME_FAILED if lacking else 0
    status = _finish(scored, tables, run, (), {"as_json": False})
    return SOME_FAILED if lacking else status


def _judging(bar: _Bar, of: int, done: int, bill: Any) -> None:
    bar("judge", done, max(done, of))


def _outcome(outcome: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {"bill": asdict(outcome.bill), "not_asked": dict(outcome.passed_over), "remarks": list(outcome.remarks)}


def _why_nothing(told: Sequence[Any]) -> str:
    """Return why no question was asked, the commonest reason first."""
    reasons: Counter[str] = sum((Counter(one["not_asked"]) for one in told), Counter())
    return ", ".join(f"{n} × {reason}" for reason, n in reasons.most_common()) or "the run has no item to judge"


def _planned(prepared: Sequence[Any], as_json: bool) -> int:
    from dataclasses import asdict

    plans = []
    for one in prepared:
        found = one.session.planned(one.cases(), cost_of=getattr(one.judge, "cost", None))
        plans.append({"system": one.run.system, **asdict(found), "not_asked": dict(one.passed_over)})
        if not as_json:
            click.echo(f"{one.run.system}: {found.told()}")
        one.judge.close()
    if as_json:
        _shown_json(plans)
    return 0


@main.command()
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of every resampling.")
@_shown_language
@_json
def agree(runs: Sequence[Path], seed: int, report_language: str, as_json: bool) -> int:
    """How far people agree among themselves, and judges with people and with each other.

    Percent agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha, accuracy and macro-F1 with intervals, how
    stable a judge's votes are, and which metrics go with what people rated. Every report of the run prints what
    a judge is worth beside the judged numbers from then on. Give both runs of a pair that people compared.

    Of the folder of a review of items (`fullduplex review ITEMS --out`): how valid and how natural people found them,
    by action and condition, kept there as validity.md, .csv and .json.
    """
    from fullduplex.agreeing import agree as agreed
    from fullduplex.reporting.agreement import agreement_text
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.reporting.review.items import is_review
    from fullduplex.stages import runs_at

    if any(map(is_review, runs)):
        return _agree_on_items(runs, seed, report_language, as_json)
    opened = [run for path in runs for run in runs_at(path)]
    tell = language_of(opened, report_language)
    told = []
    for one in opened:
        with one.alone():
            found, remarks = agreed(one, others=[run for run in opened if run is not one], seed=seed)
        for remark in remarks:
            _say(remark)
        told.append({"system": one.system, **found})
        if not as_json:
            click.echo(agreement_text(one.system, found, tell))
    if as_json:
        _shown_json(told[0] if len(told) == 1 else told)
    return 0


def _agree_on_items(folders: Sequence[Path], seed: int, language: str, as_json: bool) -> int:
    """Tell how valid people found the items of a review, and keep the tables in its folder."""
    from fullduplex.data.files import replacing
    from fullduplex.reporting.language import language_named
    from fullduplex.reporting.review.items import ItemReview
    from fullduplex.reporting.review.validated import validated
    from fullduplex.reporting.validity import validity_csv, validity_markdown, validity_text

    if len(folders) > 1:
        raise RunError(f"reviews of items are not added up, and {len(folders)} were given; give one")
    review = ItemReview.open(folders[0])
    tell = language_named(language or review.language)
    told, remarks = validated(review, seed=seed)
    for remark in remarks:
        _say(remark)
    for name, text in (("validity.md", validity_markdown(told, remarks, tell)), ("validity.csv", validity_csv(told))):
        with replacing(review.path / name) as part:
            part.write_text(text, encoding="utf-8", errors="replace")
    if as_json:
        _shown_json(told)
    else:
        click.echo(validity_text(told, tell))
        click.echo(f"wrote {review.path / 'validity.md'}, .csv and .json")
    return 0


@main.command()
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@click.option("--as", "variant", default="", metavar="VARIANT", help="Whose numbers. Default: the leading variant's.")
@click.option(
    "--detector",
    "detectors",
    multiple=True,
    metavar="SPEC",
    shell_complete=_family("detectors"),
    help="Also hear the recordings with this one; may be repeated.",
)
@click.option(
    "--recogniser",
    "recognisers",
    multiple=True,
    metavar="SPEC",
    shell_complete=_family("recognisers"),
    help="Also recognise all words with this one; may be repeated.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of every resampling.")
@click.option("--out", type=_PATH, help="A folder for sensitivity.md and .json. Default: the run, where there is one.")
@_engine
@_shown_language
@_json
def sensitivity(
    runs: Sequence[Path],
    variant: str,
    detectors: Sequence[str],
    recognisers: Sequence[str],
    seed: int,
    out: Path | None,
    engine: str,
    report_language: str,
    as_json: bool,
) -> int:
    """How far each number rests on rules, thresholds, detectors, recognisers, judges and clocks.

    Stored facts are scored again under each choice alone. Of several runs it also says whether the order of systems
    changes (Kendall's tau), and how often the order would hold on other items (win probability).
    """
    from fullduplex.data.files import replacing, write_json
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.reporting.sensitivity import sensitivity_markdown, sensitivity_terminal
    from fullduplex.sensitivity import sensitivity as found_under
    from fullduplex.sensitivity import to_json
    from fullduplex.stages import runs_at

    opened = [run for path in runs for run in runs_at(path)]
    bar = _Bar()
    try:
        found = found_under(
            opened,
            detectors=detectors,
            recognisers=recognisers,
            variant=variant,
            cache=_cache(),
            seed=seed,
            engine=engine,
            progress=bar,
        )
    finally:
        bar.close()
    place = out or (opened[0].path if len(opened) == 1 else None)
    told, tell = to_json(found), language_of(opened, report_language)
    text = sensitivity_markdown(told, tell)
    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
        write_json(place / "sensitivity.json", told)
        with replacing(place / "sensitivity.md") as part:
            part.write_text(text, encoding="utf-8", errors="backslashreplace")
    if as_json:
        _shown_json(told)
    elif sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(sensitivity_terminal(told, tell))
    else:
        click.echo(html.unescape(text))
    return SOME_FAILED if found.remarks else 0


@main.command()
@click.argument("run", type=_PATH)
@click.argument("item", required=False)
@click.argument("what", required=False)
@click.argument("value", required=False)
@click.option("--who", default="", help="Who corrects.")
@click.option("--why", default="", help="Why.")
@click.option("--undo", is_flag=True, help="Take the correction of this back; give no VALUE.")
@click.option("--list", "listed", is_flag=True, help="Show every correction of the run.")
@_json
def amend(
    run: Path,
    item: str | None,
    what: str | None,
    value: str | None,
    who: str,
    why: str,
    undo: bool,
    listed: bool,
    as_json: bool,
) -> int:
    """Correct a verdict or a metric of one item by hand; signed, reasoned, and listed in every report.

    ITEM is SET/ID as the tables have it, or another name that one item alone has (TASK/ID, ID), WHAT a verdict
    (rating, probe:2) or a metric, VALUE a number, a label, or `absent`.
    `fullduplex measure RUN` applies it; recordings and judges' replies stay as they are.
    """
    from fullduplex.runs.amendments import Amendment, every_amendment
    from fullduplex.runs.amendments import amend as write
    from fullduplex.runs.run import Run

    opened = Run.open(run)
    if listed or item is None:
        made = every_amendment(opened)
        if as_json:
            _shown_json([{name: getattr(one, name) for name in one.__slots__} for one in made])
        else:
            click.echo("\n".join(printable(one.told(), 2_000) for one in made) or "no correction")
        return 0
    if what is None or (value is None) != undo:
        raise click.UsageError("expected RUN ITEM WHAT VALUE, or RUN ITEM WHAT --undo")
    set_name, name, what, old, answer = _standing(opened, item, what)
    new = None if value is None else _value(value, answer)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    correction = Amendment(who, when, why, set_name, name, what, old, new)
    with opened.alone():
        write(opened, correction)
    if as_json:
        _shown_json({field: getattr(correction, field) for field in correction.__slots__})
    else:
        click.echo(f"{printable(correction.told(), 2_000)}\n`fullduplex measure {run}` applies it")
    return 0


def _standing(run: Any, item: str, what: str) -> tuple[str, str, str, float | str | None, Scale | Labels | None]:
    """Return the item's set and name, what it is that is corrected, what stands there now, and what may; None: any.

    ``what`` may be written as the tables have it: ``Follow-Through`` and ``follow_through`` are ``follow-through``.
    """
    from fullduplex import benchmarks
    from fullduplex.judging.rubric_file import load
    from fullduplex.runs.items import read_item, trial_or_failure
    from fullduplex.runs.judges import judges_of, with_verdicts
    from fullduplex.runs.measured import counting, scenario_of
    from fullduplex.runs.naming import folder_named, rows_of_item
    from fullduplex.runs.stored import read_item as stored_item

    folder = folder_named(run, item)
    value = read_item(folder)
    about = run.about["benchmark"]
    # The leading variant first: its verdict is the one that is told.
    chosen = [b for v in about["variants"] for b in benchmarks.find(f"{about['name']}@all") if b.variant == v]
    own = {b.variant: scenario for b in chosen if (scenario := scenario_of(b, value)) is not None}
    asks = {one.verdict: one.rubric for b in chosen for s in b.scenarios for one in s.asks}
    metrics = {m.name: m for scenario in own.values() for m in scenario.metrics}
    judges = judges_of(run)
    trials = {
        b.variant: with_verdicts(trial_or_failure(folder, b.hearing.name), folder, judges)
        for b in chosen
        if b.variant in own
    }
    can = dict.fromkeys(
        name
        for variant, scenario in own.items()
        for one in scenario.asks
        for name in one.verdicts(trials[variant])
    )  # fmt: skip
    what = _called(what, asks, metrics)
    name, _, _ = what.partition(":")
    if name in asks:
        if what not in can:
            its = [each for each in can if each.partition(":")[0] == name]
            expected = f"one of {', '.join(its)}" if its else f"an item of which {name} is asked"
            raise InputError(run.path, "what", found=what, expected=expected)
        variant, scenario = next(iter(own.items()))
        old = _verdict_now(trials[variant], what, counting(scenario, trials[variant], what))
        return value["set"], value["id"], what, old, load(asks[name]).answer
    variant, slash, metric = what.rpartition("/")
    # Scenarios share names of metrics that are made of different things.
    if slash:
        metrics = {m.name: m for m in (own[variant].metrics if variant in own else ())}
    if metric not in metrics:
        raise InputError(run.path, "what", found=what, expected=_correctable(can, metrics.values()))
    if metrics[metric].judged:
        raise InputError(
            run.path, "what", found=what, expected=f"the verdict {metrics[metric].judged}, which this number is made of"
        )
    for table, rows in rows_of_item(run, stored_item(folder)):
        for row in rows:
            its_own = row["item"] == value["id"] and row["metric"] == metric
            if its_own and (not slash or table["variant"] == variant):
                return value["set"], value["id"], what, row["value"], None
    return value["set"], value["id"], what, None, None


def _called(what: str, verdicts: Iterable[str], metrics: Iterable[str]) -> str:
    """Return the verdict or metric that ``what`` means by another spelling; ``what`` itself where it is none."""

    def plain(text: str) -> str:
        return text.casefold().replace("_", "-").replace(" ", "-")

    name, colon, key = what.partition(":")
    exact = {*verdicts, *(metric for metric in metrics if plain(metric) not in set(map(plain, verdicts)))}
    if name in exact or what in exact:
        return what
    means = {plain(each): each for each in sorted(exact)}.get(plain(name))
    return f"{means}{colon}{key}" if means else what


def _verdict_now(trial: Trial, what: str, counted: Sequence[str]) -> float | str | None:
    """Return the verdict that stands, None where there is none.

    On single replies (``NAME:@ONSET-END``) it is the one that something measured rests on; where that is not known,
    all of them with their times.
    """
    from fullduplex.model.trials import Verdict

    on_replies = sorted(name for name in trial.verdicts if name.startswith(f"{what}:@"))
    which = counted or ([what] if what in trial.verdicts else on_replies)
    said = {name: trial.verdicts[name] for name in which}
    values = {name.partition("@")[2]: one.value for name, one in said.items() if isinstance(one, Verdict)}
    if len(set(values.values())) < 2:
        return next(iter(values.values()), None)
    return ", ".join(f"{value} ({when})" for when, value in values.items())


def _correctable(verdicts: Iterable[str], metrics: Iterable[Metric]) -> str:
    """Return what of an item can be corrected, for the sentence that refuses anything else."""
    verdicts, metrics = list(verdicts), list(metrics)
    known = ", ".join(sorted(one.name for one in metrics if not one.family and not one.judged))
    made = ", ".join(sorted(f"{one.name} of {one.judged}" for one in metrics if one.judged and not one.family))
    can = f"a verdict ({', '.join(verdicts)})" if verdicts else ""
    told = " or ".join(filter(None, (can, f"one of {known}" if known else ""))) or "an item with something to correct"
    return told + (f"; made of a verdict: {made}" if made else "")


def _value(text: str, answer: Scale | Labels | None) -> float | str:
    from fullduplex.judging.rubric import Labels

    labels = answer.names if isinstance(answer, Labels) else ()
    if text == "absent" or text in labels:
        return text
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    low, high = (-1e15, 1e15) if answer is None or isinstance(answer, Labels) else (answer.low, answer.high)
    if labels or not low <= number <= high:
        what = ", ".join(labels) or ("a number" if answer is None else f"a number from {low} to {high}")
        raise InputError("amend", "value", found=text, expected=f"{what}, or absent")
    return number
